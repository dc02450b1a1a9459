/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "governor_stand.h"

#define US LULL_NS_PER_US

static uint64_t
phase_iterate(struct governor_stand *stand, uint32_t pkts, uint64_t quiet_until_ns)
{
	struct lull_idle_iteration iteration = {
		.now_ns = stand->now_ns,
		.quiet_until_ns = quiet_until_ns,
		.pkt_count = pkts,
		.queue_pkts_max = pkts,
		.drained = pkts < stand->limits.burst_pkts,
	};
	struct lull_rest rest = stand->governor->plan(stand->state, &iteration);

	return rest.idle_state == LULL_IDLE_NONE ? 0 : rest.limit_ns;
}

TEST(phase_plan__sleeps_until_the_calm_ends)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_phase);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 700 * US), 700 * US);
	/* packets of an unfinished frame do not keep it awake */
	assert_int_equal(phase_iterate(&stand, 31, stand.now_ns + 700 * US), 700 * US);
	/* it wakes earlier by what even rare wake-ups are late, but not by more than half a ms */
	stand.calibration[LULL_IDLE_SLEEP].p99_ns = 60 * US;
	stand.calibration[LULL_IDLE_SLEEP].p999_ns = 90 * US;
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 700 * US), 610 * US);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 90 * US), 0);
	stand.calibration[LULL_IDLE_SLEEP].p999_ns = 5000 * US;
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 700 * US), 200 * US);
}

TEST(phase_plan__polls_when_it_is_time)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_phase);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns), 0);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns - 1), 0);
	/* a sleep of 4 us is none */
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 4 * US), 0);
	/* a full burst: the queue may hold the last packets already */
	assert_int_equal(phase_iterate(&stand, 32, stand.now_ns + 700 * US), 0);
}

/* What a rest lets pile up is worked off before the calm ends, too. */
TEST(phase_plan__wakes_for_the_backlog)
{
	struct governor_stand stand;
	struct lull_wake wake = { .reason = LULL_WAKE_TIMER };

	stand_init(&stand, &lull_idle_phase);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 600 * US), 600 * US);
	wake.begin_ns = stand.now_ns;
	wake.end_ns = stand.now_ns + 600 * US;
	stand.governor->wake(stand.state, &wake);
	/* full bursts for 200 us: a third of the rest, so three quarters of a calm are left */
	stand.now_ns = wake.end_ns;
	assert_int_equal(phase_iterate(&stand, 32, stand.now_ns + 400 * US), 0);
	stand.now_ns += 200 * US;
	assert_in_range(phase_iterate(&stand, 0, stand.now_ns + 400 * US), 299 * US, 300 * US);
}

/* 100 descriptors at 1 Mpps with 32 of a burst to come: 68 us. */
TEST(phase_plan__keeps_to_the_ring)
{
	struct governor_stand stand;
	uint64_t rest_ns;

	stand_init(&stand, &lull_idle_phase);
	stand.view.counters = &(struct lull_idle_counters){ .iterations = 0 };
	stand.limits.ring_pkts = 100;
	stand.limits.pps_max = 1000000;
	rest_ns = phase_iterate(&stand, 0, stand.now_ns + 700 * US);
	assert_in_range(rest_ns, 60 * US, 68 * US);
	/* a loss halves what is used of it */
	stand.governor->miss(stand.state, stand.now_ns, 1);
	assert_in_range(phase_iterate(&stand, 0, stand.now_ns + 700 * US), rest_ns / 2 - US,
			rest_ns / 2 + US);
	assert_int_equal(stand.view.counters->backoffs, 1);
}

TEST(phase_plan__rests_an_eighth_of_the_silence)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_phase);
	assert_int_equal(phase_iterate(&stand, 1, 0), 0);
	stand.now_ns += 80 * US;
	assert_int_equal(phase_iterate(&stand, 0, 0), 10 * US);
	stand.now_ns += 720 * US;
	assert_int_equal(phase_iterate(&stand, 0, 0), 100 * US);
	stand.now_ns += LULL_NS_PER_S;
	assert_int_equal(phase_iterate(&stand, 0, 0), stand.limits.latency_ns);
	/* traffic ends it */
	assert_int_equal(phase_iterate(&stand, 1, 0), 0);
}

