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
	assert_in_range(lull_bound_iteration_pkts(&usual, &pace, 14880952), 236, 248);
	assert_int_equal(lull_bound_iteration_pkts(&usual, &pace, 1000000), 32);
	/* too slow for the rate: nothing says that it takes only the bursts */
	pace = sixteen(100);
	assert_true(lull_bound_iteration_pkts(&usual, &pace, 14880952) > 700);
	/* a few dear packets seen: more than the bursts, which is all a fast loop takes */
	pace = (struct lull_pace){ .queue_count = 16 };
	lull_pace_empty(&pace, 700);
	lull_pace_busy(&pace, 700 + 3 * 200, 3, false);
	assert_int_equal(lull_bound_iteration_pkts(&usual, &pace, 14880952), 512);
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

/* The mean wait beyond a floor, in words: a loop over the bins in floating point. */
static double
beyond(const struct lull_calibration *calibration, uint64_t request_ns, uint64_t floor_ns)
{
	double sum = 0;

	for (uint32_t bin = 0; bin < LULL_CALIBRATION_STALL_BIN; bin++) {
		double real_ns = (double)(request_ns + lull_calibration_high(bin));

		if (real_ns > (double)floor_ns)
			sum += calibration->bins[bin] * (real_ns - (double)floor_ns);
	}
	return sum;
}

struct case_of_bound {
	struct lull_idle_limits limits;
	struct lull_calibration calibration;
	struct lull_stall_watch watch;
	uint32_t busy_ppm, resting_ppm;
};

static uint64_t
drawn(uint64_t *random, uint64_t low, uint64_t high)
{
	*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
	return low + (*random >> 33) % (high - low + 1);
}

static void
draw(struct case_of_bound *given, uint64_t *random)
{
	given->limits = usual;
	given->limits.latency_ns = drawn(random, 20, 1000) * 1000;
	given->limits.percentile_ppm = (uint32_t)drawn(random, 800000, 999000);
	given->busy_ppm = (uint32_t)drawn(random, 0, 950000);
	given->resting_ppm = (uint32_t)drawn(random, 100, 1000000);
	lull_calibration_init(&given->calibration);
	for (uint64_t i = drawn(random, 32, 400); i > 0; i--)
		lull_calibration_add(&given->calibration,
				     drawn(random, 10, 1u << drawn(random, 4, 20)), 5000);
	/* late ones beyond half a millisecond are stalls, and stand in another record */
	lull_stall_watch_init(&given->watch, 0);
	lull_stall_watch_fine(&given->watch, drawn(random, 1, 20) * LULL_NS_PER_S, 0);
	for (uint64_t i = drawn(random, 0, 5); i > 0; i--)
		lull_stall_watch_stall(&given->watch, 1000, drawn(random, 600, 20000) * 1000);
}

/* Share of packets that may wait beyond wait_ns for rests: what stalls leave, of those that rest. */
static double
budget(const struct case_of_bound *given, uint64_t wait_ns)
{
	double error = 1000000.0 - given->limits.percentile_ppm;
	double spent = lull_stalls_late_ppm(&given->watch.rest, wait_ns, (uint32_t)error);

	return spent >= error ? 0 : (error - spent) * (1 - given->busy_ppm / 1e6);
}

static bool
within(const struct case_of_bound *given, uint64_t request_ns, uint64_t wait_ns)
{
	return given->resting_ppm * beyond(&given->calibration, request_ns, wait_ns) <=
	       budget(given, wait_ns) * beyond(&given->calibration, request_ns, 0);
}

static uint64_t
requested(const struct case_of_bound *given, uint64_t request_ns_max)
{
	return lull_bound_request_ns(&given->limits, &given->calibration, &given->watch.rest,
				     given->busy_ppm, given->resting_ppm, request_ns_max);
}

/* Drawn cases: what is allowed keeps the share, a little more does not, or breaks the drain. */
TEST(request_ns__is_the_longest_that_keeps_the_share)
{
	struct case_of_bound given;
	uint64_t random = 11;
	uint32_t bound_by_share = 0, bound_by_drain = 0, free = 0, refused = 0;

	for (int i = 0; i < 2000; i++) {
		uint64_t drain_ns, got;

		draw(&given, &random);
		got = requested(&given, 4000000);
		drain_ns = given.busy_ppm == 0 ? UINT64_MAX :
						 given.limits.latency_ns * 1000000 / given.busy_ppm;
		drain_ns = drain_ns > given.calibration.usual_p99_ns ?
				   drain_ns - given.calibration.usual_p99_ns :
				   0;
		assert_true(got <= drain_ns);
		if (given.resting_ppm <= budget(&given, given.limits.latency_ns)) {
			assert_int_equal(got, LULL_MIN(drain_ns, 4000000));
			free++;
		} else if (got == 0) {
			/* not even those rests that are usually short enough */
			refused++;
		} else {
			uint64_t more_ns = got + 600 + got / 500;

			assert_true(
				within(&given, got - LULL_MIN(got, 200), given.limits.latency_ns));
			if (more_ns > drain_ns)
				bound_by_drain++;
			else if (more_ns < 4000000)
				bound_by_share++;
			if (more_ns <= drain_ns && more_ns < 4000000)
				assert_false(within(&given, more_ns, given.limits.latency_ns));
		}
		/* no more than it is asked for */
		assert_true(requested(&given, got / 2) <= got / 2);
		if (got > 2000 && given.resting_ppm <= budget(&given, given.limits.latency_ns))
			assert_int_equal(requested(&given, got / 2), got / 2);
	}
	/* of each kind enough, or this shows nothing */
	assert_true(bound_by_share > 300 && bound_by_drain > 20 && free > 20 && refused > 100);
}

