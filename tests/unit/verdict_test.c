/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "idle/bound.h"
#include "idle/verdict.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

struct stand {
	struct lull_idle_limits limits;
	struct lull_calibration calibration[LULL_IDLE_STATE_COUNT];
	struct lull_load load;
	struct lull_pace pace;
	struct lull_idle_view view;
	struct lull_waits waits;
	struct lull_verdict verdict;
};

static struct stand *stand;

/* "Feasible" with sleeps of 100 us that end 25 us late and cost 5 us; 20 % of the time is busy. */
static int
setup(void **state)
{
	(void)state;
	stand = calloc(1, sizeof(*stand));
	if (stand == NULL)
		return -1;
	stand->limits = (struct lull_idle_limits){ .latency_ns = 200 * US,
						   .percentile_ppm = 990000,
						   .loss = LULL_LOSS_ZERO,
						   .ring_pkts = 1024,
						   .burst_pkts = 32,
						   .envelope = LULL_ENVELOPE_STATED,
						   .pps_max = 14880952 };
	stand->pace.queue_count = 1;
	stand->load = (struct lull_load){ .busy_ppm = 200000,
					  .resting_ppm = 1000000,
					  .serve_ns = 3 * US };
	lull_calibration_init(&stand->calibration[LULL_IDLE_SLEEP]);
	for (int i = 0; i < 1000; i++)
		lull_calibration_add(&stand->calibration[LULL_IDLE_SLEEP], 6 * US, 5 * US);
	lull_waits_init(&stand->waits, 0);
	stand->view = (struct lull_idle_view){ .limits = &stand->limits,
					       .calibration = stand->calibration,
					       .load = &stand->load,
					       .pace = &stand->pace,
					       .curve = &stand->waits.curve,
					       .stalls = &stand->waits.watch };
	stand->verdict = (struct lull_verdict){ .state = LULL_VERDICT_FEASIBLE,
						.binding = LULL_BOUND_LATENCY,
						.idle_state = LULL_IDLE_SLEEP,
						.rest_ns = 100 * US,
						.overshoot_p50_ns = 25 * US,
						.cost_ns = 5 * US };
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(stand);
	return 0;
}

static const struct lull_verdict *
complete(uint64_t now_ns)
{
	lull_verdict_complete(&stand->verdict, &stand->view, &stand->waits, now_ns);
	return &stand->verdict;
}

/* 32 packets in 3 us are 10.7 Mpps: less than the link brings. */
static void
be_outrun(void)
{
	for (int i = 0; i < 100; i++)
		lull_pace_busy(&stand->pace, 3 * US, 32, true);
}

