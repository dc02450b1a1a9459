/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "idle/bound.h"
#include "idle/rest_ceiling.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

struct stand {
	struct lull_idle_limits limits;
	struct lull_calibration calibration[LULL_IDLE_STATE_COUNT];
	struct lull_load load;
	struct lull_arrival_curve curve;
	struct lull_pace pace;
	struct lull_stall_watch stalls;
	struct lull_idle_counters counters;
	struct lull_idle_view view;
	struct lull_rest_ceiling ceiling;
};

static struct stand stand;

/* 200 us at p99, every packet meets a rest; @p count rests that ended 6 us late at 5 us of CPU. */
static void
begin(uint32_t count)
{
	stand = (struct stand){
		.limits = { .latency_ns = 200 * US,
			    .percentile_ppm = 990000,
			    .loss = LULL_LOSS_ZERO,
			    .rest_ns_max = MS,
			    .ring_pkts = 1024,
			    .burst_pkts = 32,
			    .envelope = LULL_ENVELOPE_STATED,
			    .pps_max = 100000,
			    .idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP) },
		.pace = { .queue_count = 1 },
		.load = { .resting_ppm = 1000000 },
		.view = { .limits = &stand.limits,
			  .calibration = stand.calibration,
			  .load = &stand.load,
			  .curve = &stand.curve,
			  .pace = &stand.pace,
			  .stalls = &stand.stalls,
			  .counters = &stand.counters },
	};
	lull_calibration_init(&stand.calibration[LULL_IDLE_SLEEP]);
	for (uint32_t i = 0; i < count; i++)
		lull_calibration_add(&stand.calibration[LULL_IDLE_SLEEP], 6 * US, 5 * US);
	lull_arrival_curve_init(&stand.curve, 0);
	lull_stall_watch_init(&stand.stalls, 0);
	lull_rest_ceiling_init(&stand.ceiling, &stand.view);
}

/* What the latency bound allows for an objective of so much, the margin taken off. */
static uint64_t
request_ns(uint64_t latency_ns)
{
	struct lull_idle_limits limits = stand.limits;

	limits.latency_ns = latency_ns;
	return lull_bound_request_ns(&limits, &stand.calibration[LULL_IDLE_SLEEP],
				     &stand.stalls.rest, stand.load.busy_ppm,
				     stand.load.resting_ppm, MS);
}

static void
update(uint64_t now_ns)
{
	lull_rest_ceiling_iteration(&stand.ceiling, now_ns);
}

