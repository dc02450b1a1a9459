/* SPDX-License-Identifier: BSD-3-Clause */
/* Rest or poll: on hosts that hold up one, the other, both or none. */
#include <lull/base.h>

#include "case.h"
#include "idle/course.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define S LULL_NS_PER_S
#define NEVER UINT64_MAX

/* A host that stalls a loop for length_ns, at rates that differ for sleepers and pollers. */
struct host {
	uint64_t rest_every_ns, poll_every_ns; /* 0: never */
	uint64_t length_ns;
};

struct stand {
	struct lull_stall_watch watch;
	struct lull_course course;
	struct lull_course_case given;
	uint64_t now_ns, stall_ns, resting_ns;
};

static void
stand_begin(struct stand *stand)
{
	*stand = (struct stand){
		.given = { .latency_ns = 200 * US,
			   .budget_ppm = 10000,
			   .poll_wait_ns = 200 * US,
			   .poll_budget_ppm = 10000 },
	};
	lull_stall_watch_init(&stand->watch, 0);
	lull_course_init(&stand->course, &stand->watch);
}

/* Looks of 200 us, judged every 2 ms. */
static void
stand_run(struct stand *stand, const struct host *host, uint64_t for_ns)
{
	uint64_t end_ns = stand->now_ns + for_ns, judge_ns = stand->now_ns;

	while (stand->now_ns < end_ns) {
		bool polls = stand->course.state == LULL_COURSE_POLLING;
		uint64_t every_ns = polls ? host->poll_every_ns : host->rest_every_ns;
		uint64_t gap_ns = 200 * US;

		if (every_ns > 0 && stand->now_ns >= stand->stall_ns + every_ns) {
			gap_ns += host->length_ns;
			stand->stall_ns = stand->now_ns;
		}
		stand->now_ns += gap_ns;
		if (!polls)
			stand->resting_ns += gap_ns;
		if (lull_stall_is(gap_ns, 200 * US))
			lull_stall_watch_stall(&stand->watch, stand->now_ns, gap_ns);
		else
			lull_stall_watch_fine(&stand->watch, gap_ns, 0);
		if (stand->now_ns < judge_ns)
			continue;
		judge_ns = stand->now_ns + 2 * MS;
		stand->given.now_ns = stand->now_ns;
		lull_course_update(&stand->course, &stand->given);
	}
}

static double
resting_share(struct stand *stand, const struct host *host, uint64_t for_ns)
{
	stand->resting_ns = 0;
	stand_run(stand, host, for_ns);
	return (double)stand->resting_ns / (double)for_ns;
}

TEST(update__rests_where_stalls_are_within_the_budget)
{
	struct host quiet = { 0 }, noisy = { 1 * S, 1 * S, 6 * MS };
	struct stand stand;

	stand_begin(&stand);
	assert_true(resting_share(&stand, &quiet, 30 * S) >= 1);
	assert_false(stand.course.lost);
	/* 6 ms a second are 0.6 % of the packets */
	assert_true(resting_share(&stand, &noisy, 120 * S) >= 1);
	assert_false(stand.course.lost);
	assert_int_equal(stand.course.state, LULL_COURSE_RESTING);
}

TEST(update__a_stall_or_two_are_no_rate)
{
	struct host bad = { 20 * MS, 0, 20 * MS }, good = { 0 };
	struct stand stand;

	stand_begin(&stand);
	stand_run(&stand, &bad, 50 * MS); /* one or two stalls: 2 % of a second */
	assert_true(stand.course.lost);
	assert_int_equal(stand.course.state, LULL_COURSE_RESTING);
	assert_true(resting_share(&stand, &good, 10 * S) >= 1);
}

TEST(update__polls_where_that_does_better)
{
	struct host sleepers = { 20 * MS, 0, 2 * MS }, good = { 0 };
	struct stand stand;

	stand_begin(&stand);
	stand_run(&stand, &good, 10 * S);
	stand_run(&stand, &sleepers, 200 * MS);
	assert_int_equal(stand.course.state, LULL_COURSE_POLLING);
	assert_true(stand.course.lost);
	/* resting is tried again, ever more seldom: the trials cost far less than the budget */
	assert_true(resting_share(&stand, &sleepers, 600 * S) < 0.01);
	assert_int_equal(stand.course.rest_hold_ns, 64 * S);
	/* the host recovers */
	stand_run(&stand, &good, 70 * S);
	assert_int_equal(stand.course.state, LULL_COURSE_RESTING);
	assert_false(stand.course.lost);
	assert_true(resting_share(&stand, &good, 100 * S) >= 1);
	/* and how often it had been tried is forgotten */
	assert_int_equal(stand.course.rest_hold_ns, 4 * S);
}

