/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "idle/bound.h"

static const struct lull_pace alone = { .queue_count = 1 };
static const struct lull_idle_limits usual = {
	.latency_ns = 200000,
	.percentile_ppm = 990000,
	.ring_pkts = 1024,
	.burst_pkts = 32,
	.envelope = LULL_ENVELOPE_LINK,
	.pps_max = 14880952,
};

/* A calibration that knows only these overshoots. */
static void
learn(struct lull_calibration *calibration, uint32_t count, uint64_t overshoot_ns)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		lull_calibration_add(calibration, overshoot_ns, 5000);
}

TEST(pps__learned_is_what_fills_the_ring_in_its_window)
{
	struct lull_idle_limits limits = usual;
	struct lull_arrival_windows windows = { 0 };
	struct lull_arrival_curve curve;

	lull_arrival_curve_init(&curve, 0);
	assert_int_equal(lull_bound_pps(&limits, &curve), 14880952);
	limits.envelope = LULL_ENVELOPE_LEARNED;
	assert_int_equal(lull_bound_pps(&limits, &curve), LULL_BOUND_PPS_FLOOR);
	/* 5 Mpps for long: doubled */
	for (uint64_t us = 1; us <= 100000; us++)
		lull_arrival_curve_add(&curve, &windows, (us - 1) * 1000, us * 1000, 5);
	assert_in_range(lull_bound_pps(&limits, &curve), 9900000, 10200000);
}

TEST(learned_ns__a_burst_does_not_go_on_for_ever)
{
	struct lull_idle_limits limits = usual;
	struct lull_arrival_windows windows = { 0 };
	struct lull_arrival_curve curve;

	limits.envelope = LULL_ENVELOPE_LEARNED;
	lull_arrival_curve_init(&curve, 0);
	/* nothing seen: what the floor allows, less the overshoot */
	assert_int_equal(lull_bound_learned_ns(&limits, &alone, &curve, 0, 0), 992000);
	assert_int_equal(lull_bound_learned_ns(&limits, &alone, &curve, 20000, 0), 972000);
	/* 7 packets in 0.3 us, 23 Mpps, once in a millisecond: they do not fill a ring */
	for (uint64_t ms = 1; ms <= 100; ms++)
		lull_arrival_curve_add(&curve, &windows, ms * 1000000, ms * 1000000 + 300, 7);
	assert_int_equal(lull_bound_learned_ns(&limits, &alone, &curve, 0, 0), 992000);
	/* 400 at once: twice that fit, three times do not */
	lull_arrival_curve_add(&curve, &windows, 200000000, 200001000, 400);
	assert_int_equal(lull_bound_learned_ns(&limits, &alone, &curve, 0, 0), 992000);
	limits.ring_pkts = 512;
	assert_in_range(lull_bound_learned_ns(&limits, &alone, &curve, 0, 0), 0, 1000);
	/* without the margin they fit beside the rare wake-ups */
	limits.ring_pkts = 1024;
	assert_in_range(lull_bound_learned_ns(&limits, &alone, &curve, 0, 5000000), 0, 992000);
}

TEST(request_ns__stalls_spend_what_rests_may_not)
{
	struct lull_calibration calibration;
	struct lull_stall_watch watch;
	uint64_t free_ns, spent_ns;

	lull_calibration_init(&calibration);
	learn(&calibration, 1000, 6000);
	lull_stall_watch_init(&watch, 0);
	free_ns = lull_bound_request_ns(&usual, &calibration, &watch.rest, 0, 1000000, 1000000);
	assert_int_equal(free_ns,
			 lull_bound_request_ns(&usual, &calibration, NULL, 0, 1000000, 1000000));
	/* 5 ms of 1 s: half of the budget of 1 % */
	lull_stall_watch_fine(&watch, 994800000, 0);
	lull_stall_watch_stall(&watch, 1000000000, 5200000);
	spent_ns = lull_bound_request_ns(&usual, &calibration, &watch.rest, 0, 1000000, 1000000);
	assert_true(spent_ns < free_ns);
	assert_in_range(spent_ns, free_ns - 2000, free_ns - 500);
	/* prediction grows alike, and in the end is the stall itself */
	assert_in_range(
		lull_bound_predict_ns(&usual, &calibration, &watch.rest, 0, 1000000, free_ns),
		200000, 203000);
	lull_stall_watch_stall(&watch, 1020000000, 20000000);
	assert_in_range(
		lull_bound_predict_ns(&usual, &calibration, &watch.rest, 0, 1000000, free_ns),
		5000000, 20000000);
	assert_true(lull_bound_request_ns(&usual, &calibration, &watch.rest, 0, 1000000, 1000000) <
		    spent_ns);
}