TEST(iteration__calibrates_with_short_rests)
{
	begin(LULL_CALIBRATION_READY - 1);
	update(0);
	assert_int_equal(stand.ceiling.state, LULL_VERDICT_CALIBRATING);
	assert_int_equal(stand.ceiling.rest_ns, 50 * US);
	assert_int_equal(stand.ceiling.least_ns, 1);
	stand.limits.latency_ns = 100 * US;
	update(2 * MS);
	assert_int_equal(stand.ceiling.rest_ns, 25 * US);
	stand.limits.rest_ns_max = 7 * US;
	update(4 * MS);
	assert_int_equal(stand.ceiling.rest_ns, 7 * US);
	/* no ring left: not even that */
	stand.limits.held_pkts = 1023;
	update(6 * MS);
	assert_int_equal(stand.ceiling.rest_ns, 0);
	assert_int_equal(stand.ceiling.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(stand.ceiling.binding, LULL_BOUND_RING);
}

TEST(iteration__rises_by_an_eighth_and_falls_at_once)
{
	uint64_t goal_ns, rest_ns = 0;

	begin(1000);
	stand.load.serve_ns = 3 * US;
	goal_ns = request_ns(200 * US - 3 * US - 6250);
	assert_in_range(goal_ns, 180 * US, 190 * US);
	for (uint64_t step = 0; step < 20; step++) {
		update(step * 2 * MS);
		rest_ns += ((goal_ns - rest_ns) >> 3) + US;
		rest_ns = rest_ns < goal_ns ? rest_ns : goal_ns;
		assert_int_equal(stand.ceiling.rest_ns, rest_ns);
		/* between times nothing changes */
		update(step * 2 * MS + 2 * MS - 1);
		assert_int_equal(stand.ceiling.rest_ns, rest_ns);
	}
	for (uint64_t step = 20; step < 60; step++)
		update(step * 2 * MS);
	assert_int_equal(stand.ceiling.rest_ns, goal_ns);
	assert_int_equal(stand.ceiling.state, LULL_VERDICT_FEASIBLE);
	assert_int_equal(stand.ceiling.binding, LULL_BOUND_LATENCY);
	stand.limits.latency_ns = 100 * US;
	update(120 * MS);
	assert_int_equal(stand.ceiling.rest_ns, request_ns(100 * US - 3 * US - 3125));
	stand.limits.rest_ns_max = 50 * US;
	update(122 * MS);
	assert_int_equal(stand.ceiling.rest_ns, 50 * US);
	assert_int_equal(stand.ceiling.binding, LULL_BOUND_CAP);
	stand.limits.pps_max = 24800000; /* 992 packets in 40 us, 6 of them late */
	update(124 * MS);
	assert_int_equal(stand.ceiling.binding, LULL_BOUND_RING);
	assert_int_equal(stand.ceiling.rest_ns, lull_rest_ceiling_ring_ns(&stand.ceiling));
	assert_in_range(stand.ceiling.rest_ns, 33 * US, 34 * US);
}

/* Rests cost 80 us: nothing below 94 us or so is worth making, a quarter more after a refusal. */
TEST(iteration__refuses_what_does_not_pay)
{
	uint64_t least_ns;

	begin(1000);
	stand.calibration[LULL_IDLE_SLEEP].cost_ns = 80 * US;
	least_ns = lull_bound_break_even_ns(&stand.calibration[LULL_IDLE_SLEEP]);
	stand.ceiling.rest_ns = 1;
	stand.limits.rest_ns_max = least_ns;
	update(0);
	assert_int_equal(stand.ceiling.state, LULL_VERDICT_FEASIBLE);
	assert_int_equal(stand.ceiling.rest_ns, least_ns);
	assert_int_equal(stand.ceiling.least_ns, least_ns);
	stand.limits.rest_ns_max = least_ns - 1;
	update(2 * MS);
	assert_int_equal(stand.ceiling.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(stand.ceiling.rest_ns, 0);
	stand.limits.rest_ns_max = least_ns + least_ns / 4 - 1;
	update(4 * MS);
	assert_int_equal(stand.ceiling.rest_ns, 0);
	stand.limits.rest_ns_max = least_ns + least_ns / 4;
	update(6 * MS);
	assert_int_equal(stand.ceiling.state, LULL_VERDICT_FEASIBLE);
	/* no shorter than worth it, however slowly it rises */
	assert_int_equal(stand.ceiling.rest_ns, least_ns);
	/* an objective below what wake-ups take */
	stand.limits.latency_ns = 5 * US;
	update(8 * MS);
	assert_int_equal(stand.ceiling.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(stand.ceiling.binding, LULL_BOUND_OVERSHOOT);
	/* nothing is left of the objective beside the serving */
	stand.limits.latency_ns = 200 * US;
	stand.load.serve_ns = 200 * US;
	update(10 * MS);
	assert_int_equal(stand.ceiling.state, LULL_VERDICT_INFEASIBLE);
}

TEST(iteration__does_not_sleep_where_none_is_offered)
{
	begin(1000);
	update(0);
	assert_true(stand.ceiling.rest_ns > 0);
	stand.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE);
	update(2 * MS);
	assert_int_equal(stand.ceiling.rest_ns, 0);
	assert_int_equal(stand.ceiling.binding, LULL_BOUND_NONE);
	assert_int_equal(stand.ceiling.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(lull_rest_ceiling_fallback(&stand.ceiling), LULL_IDLE_PAUSE);
	stand.limits.idle_states |= LULL_IDLE_STATE_BIT(LULL_IDLE_MONITOR);
	assert_int_equal(lull_rest_ceiling_fallback(&stand.ceiling), LULL_IDLE_MONITOR);
	stand.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP);
	assert_int_equal(lull_rest_ceiling_fallback(&stand.ceiling), LULL_IDLE_NONE);
}

static bool
probes(uint64_t now_ns, uint32_t pkts)
{
	struct lull_idle_iteration iteration = { .now_ns = now_ns, .pkt_count = pkts };

	return lull_rest_ceiling_probes(&stand.ceiling, &iteration);
}

/* On an idle queue, every 20 ms; every 200 where loss is promised, and never before a rest was. */
TEST(probes__now_and_then_while_it_does_not_sleep)
{
	begin(1000);
	assert_false(probes(1000 * MS, 1));
	assert_true(probes(1000 * MS, 0));
	assert_false(probes(1200 * MS - 1, 0));
	assert_true(probes(1200 * MS, 0));
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	assert_true(probes(1400 * MS, 0));
	assert_false(probes(1420 * MS - 1, 0));
	assert_true(probes(1420 * MS, 0));
	stand.limits.envelope = LULL_ENVELOPE_LINK;
	stand.limits.loss = LULL_LOSS_TOLERATE;
	assert_true(probes(1440 * MS, 0));
	assert_true(probes(1460 * MS, 0));
	stand.ceiling.rest_ns = 1;
	assert_false(probes(2000 * MS, 0));
	stand.ceiling.rest_ns = 0;
	stand.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE);
	assert_false(probes(3000 * MS, 0));
	begin(0);
	assert_false(probes(1000 * MS, 0));
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	assert_true(probes(1000 * MS, 0));
}

static void
wake(enum lull_idle_state idle_state, enum lull_wake_reason reason, uint64_t real_ns)
{
	struct lull_wake wake = { .rest = { .idle_state = idle_state, .limit_ns = 100 * US },
				  .begin_ns = 7 * MS,
				  .end_ns = 7 * MS + real_ns,
				  .reason = reason };

	lull_rest_ceiling_wake(&stand.ceiling, &wake);
}

TEST(wake__a_late_one_takes_a_quarter)
{
	uint64_t late_ns, rest_ns;

	begin(1000);
	for (uint64_t step = 0; step < 60; step++)
		update(step * 2 * MS);
	rest_ns = stand.ceiling.rest_ns;
	late_ns = 100 * US + 4 * stand.calibration[LULL_IDLE_SLEEP].p99_ns;
	stand.limits.latency_ns = 50 * US;
	wake(LULL_IDLE_SLEEP, LULL_WAKE_TIMER, late_ns);
	wake(LULL_IDLE_SLEEP, LULL_WAKE_PACKET, late_ns + 1);
	wake(LULL_IDLE_PAUSE, LULL_WAKE_TIMER, late_ns + 1);
	stand.limits.latency_ns = late_ns + 1;
	wake(LULL_IDLE_SLEEP, LULL_WAKE_TIMER, late_ns + 1);
	stand.limits.latency_ns = late_ns;
	stand.ceiling.state = LULL_VERDICT_CALIBRATING;
	wake(LULL_IDLE_SLEEP, LULL_WAKE_TIMER, late_ns + 1);
	assert_int_equal(stand.ceiling.rest_ns, rest_ns);
	assert_int_equal(stand.counters.backoffs, 0);
	stand.ceiling.state = LULL_VERDICT_FEASIBLE;
	wake(LULL_IDLE_SLEEP, LULL_WAKE_TIMER, late_ns + 1);
	assert_int_equal(stand.ceiling.rest_ns, rest_ns - rest_ns / 4);
	assert_int_equal(stand.counters.backoffs, 1);
}

TEST(miss__halves_what_the_ring_allows_at_once)
{
	uint64_t ring_ns;

	begin(1000);
	update(0);
	ring_ns = lull_rest_ceiling_ring_ns(&stand.ceiling);
	stand.limits.loss = LULL_LOSS_TOLERATE;
	lull_rest_ceiling_miss(&stand.ceiling, MS);
	stand.limits.loss = LULL_LOSS_ZERO;
	assert_int_equal(lull_rest_ceiling_ring_ns(&stand.ceiling), ring_ns);
	assert_int_equal(stand.counters.backoffs, 0);
	lull_rest_ceiling_miss(&stand.ceiling, MS);
	assert_int_equal(lull_rest_ceiling_ring_ns(&stand.ceiling), ring_ns / 2);
	assert_int_equal(stand.counters.backoffs, 1);
	/* at once: not when the 2 ms are over */
	stand.limits.rest_ns_max = 1;
	update(MS);
	assert_int_equal(stand.ceiling.binding, LULL_BOUND_CAP);
	/* given back with time */
	update(200 * MS);
	assert_true(lull_rest_ceiling_ring_ns(&stand.ceiling) > ring_ns / 2);
}