/* Thrice the budget is no emergency, and no bad moment either: it gets three seconds. */
TEST(update__waits_for_seconds_before_it_polls)
{
	struct host sleepers = { 100 * MS, 0, 3 * MS }, good = { 0 };
	struct stand stand;

	stand_begin(&stand);
	assert_true(resting_share(&stand, &sleepers, 2900 * MS) >= 1);
	assert_true(stand.course.lost);
	stand_run(&stand, &sleepers, 3 * S);
	assert_int_equal(stand.course.state, LULL_COURSE_POLLING);
	/* half as much again as the budget never is a reason */
	sleepers.length_ns = 1700 * US;
	stand_begin(&stand);
	assert_true(resting_share(&stand, &sleepers, 60 * S) >= 1);
	assert_true(stand.course.lost);
	assert_true(resting_share(&stand, &good, 20 * S) >= 1);
	assert_false(stand.course.lost);
}

TEST(update__what_is_lost_stays_so_until_it_is_well_below)
{
	struct host noisy = { 100 * MS, 0, 1200 * US };
	struct stand stand;

	stand_begin(&stand);
	stand_run(&stand, &noisy, 60 * S);
	assert_true(stand.course.lost);
	noisy.length_ns = 880 * US;
	stand_run(&stand, &noisy, 120 * S);
	assert_true(stand.course.lost);
	noisy.length_ns = 600 * US;
	stand_run(&stand, &noisy, 120 * S);
	assert_false(stand.course.lost);
	noisy.length_ns = 880 * US;
	stand_run(&stand, &noisy, 120 * S);
	assert_false(stand.course.lost);
}

/* The first second of a loop is that of a program that starts. */
TEST(update__judges_no_beginner)
{
	struct host both = { 20 * MS, 0, 2 * MS };
	struct stand stand;

	stand_begin(&stand);
	assert_true(resting_share(&stand, &both, 900 * MS) >= 1);
	assert_true(stand.course.lost);
	stand_run(&stand, &both, 300 * MS);
	assert_int_equal(stand.course.state, LULL_COURSE_POLLING);
	/* nor after a change of class */
	stand_begin(&stand);
	stand_run(&stand, &(struct host){ 0 }, 10 * S);
	lull_stall_watch_forget(&stand.watch, stand.now_ns);
	assert_true(resting_share(&stand, &both, 900 * MS) >= 1);
	/* also where the bounds leave no room; but a promise of no loss holds from the start */
	stand_begin(&stand);
	stand.given.forbidden = true;
	assert_true(resting_share(&stand, &both, 900 * MS) >= 1);
	stand_begin(&stand);
	stand.given.forbidden = true;
	stand.given.promised = true;
	assert_true(resting_share(&stand, &both, 900 * MS) < 0.01);
}

TEST(update__one_stall_while_polling_is_no_failure)
{
	struct host sleepers = { 20 * MS, 0, 2 * MS }, once = { 0, 1, 20 * MS }, good = { 0 };
	struct stand stand;

	stand_begin(&stand);
	stand_run(&stand, &good, 10 * S);
	stand_run(&stand, &sleepers, 200 * MS);
	assert_int_equal(stand.course.state, LULL_COURSE_POLLING);
	stand_run(&stand, &once, 1);
	assert_true(lull_stalls_count_x256(&stand.watch.poll, 0) >= 256);
	stand_run(&stand, &sleepers, 100 * MS);
	assert_int_equal(stand.course.state, LULL_COURSE_POLLING);
}

TEST(update__rests_all_the_same_where_polling_fails_too)
{
	struct host both = { 20 * MS, 20 * MS, 2 * MS };
	struct stand stand;

	stand_begin(&stand);
	stand_run(&stand, &both, 2 * S);
	assert_true(stand.course.lost);
	/* not again for half a minute; then for a fraction of a second, ever more seldom */
	assert_int_equal(stand.course.state, LULL_COURSE_RESTING);
	assert_true(resting_share(&stand, &both, 25 * S) >= 1);
	assert_true(resting_share(&stand, &both, 600 * S) > 0.995);
	assert_true(stand.course.lost);
	assert_int_equal(stand.course.poll_hold_ns, 300 * S);
}

TEST(update__a_host_that_turns_bad_is_noticed_within_a_second)
{
	struct host good = { 0 };
	static const struct host bad[] = { { 100 * MS, 0, 20 * MS },
					   { 50 * MS, 0, 5 * MS },
					   { 20 * MS, 0, 1 * MS } };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct stand stand;

		stand_begin(&stand);
		stand_run(&stand, &good, 60 * S);
		assert_false(stand.course.lost);
		stand_run(&stand, &bad[i], 1 * S);
		assert_true(stand.course.lost);
	}
}

