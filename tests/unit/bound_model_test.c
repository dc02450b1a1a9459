/* SPDX-License-Identifier: BSD-3-Clause */
/* The bounds beside the same formulas in floating point, on drawn cases. */
#include "case.h"
#include "idle/bound.h"

static const struct lull_idle_limits usual = {
	.latency_ns = 200000,
	.percentile_ppm = 990000,
	.ring_pkts = 1024,
	.burst_pkts = 32,
	.envelope = LULL_ENVELOPE_LINK,
	.pps_max = 14880952,
};

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

/* Share of packets that may wait beyond wait_ns for rests: what stalls leave. */
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

/* The fullest memory and the longest rests: sums that are counted in nanoseconds would overflow. */
TEST(request_ns__of_many_long_rests_is_that_of_few)
{
	static const uint32_t counts[] = { 160, 16000 };
	struct lull_idle_limits limits = usual;
	uint64_t got_ns[2];

	limits.latency_ns = 900000000;
	for (int i = 0; i < 2; i++) {
		struct lull_calibration calibration;

		lull_calibration_init(&calibration);
		for (uint32_t k = 0; k < counts[i]; k++)
			lull_calibration_add(&calibration, k % 2 == 0 ? 6000 : 400000, 5000);
		got_ns[i] =
			lull_bound_request_ns(&limits, &calibration, NULL, 0, 1000000, 1000000000);
	}
	assert_in_range(got_ns[0], 900000000, 910000000);
	assert_in_range(got_ns[1], got_ns[0] - 10000, got_ns[0] + 10000);
}
