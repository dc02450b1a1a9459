/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/base.h>

#include "case.h"
#include "gige/resend.h"

#define KEY 77

static struct lull_resend resend;
static struct lull_resend_range ask;

static void
begin(uint32_t budget_ppm)
{
	struct lull_resend_config config = { .wait_ns = 100,
					     .timeout_ns = 1000,
					     .gap_ns = 10,
					     .tries = 3,
					     .budget_ppm = budget_ppm };

	lull_resend_init(&resend, &config);
}

TEST(next__waits_asks_and_asks_again)
{
	struct lull_resend_range hole = { 5, 7 };

	begin(1000000);
	assert_false(lull_resend_next(&resend, 0, KEY, 100, &hole, 1, &ask));
	assert_int_equal(resend.due_ns, 100);
	assert_false(lull_resend_next(&resend, 99, KEY, 100, &hole, 1, &ask));
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t now_ns = 100 + 1000 * ((1 << i) - 1), next_ns = now_ns + (1000 << i);

		assert_true(lull_resend_next(&resend, now_ns, KEY, 100, &hole, 1, &ask));
		assert_int_equal(ask.first, 5);
		assert_int_equal(ask.last, 7);
		assert_false(lull_resend_next(&resend, next_ns - 1, KEY, 100, &hole, 1, &ask));
	}
	assert_false(lull_resend_next(&resend, 1000000, KEY, 100, &hole, 1, &ask));
	assert_int_equal(resend.due_ns, UINT64_MAX);
	assert_int_equal(resend.packets, 9);
	assert_int_equal(resend.requests, 3);
}

TEST(next__touching_holes_make_one_request)
{
	struct lull_resend_range first = { 5, 7 };
	struct lull_resend_range holes[] = { { 5, 9 }, { 20, 20 } };

	begin(1000000);
	assert_false(lull_resend_next(&resend, 0, KEY, 100, &first, 1, &ask));
	assert_false(lull_resend_next(&resend, 50, KEY, 100, holes, 2, &ask));
	assert_true(lull_resend_next(&resend, 150, KEY, 100, holes, 2, &ask));
	assert_int_equal(ask.first, 5);
	assert_int_equal(ask.last, 9);
	assert_false(lull_resend_next(&resend, 159, KEY, 100, holes, 2, &ask)); /* the gap */
	assert_int_equal(resend.due_ns, 160);
	assert_true(lull_resend_next(&resend, 160, KEY, 100, holes, 2, &ask));
	assert_int_equal(ask.first, 20);
	assert_int_equal(ask.last, 20);
}

/* Answers make holes in what was asked for: both sides are asked for again. */
TEST(next__half_answered)
{
	struct lull_resend_range hole = { 1, 10 };
	struct lull_resend_range left[] = { { 2, 3 }, { 6, 10 } };

	begin(1000000);
	assert_false(lull_resend_next(&resend, 0, KEY, 100, &hole, 1, &ask));
	assert_true(lull_resend_next(&resend, 100, KEY, 100, &hole, 1, &ask));
	assert_true(lull_resend_next(&resend, 1100, KEY, 100, left, 2, &ask));
	assert_int_equal(ask.first, 2);
	assert_int_equal(ask.last, 3);
	assert_true(lull_resend_next(&resend, 1110, KEY, 100, left, 2, &ask));
	assert_int_equal(ask.first, 6);
	assert_int_equal(ask.last, 10);
}

TEST(next__budget)
{
	struct lull_resend_range holes[] = { { 0, 7 }, { 10, 17 } };

	begin(100000); /* 10 of 100 */
	assert_false(lull_resend_next(&resend, 0, KEY, 100, holes, 2, &ask));
	assert_true(lull_resend_next(&resend, 100, KEY, 100, holes, 2, &ask));
	assert_int_equal(ask.last, 7);
	assert_true(lull_resend_next(&resend, 110, KEY, 100, holes, 2, &ask));
	assert_int_equal(ask.first, 10);
	assert_int_equal(ask.last, 11);
	assert_false(lull_resend_next(&resend, 5000, KEY, 100, holes, 2, &ask));
	assert_true(resend.exhausted > 0);
	assert_int_equal(resend.packets, 10);
	assert_true(lull_resend_next(&resend, 6000, KEY + 1, 100, holes, 0, &ask) == false);
	assert_false(lull_resend_next(&resend, 6000, KEY + 1, 100, holes, 1, &ask));
	assert_true(lull_resend_next(&resend, 6100, KEY + 1, 100, holes, 1, &ask));
}