TEST(update__forbidden_rests_are_tried_only_where_polling_fails)
{
	struct host good = { 0 }, both = { 20 * MS, 20 * MS, 2 * MS };
	struct stand stand;

	stand_begin(&stand);
	stand.given.forbidden = true;
	stand_run(&stand, &good, 1100 * MS);
	assert_true(resting_share(&stand, &good, 100 * S) < 0.001);
	assert_int_equal(stand.course.state, LULL_COURSE_POLLING);
	assert_true(resting_share(&stand, &both, 600 * S) > 0.99);
	/* a stall too short to overflow the ring does not count where the ring forbids */
	stand_begin(&stand);
	stand.given.forbidden = true;
	stand.given.poll_wait_ns = 5 * MS;
	stand.given.poll_budget_ppm = 0;
	stand_run(&stand, &good, 1100 * MS);
	assert_true(resting_share(&stand, &both, 100 * S) < 0.001);
	/* allowed again: rests at once */
	stand.given.forbidden = false;
	stand_run(&stand, &good, 10 * MS);
	assert_int_equal(stand.course.state, LULL_COURSE_RESTING);
}

/* A record of 100 s in which so many 256ths of a stall made late_ppm of the time late. */
static void
record(struct lull_stalls *stalls, uint64_t now_ns, uint64_t count_x256, uint32_t late_ppm)
{
	lull_stalls_init(stalls, LULL_STALL_MEMORY_NS, now_ns);
	stalls->time_ns = 100 * S;
	stalls->bins[3].count_x256 = count_x256;
	stalls->bins[3].len_ns = late_ppm * 100 * US + count_x256 * 200 * US / 256;
}

static enum lull_course_state
update(struct stand *stand, uint64_t now_ns)
{
	stand->given.now_ns = now_ns;
	lull_course_update(&stand->course, &stand->given);
	return stand->course.state;
}

/* One record of the three, at 10 s, of a course that begins at 0. */
static void
judge(struct stand *stand, uint64_t count_x256, uint32_t late_ppm, uint32_t recent_ppm)
{
	record(&stand->watch.rest, 10 * S, count_x256, late_ppm);
	record(&stand->watch.recent, 10 * S, count_x256, recent_ppm);
	update(stand, 10 * S);
}

/* The budget is 1 %: lost above it, not lost at three quarters. */
TEST(update__lost_is_above_the_budget)
{
	struct stand stand;

	stand_begin(&stand);
	judge(&stand, 256, 10000, 0);
	assert_false(stand.course.lost);
	judge(&stand, 256, 10001, 0);
	assert_true(stand.course.lost);
	assert_int_equal(stand.course.lost_ns, 10 * S);
	judge(&stand, 256, 7501, 0);
	assert_true(stand.course.lost);
	judge(&stand, 256, 7500, 0);
	assert_false(stand.course.lost);
	/* lately: 1.75 budgets by two stalls or so, and then above one */
	judge(&stand, 383, 0, 17501);
	assert_false(stand.course.lost);
	judge(&stand, 384, 0, 17500);
	assert_false(stand.course.lost);
	judge(&stand, 384, 0, 17501);
	assert_true(stand.course.lost);
	judge(&stand, 384, 0, 10001);
	assert_true(stand.course.lost);
	judge(&stand, 384, 0, 10000);
	assert_false(stand.course.lost);
	assert_int_equal(stand.course.state, LULL_COURSE_RESTING);
}

/* Twice the budget for three seconds by five stalls or so, half a stall faded. */
TEST(update__what_gives_the_saving_up)
{
	static const struct {
		uint64_t count_x256, at_ns;
		uint32_t late_ppm;
		enum lull_course_state state;
	} table[] = {
		{ 1152, 13 * S, 20001, LULL_COURSE_POLLING },
		{ 1152, 13 * S - 1, 20001, LULL_COURSE_RESTING },
		{ 1152, 13 * S, 20000, LULL_COURSE_RESTING },
		{ 1151, 13 * S, 20001, LULL_COURSE_RESTING },
	};

	for (size_t i = 0; i < COUNT(table); i++) {
		struct stand stand;

		stand_begin(&stand);
		judge(&stand, 256, 10001, 0);
		record(&stand.watch.rest, table[i].at_ns, table[i].count_x256, table[i].late_ppm);
		lull_stalls_init(&stand.watch.recent, S, table[i].at_ns);
		assert_int_equal(update(&stand, table[i].at_ns), table[i].state);
		if (table[i].state != LULL_COURSE_POLLING)
			continue;
		assert_true(stand.watch.polling);
		assert_int_equal(stand.course.since_ns, table[i].at_ns);
		assert_int_equal(stand.watch.poll.time_ns, 0);
	}
}