/* 5 us are a sleep, a nanosecond less is none; a calm of ten seconds is taken for one. */
TEST(phase_plan__edges_of_a_rest)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_phase);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 5 * US), 5 * US);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 5 * US - 1), 0);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 10 * LULL_NS_PER_S),
			 LULL_NS_PER_S);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + LULL_NS_PER_S - 1),
			 LULL_NS_PER_S - 1);
}

/* A loop that no packet has come to yet has been silent since it began. */
TEST(phase_plan__silence_begins_with_the_first_look)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_phase);
	assert_int_equal(phase_iterate(&stand, 0, 0), 0);
	stand.now_ns += 80 * US;
	assert_int_equal(phase_iterate(&stand, 0, 0), 10 * US);
	stand.now_ns += 80 * US;
	assert_int_equal(phase_iterate(&stand, 0, 0), 20 * US);
	/* one packet ends it */
	assert_int_equal(phase_iterate(&stand, 1, 0), 0);
	stand.now_ns += 80 * US;
	assert_int_equal(phase_iterate(&stand, 0, 0), 10 * US);
}

/* A rest of @p rest_ns, and @p drain_ns until the queue has run short. */
static void
phase_rest(struct governor_stand *stand, uint64_t rest_ns, uint64_t drain_ns)
{
	struct lull_wake wake = { .begin_ns = stand->now_ns, .end_ns = stand->now_ns + rest_ns };

	stand->governor->wake(stand->state, &wake);
	stand->now_ns = wake.end_ns + drain_ns;
}

TEST(phase_plan__learns_the_backlog_exactly)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_phase);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	/* rests below 50 us teach nothing */
	phase_rest(&stand, 50 * US - 1, 50 * US);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 400 * US), 400 * US);
	/* a third, once the queue gives nothing; once, however often it is looked at */
	phase_rest(&stand, 600 * US, 200 * US);
	assert_int_equal(phase_iterate(&stand, 31, stand.now_ns + 400 * US), 400 * US);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 400 * US), 300 * US);
	stand.now_ns += 1000 * US;
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 400 * US), 300 * US);
	/* a rest without a backlog: a 64th of it fades */
	phase_rest(&stand, 600 * US, 0);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 400 * US), 301171);
	/* one that teaches, at the edge: as long as the rest */
	phase_rest(&stand, 50 * US, 50 * US);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 400 * US), 200 * US);
	/* never more than that */
	phase_rest(&stand, 50 * US, 5000 * US);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 400 * US), 200 * US);
}

/* A clock that went back is no backlog; a rest of more than 2^32 ns counts as that. */
TEST(phase_plan__learns_nothing_absurd)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_phase);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	phase_rest(&stand, 50 * US, 0);
	stand.now_ns -= 10 * US;
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 400 * US), 400 * US);
	phase_rest(&stand, 5 * LULL_NS_PER_S, LULL_NS_PER_S);
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 400 * US), 324456);
}

/* What a loss took of the ring comes back, a 64th each tenth of a second. */
TEST(phase_plan__trusts_the_ring_again)
{
	struct governor_stand stand;
	uint64_t half_ns;

	stand_init(&stand, &lull_idle_phase);
	stand.view.counters = &(struct lull_idle_counters){ .iterations = 0 };
	stand.limits.ring_pkts = 100;
	stand.limits.pps_max = 1000000;
	stand.governor->miss(stand.state, stand.now_ns, 1);
	half_ns = phase_iterate(&stand, 0, stand.now_ns + 700 * US);
	stand.now_ns += 100 * LULL_NS_PER_MS - 1;
	assert_int_equal(phase_iterate(&stand, 0, stand.now_ns + 700 * US), half_ns);
	stand.now_ns += 1;
	assert_in_range(phase_iterate(&stand, 0, stand.now_ns + 700 * US), half_ns + half_ns / 65,
			half_ns + half_ns / 63);
}
