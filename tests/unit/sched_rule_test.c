/* SPDX-License-Identifier: BSD-3-Clause */
/* host/sched_rule.c in virtual time: who may have a real-time class, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched_rule.h"

#define MS LULL_NS_PER_MS

/* A thread that is looked at as often as the rule wants. */
struct life {
	struct sched_rule rule;
	struct sched_figures figures;
};

static void
life_begin(struct life *life, bool budgeted)
{
	/* Numbers that run on from before. */
	life->figures = (struct sched_figures){ 77 * MS, 1000, 50 * MS, 9 * MS, false };
	sched_rule_init(&life->rule, budgeted, &life->figures);
}

/* One look after @p ns in which it used and waited for these shares of the CPU. */
static bool
life_step(struct life *life, uint64_t ns, uint64_t rests, uint32_t cpu_pct, uint32_t wait_pct)
{
	life->figures.now_ns += ns;
	life->figures.rests += rests;
	life->figures.cpu_ns += ns * cpu_pct / 100;
	life->figures.wait_ns += ns * wait_pct / 100;
	life->figures.asleep = rests == 0 && cpu_pct <= 5 && wait_pct == 0;
	return sched_rule_look(&life->rule, &life->figures);
}

/* Looks as often as wanted; returns after how long the answer became @p inside, UINT64_MAX: not. */
static uint64_t
life_until(struct life *life, bool inside, uint64_t ns_max, uint64_t rests, uint32_t cpu_pct)
{
	uint64_t begin_ns = life->figures.now_ns;

	while (life->rule.inside != inside) {
		if (life->figures.now_ns - begin_ns > ns_max)
			return UINT64_MAX;
		life_step(life, sched_rule_look_in_ns(&life->rule), rests, cpu_pct, 0);
	}
	return life->figures.now_ns - begin_ns;
}

static void
life_enter(struct life *life)
{
	assert_true(life_until(life, true, 10 * LULL_NS_PER_S, 20, 10) != UINT64_MAX);
}

static void
look__a_new_thread_that_rests_enters_at_once(void **state)
{
	struct life life;
	uint64_t ns;

	(void)state;
	life_begin(&life, false);
	assert_false(life.rule.inside);
	ns = life_until(&life, true, LULL_NS_PER_S, 30, 8);
	assert_in_range(ns, SCHED_CALM_FIRST_NS, SCHED_CALM_FIRST_NS + SCHED_LOOK_NS);
}

static void
look__a_thread_that_never_rests_never_enters(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	assert_int_equal(life_until(&life, true, 5 * LULL_NS_PER_S, 0, 100), UINT64_MAX);
	/* and costs few looks */
	assert_int_equal(sched_rule_look_in_ns(&life.rule), SCHED_LOOK_SLOW_NS);
}

static void
look__what_others_take_from_it_is_no_rest(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	/* A spinning thread that gets a tenth of its CPU. */
	for (int i = 0; i < 1000; i++)
		assert_false(life_step(&life, 4 * MS, 0, 10, 90));
}

static void
look__one_that_rests_but_hardly_does_not_enter(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	for (int i = 0; i < 1000; i++)
		assert_false(life_step(&life, 4 * MS, 5, 51, 0));
	assert_true(life_until(&life, true, LULL_NS_PER_S, 5, 49) != UINT64_MAX);
}

static void
look__beside_others_it_enters_all_the_same(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	assert_true(life_step(&life, 4 * MS, 1, 10, 80));
}

static void
look__beside_others_rests_may_end_late(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	while (life.rule.inside)
		life_step(&life, SCHED_LOOK_NS, 0, 100, 0);
	/* Each rest ends 8 ms late; later ones are none. */
	for (int i = 0; i < 60 && !life.rule.inside; i++)
		life_step(&life, SCHED_LOOK_NS, i % 3 == 0, 2, 90);
	assert_true(life.rule.inside);
	while (life.rule.inside)
		life_step(&life, SCHED_LOOK_NS, 0, 100, 0);
	for (int i = 0; i < 1000; i++)
		assert_false(life_step(&life, SCHED_LOOK_NS, i % 7 == 0, 2, 90));
}

static void
look__a_rest_longer_than_looks_is_one(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	assert_false(life_step(&life, 4 * MS, 0, 6, 0));
	assert_true(life_step(&life, 4 * MS, 0, 4, 0));
	for (int i = 0; i < 1000; i++)
		assert_true(life_step(&life, 4 * MS, 0, 1, 0));
}

