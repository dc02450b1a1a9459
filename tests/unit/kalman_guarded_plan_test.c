/* SPDX-License-Identifier: BSD-3-Clause */
/* kalman-guarded with a view that is written down here: each plan to the nanosecond. */
#include "case.h"
#include "governor_stand.h"
#include "idle/bound.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

static struct governor_stand stand;
static struct lull_idle_counters counters;

/* Wake-ups 6 us late that cost 5 us; steps of 10 us, a window of 10 ms. */
static void
begin(uint32_t count)
{
	stand_init(&stand, &lull_idle_spin); /* it has no use for limits that are not there yet */
	stand.governor = &lull_idle_kalman_guarded;
	counters = (struct lull_idle_counters){ 0 };
	stand.view.counters = &counters;
	stand.limits.kalman = (struct lull_kalman_config){
		.step_ns = 10 * US, .window_ns = 10 * MS, .tolerance_ppm = 10000, .row_bytes = 10
	};
	stand.limits.rest_ns_max = 100 * US;
	stand.limits.loss = LULL_LOSS_TOLERATE;
	stand.limits.idle_states |= LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE);
	stand.pace.queue_count = 1;
	stand.load.resting_ppm = LULL_PPM;
	for (int i = 0; i < LULL_IDLE_STATE_COUNT; i++) {
		lull_calibration_init(&stand.calibration[i]);
		lull_calibration_init(&stand.events[i]);
	}
	for (uint32_t i = 0; i < count; i++)
		lull_calibration_add(&stand.calibration[LULL_IDLE_SLEEP], 6 * US, 5 * US);
	memset(stand.state, 0, sizeof(stand.state));
	stand.governor->init(stand.state, &stand.view);
}

static struct lull_rest
plan(uint64_t later_ns, uint32_t pkts)
{
	struct lull_idle_iteration iteration = {
		.pkt_count = pkts,
		.queue_pkts_max = pkts,
		.drained = pkts < 32,
		.size_pkts = pkts,
		.bytes = pkts * 100,
		.bytes_squared = pkts * 10000,
	};

	stand.now_ns += later_ns;
	iteration.now_ns = stand.now_ns;
	return stand.governor->plan(stand.state, &iteration);
}

static struct lull_verdict
verdict(void)
{
	struct lull_verdict verdict = { 0 };

	stand.governor->verdict(stand.state, &verdict);
	return verdict;
}

/* The ceiling rises by an eighth of the way and 1 us per 2 ms. */
TEST(plan__silence_rests_up_to_the_ceiling)
{
	uint64_t rest_ns = 0;

	begin(1000);
	for (int i = 0; i < 10; i++) {
		rest_ns += ((100 * US - rest_ns) >> 3) + US;
		assert_int_equal(plan(2 * MS, 0).limit_ns, rest_ns);
		assert_int_equal(verdict().rest_ns, rest_ns);
		assert_int_equal(verdict().binding, LULL_BOUND_CAP);
		assert_int_equal(verdict().idle_state, LULL_IDLE_SLEEP);
		assert_int_equal(verdict().state, LULL_VERDICT_FEASIBLE);
	}
	assert_int_equal(plan(2 * MS, 32).idle_state, LULL_IDLE_NONE);
}

/* While nothing is known it rests as the ceiling says, whatever comes. */
TEST(plan__calibrates_beside_packets)
{
	begin(LULL_CALIBRATION_READY - 1);
	assert_int_equal(plan(2 * MS, 1).limit_ns, 50 * US);
	assert_int_equal(plan(MS, 1).limit_ns, 50 * US);
	assert_int_equal(verdict().state, LULL_VERDICT_CALIBRATING);
}

/* With packets a rest grows by a step per window, from the least that saves anything. */
TEST(plan__grows_by_a_step_per_window)
{
	struct lull_rest rest;
	uint64_t longest_ns = 0, grown_ns = 0;

	begin(1000);
	stand.limits.kalman.step_ns = 7 * US;
	for (int i = 0; i < 1000; i++) {
		rest = plan(100 * US, 4);
		if (rest.idle_state != LULL_IDLE_SLEEP) {
			assert_int_equal(rest.idle_state, LULL_IDLE_PAUSE);
			assert_int_equal(rest.limit_ns, US);
			continue;
		}
		if (rest.limit_ns > longest_ns) {
			assert_int_equal((rest.limit_ns - longest_ns) % (7 * US), 0);
			if (grown_ns > 0)
				assert_true(stand.now_ns >= grown_ns + 10 * MS);
			grown_ns = stand.now_ns;
			longest_ns = rest.limit_ns;
			assert_int_equal(verdict().binding, LULL_BOUND_NONE);
		}
	}
	/* 9 windows in a tenth of a second */
	assert_in_range(longest_ns, 5 * 7 * US, 10 * 7 * US);
	assert_int_equal(counters.backoffs, 0);
}

/* No sleep fits: the pause, and a probe of 1 ns where the queue is empty. */
TEST(plan__falls_back_where_the_objective_is_too_short)
{
	begin(1000);
	stand.limits.latency_ns = 5 * US;
	assert_int_equal(plan(2 * MS, 1).idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(plan(0, 1).limit_ns, US);
	assert_int_equal(plan(0, 0).idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(plan(20 * MS - 1, 0).idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(plan(1, 0).limit_ns, 1);
	assert_int_equal(verdict().state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(verdict().binding, LULL_BOUND_OVERSHOOT);
	assert_int_equal(verdict().idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(verdict().rest_ns, 0);
	stand.limits.idle_states |= LULL_IDLE_STATE_BIT(LULL_IDLE_MONITOR);
	assert_int_equal(plan(MS, 0).idle_state, LULL_IDLE_MONITOR);
	assert_int_equal(plan(0, 0).limit_ns, 2500);
	stand.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP);
	assert_int_equal(plan(MS, 0).idle_state, LULL_IDLE_NONE);
}