/* ring time for link rate x descriptors, within 1 % of (n - burst) / pps - overshoot. */
TEST(ring_ns__clamp_table)
{
	static const double gbps[] = { 0.1, 1, 2.5, 10, 25, 40, 100, 400 };
	static const uint32_t rings[] = { 64, 128, 512, 1024, 4096, 8192 };
	struct lull_idle_limits limits = usual;
	uint32_t g, r;

	for (g = 0; g < sizeof(gbps) / sizeof(gbps[0]); g++) {
		for (r = 0; r < sizeof(rings) / sizeof(rings[0]); r++) {
			uint64_t pps = (uint64_t)(gbps[g] * 1e9 / (84 * 8));
			double exact = (rings[r] - 32) / (gbps[g] * 1e9 / 672) * 1e9 - 20000;
			uint64_t got;

			limits.ring_pkts = rings[r];
			got = lull_bound_ring_ns(&limits, &alone, pps, 20000);
			if (exact <= 0) {
				assert_int_equal(got, 0);
			} else {
				assert_true((double)got <= exact * 1.01 + 1);
				assert_true((double)got >= exact * 0.99 - 1);
			}
		}
	}
}

TEST(ring_ns__held_descriptors_count)
{
	struct lull_idle_limits limits = usual;

	limits.held_pkts = 1024 - 32;
	assert_int_equal(lull_bound_ring_ns(&limits, &alone, 1000000, 0), 0);
	limits.held_pkts = 1024 - 33;
	assert_int_equal(lull_bound_ring_ns(&limits, &alone, 1000000, 0), 1000);
}

/* Iterations with a burst of each of 16 queues, 30 ns per packet; an empty one takes 700 ns. */
static struct lull_pace
sixteen(uint64_t pkt_ns)
{
	struct lull_pace pace = { .queue_count = 16 };

	for (uint32_t i = 0; i < 400; i++) {
		lull_pace_empty(&pace, 700);
		lull_pace_busy(&pace, 700 + 512 * pkt_ns, 512, true);
	}
	return pace;
}

/* What comes while the other queues are served: a burst of each, or less where that is measured. */
TEST(iteration_pkts__bounds_a_whole_iteration)
{
	const struct lull_pace unknown = { .queue_count = 16 };
	struct lull_pace pace = sixteen(30); /* 16 us */

	assert_int_equal(lull_bound_iteration_pkts(&usual, &alone, 14880952), 32);
	assert_int_equal(lull_bound_iteration_pkts(&usual, &unknown, 14880952), 512);
	/* twice what is measured, for costs may double before anybody sees it */
	assert_in_range(lull_bound_iteration_pkts(&usual, &pace, 14880952), 2 * 236, 2 * 248);
	assert_int_equal(lull_bound_iteration_pkts(&usual, &pace, 500000), 32);
	/* too slow for the rate: nothing says that it takes only the bursts */
	pace = sixteen(100);
	assert_true(lull_bound_iteration_pkts(&usual, &pace, 14880952) > 700);
	/* a few dear packets seen: more than the bursts, which is all a fast loop takes */
	pace = (struct lull_pace){ .queue_count = 16 };
	lull_pace_empty(&pace, 700);
	lull_pace_busy(&pace, 700 + 3 * 200, 3, false);
	assert_int_equal(lull_bound_iteration_pkts(&usual, &pace, 14880952), 512);
}

/*
 * Right after a rest packets are four times as dear. Iterations of a burst take 4.8 us then, which
 * bring 72 packets, 40 more than they take; and twice, before the rest and after it.
 */