/* A refusal is right: no rest from nothing up to the objective keeps the share. */
TEST(request_ns__refuses_only_what_cannot_be)
{
	struct case_of_bound given;
	uint64_t random = 12;

	for (int i = 0; i < 300; i++) {
		draw(&given, &random);
		if (requested(&given, 4000000) > 0)
			continue;
		for (uint64_t ns = 1000; ns < given.limits.latency_ns; ns += 1000 + ns / 20) {
			uint64_t drain_ns = given.busy_ppm == 0 ? UINT64_MAX :
								  given.limits.latency_ns *
									  1000000 / given.busy_ppm;

			if (ns + given.calibration.usual_p99_ns + 2000 < drain_ns)
				assert_false(
					within(&given, ns + ns / 100, given.limits.latency_ns));
		}
	}
}

/* The same, and what stalls alone make late is no more than may be late. */
static bool
kept(const struct case_of_bound *given, uint64_t request_ns, uint64_t wait_ns)
{
	uint32_t error_ppm = 1000000 - given->limits.percentile_ppm;

	return lull_stalls_late_ppm(&given->watch.rest, wait_ns, error_ppm) <= error_ppm &&
	       within(given, request_ns, wait_ns);
}

/* The shortest wait that keeps the share, or the drain's if that is longer. */
TEST(predict_ns__is_the_shortest_wait_that_keeps_the_share)
{
	struct case_of_bound given;
	uint64_t random = 13;
	uint32_t by_drain = 0, by_share = 0;

	for (int i = 0; i < 1000; i++) {
		uint64_t request_ns, drain_ns, got;

		draw(&given, &random);
		request_ns = drawn(&random, 1, 500) * 1000;
		got = lull_bound_predict_ns(&given.limits, &given.calibration, &given.watch.rest,
					    given.busy_ppm, given.resting_ppm, request_ns);
		drain_ns = (request_ns + given.calibration.usual_p99_ns) * given.busy_ppm / 1000000;
		assert_true(got >= drain_ns);
		if (got == drain_ns) {
			by_drain++;
			assert_true(kept(&given, request_ns, got + 300));
			continue;
		}
		by_share++;
		assert_true(kept(&given, request_ns, got + 300));
		if (got > drain_ns + 600)
			assert_false(kept(&given, request_ns, got - 600 - got / 500));
	}
	assert_true(by_drain > 100 && by_share > 100);
}

/* Nothing was measured: the guess of the calibration, no less. */
TEST(predict_ns__of_nothing_measured_is_the_guess)
{
	struct lull_calibration calibration;

	lull_calibration_init(&calibration);
	assert_int_equal(lull_bound_predict_ns(&usual, &calibration, NULL, 0, 1000000, 100000),
			 140000);
	calibration.usual_p99_ns = 10000;
	assert_int_equal(lull_bound_predict_ns(&usual, &calibration, NULL, 500000, 1000000, 100000),
			 110000);
}

TEST(latency_ns__is_the_formula_in_real_numbers)
{
	struct lull_idle_limits limits = usual;
	uint64_t random = 14;

	for (int i = 0; i < 2000; i++) {
		double rho, f, error, exact, got;

		limits.latency_ns = drawn(&random, 10, 1000) * 1000;
		limits.percentile_ppm = (uint32_t)drawn(&random, 500000, 999999);
		rho = (double)drawn(&random, 1, 1000000) / 1e6;
		f = (double)drawn(&random, 1, 1000000) / 1e6;
		error = (1 - limits.percentile_ppm / 1e6) * (1 - rho);
		exact = (double)limits.latency_ns / rho;
		if (f > error + 1e-6 && (double)limits.latency_ns / (1 - error / f) < exact)
			exact = (double)limits.latency_ns / (1 - error / f);
		got = (double)lull_bound_latency_ns(&limits, (uint32_t)(rho * 1e6 + 0.5),
						    (uint32_t)(f * 1e6 + 0.5));
		if (f > 1.1 * error || f < error)
			assert_true(got <= exact * 1.001 + 1 && got >= exact * 0.97 - 1);
	}
	assert_true(lull_bound_latency_ns(&usual, 0, 5000) == UINT64_MAX);
	/* at the edge: as many rest as may be late */
	assert_true(lull_bound_latency_ns(&usual, 0, 10000) == UINT64_MAX);
	assert_int_equal(lull_bound_latency_ns(&usual, 0, 10001), 200000ULL * 10001);
	assert_int_equal(lull_bound_latency_ns(&usual, 2000000, 1000000), 100000);
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