/* At once where four times the budget went, lately, by three stalls or so. */
TEST(update__gross_stalls_need_no_seconds)
{
	struct stand stand;

	stand_begin(&stand);
	judge(&stand, 639, 0, 40001);
	assert_int_equal(stand.course.state, LULL_COURSE_RESTING);
	judge(&stand, 640, 0, 40000);
	assert_int_equal(stand.course.state, LULL_COURSE_RESTING);
	judge(&stand, 640, 0, 40001);
	assert_int_equal(stand.course.state, LULL_COURSE_POLLING);
	assert_true(stand.course.lost);
	/* not within the first second, unless a promise of no loss forbids to rest */
	stand_begin(&stand);
	record(&stand.watch.recent, S - 1, 640, 40001);
	assert_int_equal(update(&stand, S - 1), LULL_COURSE_RESTING);
	record(&stand.watch.recent, S, 640, 40001);
	assert_int_equal(update(&stand, S), LULL_COURSE_POLLING);
	for (int i = 0; i < 4; i++) {
		stand_begin(&stand);
		stand.given.forbidden = (i & 1) != 0;
		stand.given.promised = (i & 2) != 0;
		assert_int_equal(update(&stand, MS),
				 i == 3 ? LULL_COURSE_POLLING : LULL_COURSE_RESTING);
	}
}

/* Polling, as of 10 s. */
static void
begin_polling(struct stand *stand)
{
	stand_begin(stand);
	judge(stand, 640, 0, 40001);
	assert_int_equal(stand->course.state, LULL_COURSE_POLLING);
}

TEST(update__polling_fails_by_its_own_record)
{
	struct stand stand;

	begin_polling(&stand);
	record(&stand.watch.poll, 11 * S, 383, 10001);
	assert_int_equal(update(&stand, 11 * S), LULL_COURSE_POLLING);
	record(&stand.watch.poll, 11 * S, 384, 10000);
	assert_int_equal(update(&stand, 11 * S), LULL_COURSE_POLLING);
	/* 30 s of rests whatever happens, then twice as many, 300 at most */
	for (uint64_t hold_s = 30, now_s = 11; hold_s < 2000; hold_s *= 2) {
		uint64_t real_s = hold_s < 300 ? hold_s : 300;

		record(&stand.watch.poll, now_s * S, 384, 10001);
		assert_int_equal(update(&stand, now_s * S), LULL_COURSE_RESTING);
		assert_false(stand.watch.polling);
		now_s += real_s;
		record(&stand.watch.recent, now_s * S - 1, 640, 40001);
		assert_int_equal(update(&stand, now_s * S - 1), LULL_COURSE_RESTING);
		record(&stand.watch.recent, now_s * S, 640, 40001);
		assert_int_equal(update(&stand, now_s * S), LULL_COURSE_POLLING);
	}
}

/* After 4 s resting is tried for two; each failure doubles the wait, a minute or so at most. */
TEST(update__resting_is_tried_again)
{
	struct stand stand;
	uint64_t now_ns = 10 * S;

	begin_polling(&stand);
	for (uint64_t hold_s = 4; hold_s < 300; hold_s *= 2) {
		now_ns += (hold_s < 64 ? hold_s : 64) * S;
		assert_int_equal(update(&stand, now_ns - 1), LULL_COURSE_POLLING);
		assert_int_equal(update(&stand, now_ns), LULL_COURSE_TRYING);
		assert_false(stand.watch.polling);
		assert_int_equal(stand.watch.rest.time_ns, 0);
		record(&stand.watch.rest, now_ns, 384, 20000);
		assert_int_equal(update(&stand, now_ns), LULL_COURSE_TRYING);
		record(&stand.watch.rest, now_ns, 383, 20001);
		assert_int_equal(update(&stand, now_ns), LULL_COURSE_TRYING);
		record(&stand.watch.rest, now_ns, 384, 20001);
		assert_int_equal(update(&stand, now_ns), LULL_COURSE_POLLING);
		assert_true(stand.course.lost);
	}
	now_ns += 64 * S;
	assert_int_equal(update(&stand, now_ns), LULL_COURSE_TRYING);
	assert_int_equal(update(&stand, now_ns + 2 * S - 1), LULL_COURSE_TRYING);
	assert_int_equal(update(&stand, now_ns + 2 * S), LULL_COURSE_RESTING);
	/* and all holds are as at first */
	assert_int_equal(stand.course.rest_hold_ns, 4 * S);
	assert_int_equal(stand.course.poll_hold_ns, 30 * S);
	/* what is forbidden is not tried, and ends a trial */
	begin_polling(&stand);
	stand.given.forbidden = true;
	assert_int_equal(update(&stand, 20 * S), LULL_COURSE_POLLING);
	stand.given.forbidden = false;
	assert_int_equal(update(&stand, 20 * S), LULL_COURSE_TRYING);
	stand.given.forbidden = true;
	assert_int_equal(update(&stand, 20 * S), LULL_COURSE_POLLING);
	assert_int_equal(stand.course.rest_hold_ns, 8 * S);
}