TEST_WITH(complete__a_rate_that_outruns_the_loop_is_infeasible, setup, teardown)
{
	assert_false(complete(0)->outrun);
	assert_int_equal(stand->verdict.state, LULL_VERDICT_FEASIBLE);
	assert_int_equal(stand->verdict.binding, LULL_BOUND_LATENCY);
	be_outrun();
	assert_true(complete(0)->outrun);
	assert_int_equal(stand->verdict.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(stand->verdict.binding, LULL_BOUND_RING);
}

TEST_WITH(complete__outrun_takes_only_feasible_back, setup, teardown)
{
	be_outrun();
	stand->verdict.state = LULL_VERDICT_CALIBRATING;
	assert_true(complete(0)->outrun);
	assert_int_equal(stand->verdict.state, LULL_VERDICT_CALIBRATING);
	assert_int_equal(stand->verdict.binding, LULL_BOUND_LATENCY);
}

TEST_WITH(complete__a_rate_that_nobody_promised_outruns_nothing, setup, teardown)
{
	be_outrun();
	stand->limits.loss = LULL_LOSS_TOLERATE;
	assert_false(complete(0)->outrun);
	stand->limits.loss = LULL_LOSS_ZERO;
	stand->limits.envelope = LULL_ENVELOPE_LEARNED;
	assert_false(complete(0)->outrun);
	stand->limits.envelope = LULL_ENVELOPE_STATED;
	stand->limits.pps_max = 10000000;
	assert_false(complete(0)->outrun);
	assert_int_equal(stand->verdict.state, LULL_VERDICT_FEASIBLE);
}

/* Of what came within the window, so many waited beyond the objective. */
static void
see(uint64_t pkts, uint64_t late_pkts)
{
	stand->waits.pkts += pkts;
	stand->waits.late_pkts_x256 += late_pkts * 256;
}

TEST_WITH(complete__a_promise_is_taken_back_where_packets_are_late, setup, teardown)
{
	see(500, 500);
	lull_waits_mark(&stand->waits, 0);
	see(1000, 10);
	assert_int_equal(complete(2000 * MS)->late_ppm, 10000);
	assert_int_equal(stand->verdict.state, LULL_VERDICT_FEASIBLE);
	see(1000, 15);
	assert_int_equal(complete(2000 * MS)->late_ppm, 12500);
	assert_int_equal(stand->verdict.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(stand->verdict.binding, LULL_BOUND_OVERSHOOT);
	stand->verdict.state = LULL_VERDICT_SUSPENDED;
	stand->verdict.binding = LULL_BOUND_CAP;
	complete(2000 * MS);
	assert_int_equal(stand->verdict.state, LULL_VERDICT_SUSPENDED);
	assert_int_equal(stand->verdict.binding, LULL_BOUND_CAP);
}

TEST_WITH(complete__late_packets_of_none_are_none, setup, teardown)
{
	stand->verdict.late_ppm = 7;
	assert_int_equal(complete(0)->late_ppm, 7);
	assert_int_equal(stand->verdict.stall_ns, 0);
	assert_int_equal(stand->verdict.stall_rate, 0);
}

/* Those of what the loop does now, resting or polling. */
TEST_WITH(complete__tells_the_stalls_of_what_it_does, setup, teardown)
{
	struct lull_stall_watch *watch = &stand->waits.watch;

	lull_stall_watch_fine(watch, 9 * LULL_NS_PER_S + 980 * MS, 0);
	lull_stall_watch_stall(watch, 0, 20 * MS);
	assert_int_equal(complete(0)->stall_ppm, 1980); /* 19.8 ms of 10 s */
	assert_int_equal(stand->verdict.stall_rate, 100);
	assert_int_equal(stand->verdict.stall_ns, 20 * MS);
	lull_stall_watch_turn_to(watch, true, 0);
	assert_int_equal(complete(0)->stall_ppm, 0);
	assert_int_equal(stand->verdict.stall_ns, 0);
	lull_stall_watch_stall(watch, 0, 2 * MS);
	assert_int_equal(complete(0)->stall_ppm, 1800); /* as if of a second */
	assert_int_equal(stand->verdict.stall_ns, 2 * MS);
}

TEST_WITH(complete__tells_the_arrival_curve, setup, teardown)
{
	struct lull_arrival_windows windows = { 0 };

	lull_arrival_curve_add(&stand->waits.curve, &windows, 10 * MS, 10 * MS + 900, 17);
	complete(0);
	for (uint32_t i = 0; i < LULL_ARRIVAL_SCALES; i++)
		assert_int_equal(stand->verdict.arrival_pkts[i],
				 lull_arrival_curve_pkts(&stand->waits.curve, i));
	assert_int_equal(stand->verdict.arrival_pkts[3], 17);
}

/* Busy, and of the rest of the time 5 us of each rest and its overshoot. */
TEST_WITH(complete__predicts_the_cpu_and_the_wait, setup, teardown)
{
	struct lull_calibration *calibration = &stand->calibration[LULL_IDLE_SLEEP];
	uint64_t real_ns = 100 * US + calibration->p50_ns;

	assert_in_range(calibration->p50_ns, 6 * US, 7 * US);
	assert_in_range(calibration->cost_ns, 5 * US - 50, 5 * US);
	assert_int_equal(complete(0)->predicted_cpu_ppm,
			 200000 + 800000 * calibration->cost_ns / real_ns);
	assert_int_equal(stand->verdict.predicted_ns,
			 lull_bound_predict_ns(&stand->limits, &stand->calibration[LULL_IDLE_SLEEP],
					       &stand->waits.watch.rest, 200000, 1000000,
					       100 * US));
	assert_in_range(stand->verdict.predicted_ns, 100 * US, 107 * US);
	/* no cheaper than nothing, no dearer than polling */
	calibration->cost_ns = 300 * US;
	assert_int_equal(complete(0)->predicted_cpu_ppm, 1000000);
	stand->load.busy_ppm = 1200000;
	calibration->cost_ns = 5 * US;
	assert_int_equal(complete(0)->predicted_cpu_ppm, 1000000);
	stand->load.busy_ppm = 200000;
	stand->verdict.rest_ns = 0;
	calibration->p50_ns = 0;
	assert_int_equal(complete(0)->predicted_cpu_ppm, 1000000);
}

/* A loop that polls keeps its core; what waits, waits for a burst or for a stall. */
TEST_WITH(complete__predicts_for_a_loop_that_polls, setup, teardown)
{
	stand->verdict.idle_state = LULL_IDLE_PAUSE;
	assert_int_equal(complete(0)->predicted_cpu_ppm, 1000000);
	assert_int_equal(stand->verdict.predicted_ns, 3 * US);
	stand->waits.watch.polling = true;
	lull_stall_watch_fine(&stand->waits.watch, 900 * MS, 0);
	lull_stall_watch_stall(&stand->waits.watch, 0, 100 * MS);
	/* one in a hundred waits for 90 ms or more */
	assert_in_range(complete(0)->predicted_ns, 89 * MS, 91 * MS);
}
