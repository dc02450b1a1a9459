/* SPDX-License-Identifier: BSD-3-Clause */
/* host/sched_rule.c in virtual time: who may have a real-time class, and for how long. */

#include "case.h"
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
	return sched_rule_sample(&life->rule, &life->figures);
}

/* Looks as often as wanted; returns after how long the answer became @p inside, UINT64_MAX: not. */
static uint64_t
life_until(struct life *life, bool inside, uint64_t ns_max, uint64_t rests, uint32_t cpu_pct)
{
	uint64_t begin_ns = life->figures.now_ns;

	while (life->rule.inside != inside) {
		if (life->figures.now_ns - begin_ns > ns_max)
			return UINT64_MAX;
		life_step(life, sched_rule_next_ns(&life->rule), rests, cpu_pct, 0);
	}
	return life->figures.now_ns - begin_ns;
}

static void
life_enter(struct life *life)
{
	assert_true(life_until(life, true, 10 * LULL_NS_PER_S, 20, 10) != UINT64_MAX);
}

TEST(look__a_new_thread_that_rests_enters_at_once)
{
	struct life life;
	uint64_t ns;

	life_begin(&life, false);
	assert_false(life.rule.inside);
	ns = life_until(&life, true, LULL_NS_PER_S, 30, 8);
	assert_in_range(ns, SCHED_QUIET_FIRST_NS, SCHED_QUIET_FIRST_NS + SCHED_LOOK_NS);
}

TEST(look__a_thread_that_never_rests_never_enters)
{
	struct life life;

	life_begin(&life, false);
	assert_int_equal(life_until(&life, true, 5 * LULL_NS_PER_S, 0, 100), UINT64_MAX);
	/* and costs few looks */
	assert_int_equal(sched_rule_next_ns(&life.rule), SCHED_LOOK_SLOW_NS);
}

TEST(look__what_others_take_from_it_is_no_rest)
{
	struct life life;

	life_begin(&life, false);
	/* A spinning thread that gets a tenth of its CPU. */
	for (int i = 0; i < 1000; i++)
		assert_false(life_step(&life, 4 * MS, 0, 10, 90));
}

TEST(look__one_that_rests_but_hardly_does_not_enter)
{
	struct life life;

	life_begin(&life, false);
	for (int i = 0; i < 1000; i++)
		assert_false(life_step(&life, 4 * MS, 5, 51, 0));
	assert_true(life_until(&life, true, LULL_NS_PER_S, 5, 49) != UINT64_MAX);
}

TEST(look__beside_others_it_enters_all_the_same)
{
	struct life life;

	life_begin(&life, false);
	assert_true(life_step(&life, 4 * MS, 1, 10, 80));
}

TEST(look__beside_others_rests_may_end_late)
{
	struct life life;

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

TEST(look__a_rest_longer_than_looks_is_one)
{
	struct life life;

	life_begin(&life, false);
	assert_false(life_step(&life, 4 * MS, 0, 6, 0));
	assert_true(life_step(&life, 4 * MS, 0, 4, 0));
	for (int i = 0; i < 1000; i++)
		assert_true(life_step(&life, 4 * MS, 0, 1, 0));
}

TEST(look__who_stops_resting_leaves_within_10_ms)
{
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
			life_step(&life, sched_rule_next_ns(&life.rule), 0, 100, 0);
		assert_true(life.figures.now_ns - stop_ns <= 10 * MS);
	}
}

TEST(look__who_waits_for_another_real_time_thread_leaves_too)
{
	struct life life;

	life_begin(&life, false);
	life_enter(&life);
	/* Each gets 40 % of the CPU, wants all of it, and never rests. */
	assert_false(life_step(&life, SCHED_LOOK_NS, 0, 40, 60));
}

TEST(look__at_the_limit_without_rest)
{
	struct life life;

	life_begin(&life, false);
	life_enter(&life);
	assert_true(life_step(&life, SCHED_LOOK_NS, 0, 50, 0));
	assert_false(life_step(&life, SCHED_LOOK_NS, 0, 51, 0));
}

