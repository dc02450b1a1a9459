/* SPDX-License-Identifier: BSD-3-Clause */
/* An idle object at its edges: what is cut, charged and counted to the nanosecond. */
#include "idle/blame.h"
#include "idle/event_rest.h"
#include "idle_stand.h"

static uint64_t missed_pkts, missed_ns;
static struct lull_idle_iteration saw;

static void
noting_miss(void *state, uint64_t now_ns, uint64_t pkts)
{
	(void)state;
	missed_ns = now_ns;
	missed_pkts += pkts;
}

static struct lull_rest
noting_plan(void *state, const struct lull_idle_iteration *iteration)
{
	(void)state;
	saw = *iteration;
	return answer;
}

static struct lull_idle_governor noting;

static struct lull_idle *
noting_begin(struct stand *stand, const struct lull_idle_limits *limits)
{
	noting = puppet;
	noting.miss = noting_miss;
	noting.plan = noting_plan;
	missed_pkts = 0;
	stand_begin(stand, limits);
	assert_int_equal(lull_idle_change(stand->idle, &noting, limits), 0);
	return stand->idle;
}

TEST(charge__tells_the_governor_of_its_rests_alone)
{
	struct lull_idle_limits limits = { 0 };
	struct lull_loss_charge charge = { .others = 3 };
	const struct lull_idle_counters *counters;
	struct stand stand;

	noting_begin(&stand, &limits);
	counters = lull_idle_counters(stand.idle);
	lull_idle_charge(stand.idle, 7, &charge);
	assert_int_equal(counters->misses_other, 3);
	assert_int_equal(counters->misses, 0);
	assert_int_equal(missed_pkts, 0);
	charge = (struct lull_loss_charge){ .others = 1, .rests = 1 };
	lull_idle_charge(stand.idle, 8, &charge);
	assert_int_equal(counters->misses_other, 4);
	assert_int_equal(counters->misses, 1);
	assert_int_equal(missed_pkts, 1);
	assert_int_equal(missed_ns, 8);
	lull_idle_miss(stand.idle, 9, 5);
	assert_int_equal(counters->misses_other, 9);
	assert_int_equal(missed_pkts, 1);
	free(stand.memory);
}

/* Of losses that are told late, those of a rest that was longer ago count as well. */
TEST(suspects__reach_back_by_the_lag)
{
	struct lull_idle_limits limits = { .loss_lag_ns = 100 * US };
	struct lull_rest rest;
	struct stand stand;
	struct lull_idle *idle = noting_begin(&stand, &limits);

	answer = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = 50 * US };
	rest = iteration(&stand, 1000 * US, 0, 0);
	assert_false(lull_idle_undecided(idle));
	wake(&stand, rest, 1000 * US, 1050 * US, LULL_WAKE_TIMER);
	assert_true(lull_idle_undecided(idle));
	answer = lull_rest_none();
	iteration(&stand, 1050 * US, 31, 0);
	assert_false(lull_idle_undecided(idle));
	assert_true(lull_idle_suspects(idle, 1150 * US, 2000 * US));
	assert_false(lull_idle_suspects(idle, 1150 * US + 1, 2000 * US));
	/* the lag is no longer than the time before */
	assert_true(lull_idle_suspects(idle, 50 * US, 2000 * US));
	free(stand.memory);
}

TEST(plan__cuts_each_state_by_its_own)
{
	struct lull_idle_limits limits = {
		.rest_ns_max = 100 * US,
		.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT) |
			       LULL_IDLE_STATE_BIT(LULL_IDLE_MONITOR) |
			       LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE),
	};
	struct stand stand;

	noting_begin(&stand, &limits);
	/* the cap is not for rests that a packet ends */
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_INTERRUPT,
				     .limit_ns = LULL_EVENT_NS + 1 };
	assert_int_equal(iteration(&stand, 1000 * US, 0, 0).limit_ns, LULL_EVENT_NS);
	assert_int_equal(lull_idle_counters(stand.idle)->rests_cut, 1);
	answer.idle_state = LULL_IDLE_MONITOR;
	assert_int_equal(iteration(&stand, 1000 * US, 0, 0).limit_ns, LULL_EVENT_NS);
	answer.limit_ns = LULL_EVENT_NS;
	assert_int_equal(iteration(&stand, 1000 * US, 0, 0).limit_ns, LULL_EVENT_NS);
	assert_int_equal(lull_idle_counters(stand.idle)->rests_cut, 2);
	/* only what the kernel ends is late: 40 us, as nobody has measured */
	assert_int_equal(iteration(&stand, 1000 * US, 0, 1000 * US + 1).limit_ns, 1);
	answer.idle_state = LULL_IDLE_PAUSE;
	assert_int_equal(iteration(&stand, 1000 * US, 0, 1030 * US).limit_ns, 30 * US);
	assert_int_equal(iteration(&stand, 1000 * US, 0, 1000 * US).idle_state, LULL_IDLE_NONE);
	answer.idle_state = LULL_IDLE_INTERRUPT;
	assert_int_equal(iteration(&stand, 1000 * US, 0, 1040 * US).idle_state, LULL_IDLE_NONE);
	assert_int_equal(iteration(&stand, 1000 * US, 0, 1040 * US + 1).limit_ns, 1);
	answer = (struct lull_rest){ .idle_state = LULL_IDLE_PAUSE, .limit_ns = 200 * US };
	assert_int_equal(iteration(&stand, 1000 * US, 0, 0).limit_ns, 100 * US);
	/* neither it nor the pause is on offer */
	limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP);
	assert_int_equal(lull_idle_change(stand.idle, NULL, &limits), 0);
	assert_int_equal(iteration(&stand, 1000 * US, 0, 0).idle_state, LULL_IDLE_NONE);
	free(stand.memory);
}

