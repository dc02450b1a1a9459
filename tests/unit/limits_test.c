/* SPDX-License-Identifier: BSD-3-Clause */
/* Each limit at its ends: what is refused, and what is just not. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "case.h"
#include "idle/limits.h"

#define MEMBER(name)                                                                               \
	offsetof(struct lull_idle_limits, name), sizeof(((struct lull_idle_limits *)0)->name)

static const struct {
	const char *field;
	size_t offset, size;
	uint64_t low, high;
} ends[] = {
	{ "latency_ns", MEMBER(latency_ns), 1000, 1000000000 },
	{ "percentile_ppm", MEMBER(percentile_ppm), 500000, 999999 },
	{ "loss", MEMBER(loss), 0, LULL_LOSS_TOLERATE },
	{ "rest_ns_max", MEMBER(rest_ns_max), 1, 1000000000 },
	{ "rest_ns", MEMBER(rest_ns), 1, 1000000000 },
	{ "ring_pkts", MEMBER(ring_pkts), 1, 1048576 },
	{ "envelope", MEMBER(envelope), 0, LULL_ENVELOPE_STATED },
	{ "burst_pkts", MEMBER(burst_pkts), 1, 65535 },
	{ "kalman.step_ns", MEMBER(kalman.step_ns), 1, 10000000 },
	{ "kalman.window_ns", MEMBER(kalman.window_ns), 1000, 1000000000 },
	{ "kalman.tolerance_ppm", MEMBER(kalman.tolerance_ppm), 1, 500000 },
	{ "kalman.row_bytes", MEMBER(kalman.row_bytes), 1, 1437 },
	{ "kalman.layout", MEMBER(kalman.layout), 0, LULL_RECORD_SEGMENTS },
	{ "held_pkts", MEMBER(held_pkts), 0, 511 },
	{ "pps_max", MEMBER(pps_max), 1, 1000000000000ULL },
	{ "idle_states", MEMBER(idle_states), 1, (1u << LULL_IDLE_STATE_COUNT) - 1 },
};

static struct lull_idle_limits
limits_with(size_t at, uint64_t value)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_STATED, .pps_max = 1000 };
	unsigned char *member = (unsigned char *)&limits + ends[at].offset;

	memcpy(member, &value,
	       ends[at].size); /* little-endian, as all that DPDK is built for here */
	return limits;
}

TEST(check__each_limit_at_its_ends)
{
	for (size_t i = 0; i < COUNT(ends); i++) {
		struct lull_idle_limits limits = limits_with(i, ends[i].high);
		struct lull_range wrong = { 0 };

		assert_int_equal(lull_idle_config_check(&limits, &wrong), 0);
		limits = limits_with(i, ends[i].high + 1);
		assert_int_equal(lull_idle_config_check(&limits, &wrong), -EINVAL);
		assert_string_equal(wrong.field, ends[i].field);
		assert_int_equal(wrong.value, ends[i].high + 1);
		if (ends[i].low > 0) {
			limits = limits_with(i, ends[i].low);
			assert_int_equal(lull_idle_config_check(&limits, &wrong), 0);
		}
		if (ends[i].low > 1) {
			limits = limits_with(i, ends[i].low - 1);
			assert_int_equal(lull_idle_config_check(&limits, &wrong), -EINVAL);
			assert_string_equal(wrong.field, ends[i].field);
			assert_int_equal(wrong.low, ends[i].low);
			assert_int_equal(wrong.high, ends[i].high);
		}
	}
}

/* A rate that is promised has to be named; one that is learned has not. */
TEST(check__a_stated_rate_is_needed_only_where_it_is_a_promise)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_STATED };
	struct lull_range wrong = { 0 };

	assert_int_equal(lull_idle_config_check(&limits, &wrong), -EINVAL);
	assert_string_equal(wrong.field, "pps_max");
	limits.envelope = LULL_ENVELOPE_LEARNED;
	assert_int_equal(lull_idle_config_check(&limits, NULL), 0);
	limits.pps_max = UINT64_MAX;
	assert_int_equal(lull_idle_config_check(&limits, NULL), 0);
}

TEST(default__fills_in_what_is_0_and_no_more)
{
	struct lull_idle_limits limits = { 0 };

	lull_limits_default(&limits);
	assert_int_equal(limits.latency_ns, 200000);
	assert_int_equal(limits.percentile_ppm, 990000);
	assert_int_equal(limits.rest_ns_max, 1000000);
	assert_int_equal(limits.rest_ns, 50000);
	assert_int_equal(limits.ring_pkts, 512);
	assert_int_equal(limits.burst_pkts, 32);
	assert_int_equal(limits.idle_states, LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) |
						     LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP));
	assert_int_equal(limits.kalman.step_ns, 10000);
	assert_int_equal(limits.kalman.window_ns, 10000000);
	assert_int_equal(limits.kalman.tolerance_ppm, 10000);
	assert_int_equal(limits.kalman.row_bytes, 10);
	for (size_t i = 0; i < COUNT(ends); i++) {
		uint64_t value = 0;

		limits = limits_with(i, 7 < ends[i].high ? 7 : ends[i].high);
		lull_limits_default(&limits);
		memcpy(&value, (unsigned char *)&limits + ends[i].offset, ends[i].size);
		assert_int_equal(value, 7 < ends[i].high ? 7 : ends[i].high);
	}
}
