/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits made from settings and rings: every program rests by these. */
#include <errno.h>
#include <string.h>

#include <lull/rest.h>

#include "case.h"
#include "program/resting.h"
#include "program/ring.h"

#define TEN_GBE 14880952

static const struct lull_resting settings = {
	.max_latency_ns = 100 * LULL_NS_PER_US,
	.percentile = 99.9,
	.loss = LULL_LOSS_TOLERATE,
	.max_rest_ns = LULL_NS_PER_MS,
	.rest_ns = 50 * LULL_NS_PER_US,
	.pps_max.automatic = true,
	.kalman = { .step_ns = 10 * LULL_NS_PER_US },
	.kalman_tolerance = 2.5,
	.kalman_layout = LULL_RECORD_ARRAY,
};
static const struct lull_ring_facts nic = {
	.count = 1,
	.ring_pkts = 512,
	.held_pkts = 32,
	.link_pps = TEN_GBE,
	.hardware_pps = TEN_GBE,
};

TEST(limits__are_those_of_settings_and_rings)
{
	struct lull_idle_limits limits = lull_resting_limits(&settings, &nic);

	assert_int_equal(lull_idle_config_check(&limits, NULL), 0);
	assert_int_equal(limits.latency_ns, 100 * LULL_NS_PER_US);
	assert_int_equal(limits.percentile_ppm, 999000);
	assert_int_equal(limits.loss, LULL_LOSS_TOLERATE);
	assert_int_equal(limits.rest_ns_max, LULL_NS_PER_MS);
	assert_int_equal(limits.rest_ns, 50 * LULL_NS_PER_US);
	assert_int_equal(limits.ring_pkts, 512);
	assert_int_equal(limits.held_pkts, 32);
	assert_int_equal(limits.envelope, LULL_ENVELOPE_LINK);
	assert_int_equal(limits.pps_max, TEN_GBE);
	assert_int_equal(limits.kalman.step_ns, 10 * LULL_NS_PER_US);
	assert_int_equal(limits.kalman.tolerance_ppm, 25000);
	assert_int_equal(limits.kalman.layout, LULL_RECORD_ARRAY);
	limits = lull_resting_limits(&settings, NULL);
	assert_int_equal(limits.ring_pkts, 0);
	assert_int_equal(limits.held_pkts, 0);
	assert_int_equal(limits.envelope, LULL_ENVELOPE_LEARNED);
}

/* A ring stated smaller than what its driver keeps empty must not be taken for all free. */
TEST(limits__a_small_ring_keeps_what_is_held)
{
	struct lull_ring_facts rings = nic;
	struct lull_idle_limits limits;

	rings.ring_pkts = 16;
	limits = lull_resting_limits(&settings, &rings);
	assert_int_equal(limits.ring_pkts, 16);
	assert_int_equal(limits.held_pkts, 15);
	assert_int_equal(lull_idle_config_check(&limits, NULL), 0);
	rings.ring_pkts = rings.held_pkts;
	assert_int_equal(lull_resting_limits(&settings, &rings).held_pkts, 31);
	rings.ring_pkts = 0;
	assert_int_equal(lull_resting_limits(&settings, &rings).held_pkts, 0);
}

/* auto goes by hardware alone; link by what any link tells. */
TEST(limits__auto_asks_for_hardware)
{
	struct lull_ring_facts rings = nic;
	struct lull_resting said = settings;
	struct lull_idle_limits limits;

	rings.hardware_pps = 0;
	limits = lull_resting_limits(&said, &rings);
	assert_int_equal(limits.envelope, LULL_ENVELOPE_LEARNED);
	said.pps_max = (struct lull_pps_max){ .envelope = LULL_ENVELOPE_LINK };
	limits = lull_resting_limits(&said, &rings);
	assert_int_equal(limits.envelope, LULL_ENVELOPE_LINK);
	assert_int_equal(limits.pps_max, TEN_GBE);
	said.pps_max = (struct lull_pps_max){ .envelope = LULL_ENVELOPE_STATED, .pps = 1000 };
	limits = lull_resting_limits(&said, &rings);
	assert_int_equal(limits.envelope, LULL_ENVELOPE_STATED);
	assert_int_equal(limits.pps_max, 1000);
}

/* What is typed, what is held, and what is shown again. */
TEST(cpu_latency__words_and_times)
{
	static const struct {
		const char *typed, *shown;
		uint64_t ns;
	} rows[] = {
		{ "auto", "auto", LULL_CPU_LATENCY_AUTO },
		{ "off", "off", 0 },
		{ "10", "10us", 10 * LULL_NS_PER_US },
		{ "1us", "1us", LULL_NS_PER_US },
		{ "1s", "1s", LULL_NS_PER_S },
		{ "2ms", "2ms", 2 * LULL_NS_PER_MS },
	};
	static const char *const wrong[] = {
		"", "0", "on", "999ns", "1001ms", "-1", "10 C6", "n/a"
	};
	uint64_t value = 0, before;
	struct lull_error error;
	char text[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(lull_cpu_latency_parse(rows[i].typed, &value, &error), 0);
		assert_true(value == rows[i].ns);
		assert_string_equal(lull_cpu_latency_print(&value, text, sizeof(text)),
				    rows[i].shown);
	}
	before = value;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(lull_cpu_latency_parse(wrong[i], &value, &error), -EINVAL);
		assert_true(value == before);
		assert_non_null(strstr(error.text, "neither auto, off nor a time in 1us..1s"));
	}
}

TEST(ring_size__is_auto_or_a_number_in_range)
{
	struct lull_ring_size ring = { .pkts = 7 };
	struct lull_error error;
	char text[16];

	assert_int_equal(lull_ring_size_parse("auto", &ring, &error), 0);
	assert_true(ring.automatic);
	assert_int_equal(ring.pkts, LULL_RING_USUAL);
	assert_string_equal(lull_ring_size_print(&ring, text, sizeof(text)), "auto");
	assert_int_equal(lull_ring_size_parse("2k", &ring, &error), 0);
	assert_false(ring.automatic);
	assert_int_equal(ring.pkts, 2000);
	assert_string_equal(lull_ring_size_print(&ring, text, sizeof(text)), "2000");
	for (int i = 0; i < 5; i++) {
		static const char *const bad[] = { "31", "32769", "", "automatic", "-1" };

		assert_int_equal(lull_ring_size_parse(bad[i], &ring, &error), -EINVAL);
		assert_non_null(strstr(error.text, "is neither auto nor descriptors in 32..32768"));
	}
	assert_int_equal(ring.pkts, 2000); /* no change */
}