/* The time for an answer follows those that come, and only those to a first request. */
TEST(answered__sets_the_timeout)
{
	struct lull_resend_config config = { .wait_ns = 100,
					     .timeout_ns = 1000,
					     .gap_ns = 1,
					     .timeout_ns_min = 200,
					     .budget_ppm = 1000000 };
	struct lull_resend_range hole = { 5, 5 };
	uint64_t now_ns = 0;

	lull_resend_init(&resend, &config);
	lull_resend_answered(&resend, 7, KEY, 5); /* to nothing */
	for (uint32_t i = 0; i < 50; i++, now_ns += 10000) {
		assert_false(lull_resend_next(&resend, now_ns, KEY + i, 100, &hole, 1, &ask));
		assert_true(lull_resend_next(&resend, now_ns + 100, KEY + i, 100, &hole, 1, &ask));
		assert_int_equal(resend.due_ns, now_ns + 100 + resend.timeout_ns);
		lull_resend_answered(&resend, now_ns + 130, KEY + i, 5);
	}
	assert_int_equal(resend.timeout_ns, 200);
	for (uint32_t i = 0; i < 50; i++, now_ns += 10000) {
		assert_false(lull_resend_next(&resend, now_ns, KEY - i, 100, &hole, 1, &ask));
		assert_true(lull_resend_next(&resend, now_ns + 100, KEY - i, 100, &hole, 1, &ask));
		lull_resend_answered(&resend, now_ns + 700, KEY - i, 5);
	}
	assert_in_range(resend.timeout_ns, 600, 640);
	for (uint32_t i = 1; i < 50; i++, now_ns += 10000) {
		uint64_t again_ns = now_ns + 100 + resend.timeout_ns;

		assert_false(lull_resend_next(&resend, now_ns, i, 100, &hole, 1, &ask));
		assert_true(lull_resend_next(&resend, now_ns + 100, i, 100, &hole, 1, &ask));
		assert_true(lull_resend_next(&resend, again_ns, i, 100, &hole, 1, &ask));
		lull_resend_answered(&resend, again_ns + 1, i, 5);
	}
	assert_in_range(resend.timeout_ns, 600, 640);
	assert_false(lull_resend_next(&resend, now_ns, KEY, 100, &hole, 1, &ask));
	assert_true(lull_resend_next(&resend, now_ns + 100, KEY, 100, &hole, 1, &ask));
	lull_resend_answered(&resend, UINT64_MAX / 8, KEY, 5);
	assert_int_equal(resend.timeout_ns, 16000);
}

TEST(gone__is_not_asked_for_again)
{
	struct lull_resend_range hole = { 4, 8 };

	begin(1000000);
	assert_false(lull_resend_next(&resend, 0, KEY, 100, &hole, 1, &ask));
	assert_true(lull_resend_next(&resend, 100, KEY, 100, &hole, 1, &ask));
	lull_resend_gone(&resend, KEY, 6);
	lull_resend_gone(&resend, KEY, 6);
	lull_resend_gone(&resend, KEY, 4);
	assert_int_equal(resend.given_up, 2);
	assert_true(lull_resend_next(&resend, 1100, KEY, 100, &hole, 1, &ask));
	assert_int_equal(ask.first, 5);
	assert_int_equal(ask.last, 5);
	assert_true(lull_resend_next(&resend, 1110, KEY, 100, &hole, 1, &ask));
	assert_int_equal(ask.first, 7);
	assert_int_equal(ask.last, 8);
}

/* More holes than can be remembered, and the highest packet number. */
TEST(next__bounds)
{
	struct lull_resend_range holes[200];
	uint32_t asked = 0;

	begin(1000000);
	for (uint32_t i = 0; i < 199; i++)
		holes[i] = (struct lull_resend_range){ 3 * i, 3 * i };
	holes[199] = (struct lull_resend_range){ UINT32_MAX - 1, UINT32_MAX };
	for (uint64_t now = 0; now < 20000; now += 10)
		asked += lull_resend_next(&resend, now, KEY, UINT32_MAX, holes, 200, &ask);
	assert_int_equal(asked, 3 * LULL_RESEND_RANGES);
	begin(1000000);
	assert_false(lull_resend_next(&resend, 0, KEY, UINT32_MAX, &holes[199], 1, &ask));
	assert_true(lull_resend_next(&resend, 100, KEY, UINT32_MAX, &holes[199], 1, &ask));
	assert_int_equal(ask.last, UINT32_MAX);
}