static void
look__who_stops_resting_leaves_within_10_ms(void **state)
{
	(void)state;
	/* Whenever it stops between two looks. */
	for (uint32_t before_pct = 0; before_pct <= 100; before_pct += 5) {
		struct life life;
		uint64_t stop_ns;

		life_begin(&life, false);
		life_enter(&life);
		for (int i = 0; i < 100; i++)
			life_step(&life, SCHED_LOOK_NS, 20, 10, 0);
		stop_ns = life.figures.now_ns + SCHED_LOOK_NS * before_pct / 100;
		life_step(&life, SCHED_LOOK_NS, before_pct / 5, 100 - before_pct + before_pct / 10,
			  0);
		while (life.rule.inside)
			life_step(&life, sched_rule_look_in_ns(&life.rule), 0, 100, 0);
		assert_true(life.figures.now_ns - stop_ns <= 10 * MS);
	}
}

static void
look__who_waits_for_another_real_time_thread_leaves_too(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	/* Each gets 40 % of the CPU, wants all of it, and never rests. */
	assert_false(life_step(&life, SCHED_LOOK_NS, 0, 40, 60));
}

static void
look__at_the_limit_without_rest(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	assert_true(life_step(&life, SCHED_LOOK_NS, 0, 50, 0));
	assert_false(life_step(&life, SCHED_LOOK_NS, 0, 51, 0));
}

static void
look__a_loop_that_rests_too_little_leaves(void **state)
{
	struct life life;
	uint64_t begin_ns;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	for (int i = 0; i < 1000; i++)
		assert_true(life_step(&life, SCHED_LOOK_NS, 3, 69, 0));
	begin_ns = life.figures.now_ns;
	while (life.rule.inside && life.figures.now_ns - begin_ns < LULL_NS_PER_S)
		life_step(&life, SCHED_LOOK_NS, 3, 75, 0);
	assert_in_range(life.figures.now_ns - begin_ns, SCHED_LOOK_NS,
			SCHED_LEAVE_SPAN_NS + SCHED_LOOK_NS);
}

static void
look__a_short_burst_is_not_too_much(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	/* 8 of 20 ms at 95 %, with rests. */
	for (int i = 0; i < 500; i++)
		assert_true(life_step(&life, SCHED_LOOK_NS, 2, i % 5 < 2 ? 95 : 20, 0));
}

static void
look__looks_that_come_late_are_judged_by_their_time(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	assert_true(life_step(&life, 300 * MS, 500, 30, 0));
	assert_false(life_step(&life, 300 * MS, 500, 80, 0));
}

static void
look__put_out_it_comes_back_later_each_time(void **state)
{
	uint64_t last_ns = 0, ns;
	struct life life;
	int grew = 0;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	for (int i = 0; i < 12; i++) {
		while (life.rule.inside)
			life_step(&life, SCHED_LOOK_NS, 0, 100, 0);
		ns = life_until(&life, true, 10 * LULL_NS_PER_S, 10, 10);
		assert_true(ns >= SCHED_CALM_NS);
		assert_true(ns <= SCHED_CALM_MAX_NS + 3 * SCHED_LOOK_SLOW_NS);
		grew += ns >= 2 * last_ns - 2 * SCHED_LOOK_SLOW_NS && ns > last_ns;
		last_ns = ns;
	}
	assert_true(grew >= 3);
	assert_true(last_ns >= SCHED_CALM_MAX_NS);
}

static void
look__who_stayed_long_comes_back_soon(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	for (int round = 0; round < 10; round++) {
		for (uint64_t ns = 0; ns < SCHED_STAY_NS; ns += SCHED_LOOK_NS)
			life_step(&life, SCHED_LOOK_NS, 10, 10, 0);
		while (life.rule.inside)
			life_step(&life, SCHED_LOOK_NS, 0, 100, 0);
		assert_true(life_until(&life, true, LULL_NS_PER_S, 10, 10) <=
			    SCHED_CALM_NS + 3 * SCHED_LOOK_SLOW_NS / 2);
	}
}

static void
look__a_pause_in_resting_begins_the_wait_anew(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	while (life.rule.inside)
		life_step(&life, SCHED_LOOK_NS, 0, 100, 0);
	for (int i = 0; i < 200; i++)
		assert_false(
			life_step(&life, SCHED_CALM_NS / 4, i % 4 != 0, 20 + 80 * (i % 4 == 0), 0));
}

static void
look__counters_that_begin_anew_are_no_standstill(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	life.figures.rests = 0;
	assert_true(life_step(&life, SCHED_LOOK_NS, 5, 60, 0));
}

