/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "lull-channel-perf/pattern.h"
#include "lull-channel-perf/plan.h"
#include "case.h"

static uint8_t bytes[PERF_CONTROL_BYTES];

TEST(perf_plan_read__reads_what_was_written)
{
	struct perf_plan plan, read;
	struct perf_report report;
	struct perf_answer answer;
	uint32_t len;

	for (size_t i = 0; i < sizeof(plan) / 8; i++)
		((uint64_t *)(void *)&plan)[i] = 0x0102030405060708ULL * (i + 1);
	len = perf_plan_write(bytes, &plan);
	assert_true(len <= sizeof(bytes));
	assert_int_equal(perf_plan_read(bytes, len, &read), 0);
	assert_memory_equal(&read, &plan, sizeof(plan));
	assert_int_equal(perf_plan_read(bytes, len - 1, &read), -EPROTO);
	assert_int_equal(perf_plan_read(bytes, 0, &read), -EPROTO);
	/* One kind is not taken for another. */
	assert_int_equal(perf_report_read(bytes, len, &report), -EPROTO);
	assert_int_equal(perf_answer_read(bytes, len, &answer), -EPROTO);
	bytes[0] ^= 1;
	assert_int_equal(perf_plan_read(bytes, len, &read), -EPROTO);
}

TEST(perf_plan_check__refuses)
{
	const struct perf_plan good = { .role = PERF_ECHO, .window = 1, .message_bytes = 1 };
	struct perf_plan plan;

	assert_int_equal(perf_plan_check(&good), 0);
	plan = good, plan.role = PERF_ROLE_COUNT;
	assert_int_equal(perf_plan_check(&plan), -ERANGE);
	plan = good, plan.window = 0;
	assert_int_equal(perf_plan_check(&plan), -ERANGE);
	plan = good, plan.window = PERF_WINDOW_MAX + 1;
	assert_int_equal(perf_plan_check(&plan), -ERANGE);
	plan = good, plan.message_bytes = 0;
	assert_int_equal(perf_plan_check(&plan), -ERANGE);
	plan = good, plan.message_bytes = PERF_MESSAGE_BYTES_MAX;
	assert_int_equal(perf_plan_check(&plan), 0);
	plan.window = 2;
	assert_int_equal(perf_plan_check(&plan), -ERANGE);
	plan = good, plan.message_bytes = UINT64_MAX;
	assert_int_equal(perf_plan_check(&plan), -ERANGE);
	plan = good, plan.burst_ns = 1;
	assert_int_equal(perf_plan_check(&plan), -ERANGE);
	plan = good, plan.count = PERF_LAST;
	assert_int_equal(perf_plan_check(&plan), -ERANGE);
}

/* Every changed bit is seen, and bytes of another message or length are others. */
TEST(perf_pattern_holds__sees_each_bit)
{
	static uint8_t text[43], other[43];

	perf_pattern_fill(text, sizeof(text), 5);
	assert_true(perf_pattern_holds(text, sizeof(text), 5));
	assert_false(perf_pattern_holds(text, sizeof(text), 6));
	for (size_t bit = 0; bit < 8 * sizeof(text); bit++) {
		text[bit / 8] ^= (uint8_t)(1U << bit % 8);
		assert_false(perf_pattern_holds(text, sizeof(text), 5));
		text[bit / 8] ^= (uint8_t)(1U << bit % 8);
	}
	/* A piece at another place is seen. */
	memcpy(other, text, sizeof(text));
	memcpy(other, text + 8, 8);
	assert_false(perf_pattern_holds(other, sizeof(other), 5));
	assert_true(perf_pattern_holds(text, 0, 9));
	for (size_t len = 1; len < sizeof(text); len++)
		assert_true(perf_pattern_holds(text, len, 5));
}