/* A duty is due when a sleep could end after it. */
TEST(plan__due_at_the_edge)
{
	struct lull_idle_limits limits = { 0 };
	struct stand stand;

	noting_begin(&stand, &limits);
	answer = lull_rest_none();
	iteration(&stand, 1000 * US, 0, 0);
	assert_false(saw.due);
	iteration(&stand, 1000 * US, 0, 1040 * US);
	assert_true(saw.due);
	iteration(&stand, 1000 * US, 0, 1040 * US + 1);
	assert_false(saw.due);
	free(stand.memory);
}

/* 100 ns each; one that took ten times as long counts as twice and a nanosecond, by an eighth. */
TEST(polled__learns_what_an_empty_one_takes)
{
	struct lull_idle_limits limits = { 0 };
	const struct lull_idle_counters *counters;
	struct stand stand;

	noting_begin(&stand, &limits);
	counters = lull_idle_counters(stand.idle);
	lull_idle_polled(stand.idle, 1010 * US, 100, 100, 0);
	lull_idle_polled(stand.idle, 1110 * US, 100, 100, 0);
	assert_int_equal(counters->empty_ns, 110 * US);
	assert_int_equal(counters->busy_ns, 0);
	/* (7 x 100 + 201) / 8 ns */
	lull_idle_polled(stand.idle, 1121 * US, 20, 10, 32);
	assert_int_equal(counters->empty_ns, 110 * US + 1120);
	assert_int_equal(counters->busy_ns, 11 * US - 1120);
	/* no longer than it all took */
	lull_idle_polled(stand.idle, 1121 * US + 500, 20, 10, 32);
	assert_int_equal(counters->empty_ns, 110 * US + 1620);
	assert_int_equal(counters->busy_ns, 11 * US - 1120);
	/* a clock that went back */
	lull_idle_polled(stand.idle, 1000 * US, 20, 10, 32);
	assert_int_equal(counters->empty_ns + counters->busy_ns, 121 * US + 500);
	assert_int_equal(counters->pkts, 96);
	lull_idle_polled(stand.idle, 1122 * US, 1, 0, 1);
	assert_int_equal(counters->empty_ns + counters->busy_ns, 122 * US);
	free(stand.memory);
}

TEST(wake__counts_to_the_nanosecond)
{
	struct lull_idle_limits limits = { 0 };
	struct lull_rest rest = { .idle_state = LULL_IDLE_INTERRUPT, .limit_ns = 10 * US };
	const struct lull_idle_counters *counters;
	struct stand stand;

	noting_begin(&stand, &limits);
	counters = lull_idle_counters(stand.idle);
	wake(&stand, rest, 1000 * US, 1013 * US, LULL_WAKE_TIMER);
	assert_int_equal(counters->rest_ns, 13 * US);
	assert_int_equal(counters->rest_requested_ns, 10 * US);
	assert_int_equal(counters->overshoot_ns, 3 * US);
	/* a rest that watches holds a packet for as long again */
	rest.watch = true;
	wake(&stand, rest, 1013 * US, 1034 * US, LULL_WAKE_TIMER);
	assert_int_equal(counters->overshoot_ns, 4 * US);
	/* one that ended early, and one that ended before it began */
	wake(&stand, rest, 1034 * US, 1035 * US, LULL_WAKE_PACKET);
	wake(&stand, rest, 1035 * US, 1030 * US, LULL_WAKE_TIMER);
	assert_int_equal(counters->overshoot_ns, 4 * US);
	assert_int_equal(counters->rest_ns, 35 * US);
	assert_int_equal(counters->rests[LULL_IDLE_INTERRUPT], 4);
	assert_int_equal(counters->wakes_packet, 1);
	assert_int_equal(counters->wakes_late, 0);
	assert_int_equal(lull_idle_rest_histogram(stand.idle)->count, 4);
	free(stand.memory);
}