TEST(iteration_pkts__counts_dear_ones_after_rests)
{
	struct lull_pace pace = { .queue_count = 1 };

	for (uint32_t i = 0; i < 400; i++) {
		lull_pace_empty(&pace, 100);
		lull_pace_busy(&pace, 1200, 32, true);
		lull_pace_busy(&pace, 380, 8, false);
	}
	assert_int_equal(lull_bound_iteration_pkts(&usual, &pace, 14880952), 32);
	for (uint32_t i = 0; i < 20; i++)
		lull_pace_after_rest(&pace, 100 + 4 * 280, 8);
	assert_in_range(lull_bound_iteration_pkts(&usual, &pace, 14880952), 32 + 2 * 39,
			32 + 2 * 41);
	/* as dear as others */
	pace.cold[3] = (struct lull_pace_cold){ 0 };
	for (uint32_t i = 0; i < 20; i++)
		lull_pace_after_rest(&pace, 380, 8);
	assert_int_equal(lull_bound_iteration_pkts(&usual, &pace, 14880952), 32);
}

TEST(ring_ns__leaves_room_for_an_iteration)
{
	const struct lull_pace unknown = { .queue_count = 16 };
	struct lull_pace pace = sixteen(30);
	uint64_t room_pkts = 1024 - lull_bound_iteration_pkts(&usual, &pace, 10000000);

	assert_int_equal(lull_bound_ring_ns(&usual, &pace, 10000000, 5000), room_pkts * 100 - 5000);
	assert_int_equal(lull_bound_ring_ns(&usual, &unknown, 10000000, 5000), 51200 - 5000);
	assert_true(room_pkts < 1024 - 150);
}

TEST(learned_ns__leaves_time_for_an_iteration)
{
	struct lull_pace pace = sixteen(30);
	struct lull_arrival_curve curve;
	uint64_t iteration_ns = lull_pace_full_ns(&pace, 32);

	lull_arrival_curve_init(&curve, 0);
	assert_int_equal(lull_bound_learned_ns(&usual, &pace, &curve, 20000, 0),
			 972000 - iteration_ns);
}

TEST(latency_ns__is_the_formula)
{
	/* S = T / (1 - e (1 - rho) / f) */
	assert_in_range(lull_bound_latency_ns(&usual, 0, 1000000), 202020 - 1, 202020 + 1);
	assert_in_range(lull_bound_latency_ns(&usual, 500000, 100000), 210526 - 1, 210526 + 1);
	/* few packets meet a rest: only the drain bounds it, T / rho */
	assert_int_equal(lull_bound_latency_ns(&usual, 100000, 5000), 2000000);
	assert_true(lull_bound_latency_ns(&usual, 0, 5000) == UINT64_MAX);
	/* never beyond T / rho */
	assert_int_equal(lull_bound_latency_ns(&usual, 999999, 1000000), 200000);
}

TEST(request_ns__constant_overshoot_gives_the_formula)
{
	struct lull_calibration calibration;
	uint64_t request;

	lull_calibration_init(&calibration);
	learn(&calibration, 1000, 20000);
	request = lull_bound_request_ns(&usual, &calibration, NULL, 0, 1000000, 1000000);
	/* bins are an eighth wide at most: the real rest is within that of T / (1 - e) */
	assert_in_range(request, 202020 - 20000 * 5 / 4, 202020 - 20000);
}

TEST(request_ns__late_wakeups_shorten_and_forbid)
{
	struct lull_calibration calibration;
	uint64_t good, fair;

	lull_calibration_init(&calibration);
	learn(&calibration, 980, 6000);
	good = lull_bound_request_ns(&usual, &calibration, NULL, 0, 1000000, 1000000);
	learn(&calibration, 20, 106000);
	fair = lull_bound_request_ns(&usual, &calibration, NULL, 0, 1000000, 1000000);
	assert_true(fair < good);
	assert_true(fair > good / 2);
	learn(&calibration, 80, 400000);
	assert_int_equal(lull_bound_request_ns(&usual, &calibration, NULL, 0, 1000000, 1000000), 0);
}

TEST(predict_ns__request_at_the_bound_predicts_the_objective)
{
	struct lull_calibration calibration;
	uint32_t busy_ppm;

	lull_calibration_init(&calibration);
	learn(&calibration, 900, 6000);
	learn(&calibration, 95, 20000);
	learn(&calibration, 5, 90000);
	for (busy_ppm = 0; busy_ppm <= 900000; busy_ppm += 100000) {
		uint32_t resting_ppm = 1000000 - busy_ppm;
		uint64_t request = lull_bound_request_ns(&usual, &calibration, NULL, busy_ppm,
							 resting_ppm, 1000000);
		uint64_t predicted = lull_bound_predict_ns(&usual, &calibration, NULL, busy_ppm,
							   resting_ppm, request);

		assert_true(request > 0);
		assert_in_range(predicted, 0, 200000 * 101 / 100);
	}
}