TEST(look__a_loop_that_rests_too_little_leaves)
{
	struct life life;
	uint64_t begin_ns;

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

TEST(look__a_short_burst_is_not_too_much)
{
	struct life life;

	life_begin(&life, false);
	life_enter(&life);
	/* 8 of 20 ms at 95 %, with rests. */
	for (int i = 0; i < 500; i++)
		assert_true(life_step(&life, SCHED_LOOK_NS, 2, i % 5 < 2 ? 95 : 20, 0));
}

TEST(look__looks_that_come_late_are_judged_by_their_time)
{
	struct life life;

	life_begin(&life, false);
	life_enter(&life);
	assert_true(life_step(&life, 300 * MS, 500, 30, 0));
	assert_false(life_step(&life, 300 * MS, 500, 80, 0));
}

TEST(look__put_out_it_comes_back_later_each_time)
{
	uint64_t last_ns = 0, ns;
	struct life life;
	int grew = 0;

	life_begin(&life, false);
	life_enter(&life);
	for (int i = 0; i < 12; i++) {
		while (life.rule.inside)
			life_step(&life, SCHED_LOOK_NS, 0, 100, 0);
		ns = life_until(&life, true, 10 * LULL_NS_PER_S, 10, 10);
		assert_true(ns >= SCHED_QUIET_NS);
		assert_true(ns <= SCHED_CALM_MAX_NS + 3 * SCHED_LOOK_SLOW_NS);
		grew += ns >= 2 * last_ns - 2 * SCHED_LOOK_SLOW_NS && ns > last_ns;
		last_ns = ns;
	}
	assert_true(grew >= 3);
	assert_true(last_ns >= SCHED_CALM_MAX_NS);
}

TEST(look__who_stayed_long_comes_back_soon)
{
	struct life life;

	life_begin(&life, false);
	life_enter(&life);
	for (int round = 0; round < 10; round++) {
		for (uint64_t ns = 0; ns < SCHED_STAY_NS; ns += SCHED_LOOK_NS)
			life_step(&life, SCHED_LOOK_NS, 10, 10, 0);
		while (life.rule.inside)
			life_step(&life, SCHED_LOOK_NS, 0, 100, 0);
		assert_true(life_until(&life, true, LULL_NS_PER_S, 10, 10) <=
			    SCHED_QUIET_NS + 3 * SCHED_LOOK_SLOW_NS / 2);
	}
}

TEST(look__a_pause_in_resting_begins_the_wait_anew)
{
	struct life life;

	life_begin(&life, false);
	life_enter(&life);
	while (life.rule.inside)
		life_step(&life, SCHED_LOOK_NS, 0, 100, 0);
	for (int i = 0; i < 200; i++)
		assert_false(life_step(&life, SCHED_QUIET_NS / 4, i % 4 != 0,
				       20 + 80 * (i % 4 == 0), 0));
}

TEST(look__counters_that_begin_anew_are_no_standstill)
{
	struct life life;

	life_begin(&life, false);
	life_enter(&life);
	life.figures.rests = 0;
	assert_true(life_step(&life, SCHED_LOOK_NS, 5, 60, 0));
}

TEST(look__twice_at_the_same_time_changes_nothing)
{
	struct life life;

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

TEST(enter__by_somebody_else_is_watched_from_then_on)
{
	struct life life;

	life_begin(&life, false);
	sched_rule_enter(&life.rule, &life.figures);
	assert_true(life.rule.inside);
	assert_int_equal(sched_rule_next_ns(&life.rule), SCHED_LOOK_NS);
	assert_false(life_step(&life, SCHED_LOOK_NS, 0, 100, 0));
}

TEST(budget__follows_the_load)
{
	struct life life;

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

TEST(budget__whoever_is_throttled_and_does_not_rest_leaves)
{
	struct life life;

	life_begin(&life, true);
	life_enter(&life);
	for (int i = 0; i < 60; i++)
		life_step(&life, SCHED_LOOK_NS, 10, 2, 0);
	/* A tenth of the CPU is all it gets. */
	assert_false(life_step(&life, SCHED_LOOK_NS, 0, 10, 0));
}