static void
look__twice_at_the_same_time_changes_nothing(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	life_enter(&life);
	assert_true(life_step(&life, 0, 0, 0, 0));
	assert_true(life_step(&life, SCHED_LOOK_NS, 5, 60, 0));
	/* Nor does it push out what was seen before. */
	for (int i = 0; i < 3; i++)
		assert_true(life_step(&life, SCHED_LOOK_NS, 5, 80, 0));
	for (int i = 0; i < 20; i++)
		assert_true(life_step(&life, 0, 0, 0, 0));
	assert_false(life_step(&life, SCHED_LOOK_NS, 5, 80, 0));
}

static void
enter__by_somebody_else_is_watched_from_then_on(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, false);
	sched_rule_enter(&life.rule, &life.figures);
	assert_true(life.rule.inside);
	assert_int_equal(sched_rule_look_in_ns(&life.rule), SCHED_LOOK_NS);
	assert_false(life_step(&life, SCHED_LOOK_NS, 0, 100, 0));
}

static void
budget__follows_the_load(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, true);
	assert_int_equal(life.rule.budget_ppm, SCHED_BUDGET_FIRST_PPM);
	life_enter(&life);
	for (int i = 0; i < 60; i++)
		assert_true(life_step(&life, SCHED_LOOK_NS, 10, 2, 0));
	assert_int_equal(life.rule.budget_ppm, SCHED_BUDGET_MIN_PPM);
	/* The budget throttles it: raised at once, without waiting for the next reckoning. */
	assert_true(life_step(&life, SCHED_LOOK_NS, 10, 10, 0));
	assert_int_equal(life.rule.budget_ppm, 2 * SCHED_BUDGET_MIN_PPM);
	for (int i = 0; i < 6; i++)
		assert_true(life_step(&life, SCHED_LOOK_NS, 10,
				      LULL_MIN(life.rule.budget_ppm / 10000, 30u), 0));
	assert_in_range(life.rule.budget_ppm, 300000, SCHED_BUDGET_MAX_PPM);
	for (int i = 0; i < 200; i++)
		assert_true(life_step(&life, SCHED_LOOK_NS, 10, 30, 0));
	assert_in_range(life.rule.budget_ppm, 440000, 460000);
	for (int i = 0; i < 60; i++)
		assert_true(life_step(&life, SCHED_LOOK_NS, 10, 65, 0));
	assert_int_equal(life.rule.budget_ppm, SCHED_BUDGET_MAX_PPM);
}

static void
budget__whoever_is_throttled_and_does_not_rest_leaves(void **state)
{
	struct life life;

	(void)state;
	life_begin(&life, true);
	life_enter(&life);
	for (int i = 0; i < 60; i++)
		life_step(&life, SCHED_LOOK_NS, 10, 2, 0);
	/* A tenth of the CPU is all it gets. */
	assert_false(life_step(&life, SCHED_LOOK_NS, 0, 10, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look__a_new_thread_that_rests_enters_at_once),
		cmocka_unit_test(look__a_thread_that_never_rests_never_enters),
		cmocka_unit_test(look__what_others_take_from_it_is_no_rest),
		cmocka_unit_test(look__one_that_rests_but_hardly_does_not_enter),
		cmocka_unit_test(look__beside_others_it_enters_all_the_same),
		cmocka_unit_test(look__beside_others_rests_may_end_late),
		cmocka_unit_test(look__a_rest_longer_than_looks_is_one),
		cmocka_unit_test(look__who_stops_resting_leaves_within_10_ms),
		cmocka_unit_test(look__who_waits_for_another_real_time_thread_leaves_too),
		cmocka_unit_test(look__at_the_limit_without_rest),
		cmocka_unit_test(look__a_loop_that_rests_too_little_leaves),
		cmocka_unit_test(look__a_short_burst_is_not_too_much),
		cmocka_unit_test(look__looks_that_come_late_are_judged_by_their_time),
		cmocka_unit_test(look__put_out_it_comes_back_later_each_time),
		cmocka_unit_test(look__who_stayed_long_comes_back_soon),
		cmocka_unit_test(look__a_pause_in_resting_begins_the_wait_anew),
		cmocka_unit_test(look__counters_that_begin_anew_are_no_standstill),
		cmocka_unit_test(look__twice_at_the_same_time_changes_nothing),
		cmocka_unit_test(enter__by_somebody_else_is_watched_from_then_on),
		cmocka_unit_test(budget__follows_the_load),
		cmocka_unit_test(budget__whoever_is_throttled_and_does_not_rest_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