TEST(predict_ns__grows_with_the_request)
{
	struct lull_calibration calibration;
	uint64_t request, last = 0;

	lull_calibration_init(&calibration);
	learn(&calibration, 1000, 10000);
	for (request = 1000; request < 1000000; request += 50000) {
		uint64_t predicted =
			lull_bound_predict_ns(&usual, &calibration, NULL, 0, 1000000, request);

		assert_true(predicted > last);
		assert_in_range(predicted, request, request + 20000);
		last = predicted;
	}
}

TEST(break_even_ns__saves_a_fifth)
{
	struct lull_calibration calibration;

	lull_calibration_init(&calibration);
	calibration.cost_ns = 16000;
	calibration.p50_ns = 5000;
	assert_int_equal(lull_bound_break_even_ns(&calibration), 15000);
	calibration.p50_ns = 30000;
	assert_int_equal(lull_bound_break_even_ns(&calibration), 1);
}

TEST(ring_ns__is_what_is_left_of_the_ring)
{
	struct lull_idle_limits limits = usual;

	assert_true(lull_bound_ring_ns(&limits, &alone, 0, 0) == UINT64_MAX);
	assert_int_equal(lull_bound_ring_ns(&limits, &alone, 1000000, 991999), 1);
	assert_int_equal(lull_bound_ring_ns(&limits, &alone, 1000000, 992000), 0);
	assert_int_equal(lull_bound_ring_ns(&limits, &alone, 1000000, 992001), 0);
	limits.held_pkts = 991;
	assert_int_equal(lull_bound_ring_ns(&limits, &alone, 1000000, 0), 1000);
	limits.held_pkts = 992;
	assert_int_equal(lull_bound_ring_ns(&limits, &alone, 1000000, 0), 0);
	limits.held_pkts = 2000;
	assert_int_equal(lull_bound_ring_ns(&limits, &alone, 1000000, 0), 0);
}

TEST(learned_ns__other_queues_take_their_time)
{
	struct lull_idle_limits limits = usual;
	struct lull_pace pace = sixteen(30);
	struct lull_arrival_curve curve;
	uint64_t iteration_ns = lull_pace_full_ns(&pace, 32);

	limits.envelope = LULL_ENVELOPE_LEARNED;
	lull_arrival_curve_init(&curve, 0);
	assert_true(iteration_ns > 10000);
	assert_int_equal(lull_bound_learned_ns(&limits, &pace, &curve, 5000, 0),
			 992000 - 5000 - iteration_ns);
	pace.queue_count = 2;
	iteration_ns = lull_pace_full_ns(&pace, 32);
	assert_int_equal(lull_bound_learned_ns(&limits, &pace, &curve, 0, 0),
			 992000 - iteration_ns);
	/* of one queue the burst is all */
	pace.queue_count = 1;
	assert_int_equal(lull_bound_learned_ns(&limits, &pace, &curve, 0, 0), 992000);
	/* no time is left */
	assert_int_equal(lull_bound_learned_ns(&limits, &alone, &curve, 992000, 0), 0);
	assert_int_equal(lull_bound_learned_ns(&limits, &alone, &curve, 991999, 0), 1);
	limits.held_pkts = 992;
	assert_int_equal(lull_bound_learned_ns(&limits, &alone, &curve, 0, 0), 0);
	limits.held_pkts = 991;
	assert_int_equal(lull_bound_learned_ns(&limits, &alone, &curve, 0, 0), 1000);
	limits.held_pkts = 1024;
	assert_int_equal(lull_bound_learned_ns(&limits, &alone, &curve, 0, 0), 0);
	/* and no rate is infinite */
	assert_int_equal(lull_bound_pps(&limits, &curve), LULL_BOUND_PPS_FLOOR);
	limits.envelope = LULL_ENVELOPE_STATED;
	limits.pps_max = 0;
	limits.held_pkts = 0;
	assert_int_equal(lull_bound_pps(&limits, &curve), LULL_BOUND_PPS_FLOOR);
}
