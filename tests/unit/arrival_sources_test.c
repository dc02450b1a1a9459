/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "case.h"
#include "traffic/arrival.h"

#define SHORTEST_ON_NS 100000ULL
#define CUT 131072

static struct lull_arrival_config
selfsimilar(double pps, double hurst, uint32_t source_count)
{
	return (struct lull_arrival_config){
		.kind = LULL_ARRIVAL_SELFSIMILAR,
		.pps = pps,
		.hurst = hurst,
		.source_count = source_count,
		.size_count = 1,
		.size_bytes = { 60 },
		.size_weight = { 1 },
		.seed = 1,
	};
}

static uint64_t
take_until(struct lull_arrival *arrival, uint64_t end_ns)
{
	uint64_t count = 0;

	for (; lull_arrival_next_ns(arrival) <= end_ns; count++)
		lull_arrival_take(arrival);
	return count;
}

/* ---- one source ---- */

/* Times of one source against the Pareto distribution, and against the cut. */
TEST(sources_change__pareto_times)
{
	const double hurst = 0.7, alpha = 3 - 2 * hurst;
	struct lull_arrival_config config = selfsimilar(1e6, hurst, 1);
	struct lull_arrival_sources sources;
	uint32_t beyond[2][4] = { { 0 } };
	struct lull_prng prng;
	const int rounds = 200000;

	lull_prng_init(&prng, 5, 0);
	lull_arrival_sources_init(&sources, &config, &prng, 0);
	for (int i = 0; i < rounds; i++) {
		uint64_t begin_ns = sources.heap[0].change_ns;
		double time;
		bool on;

		lull_arrival_sources_change(&sources, &prng);
		on = sources.heap[0].on;
		assert_int_equal(sources.on_count, on);
		time = (double)(sources.heap[0].change_ns - begin_ns) /
		       (double)(SHORTEST_ON_NS * (on ? 1 : 2));
		assert_true(time >= 1 && time <= CUT);
		for (int k = 0; k < 4; k++)
			beyond[on][k] += time > (2 << 2 * k);
	}
	for (int k = 0; k < 4; k++) {
		double expected = rounds / 2.0 * pow(2 << 2 * k, -alpha);

		assert_true(fabs(beyond[0][k] - expected) < 4 * sqrt(expected));
		assert_true(fabs(beyond[1][k] - expected) < 4 * sqrt(expected));
	}
}

/* The steepest tail there is meets the cut, again and again. */
TEST(sources_change__tail_is_cut)
{
	struct lull_arrival_config config = selfsimilar(1e6, 0.999, 1);
	struct lull_arrival_sources sources;
	struct lull_prng prng;
	uint64_t longest_ns = 0;

	lull_prng_init(&prng, 5, 0);
	lull_arrival_sources_init(&sources, &config, &prng, 0);
	for (int i = 0; i < 3000000; i++) {
		uint64_t begin_ns = sources.heap[0].change_ns;

		lull_arrival_sources_change(&sources, &prng);
		longest_ns = LULL_MAX(longest_ns, sources.heap[0].change_ns - begin_ns);
	}
	assert_int_equal(longest_ns, 2 * SHORTEST_ON_NS * CUT);
}

/*
 * Who comes at random finds a source in a long time more often than in a short
 * one: what is left of it must follow from the times' own distribution.
 */
TEST(sources_init__in_the_middle_of_things)
{
	static const double hursts[] = { 0.501, 0.8, 0.999 };

	for (size_t h = 0; h < 3; h++) {
		struct lull_arrival_config config = selfsimilar(1e6, hursts[h], 64);
		double alpha = 3 - 2 * hursts[h];
		double mean = (alpha - pow(CUT, 1 - alpha)) / (alpha - 1);
		double on = 0, whole = 0, beyond[3] = { 0 };
		const double rounds = 64 * 2000;
		struct lull_arrival_sources sources;
		struct lull_prng prng;

		lull_prng_init(&prng, 5, h);
		for (int i = 0; i < 2000; i++) {
			lull_arrival_sources_init(&sources, &config, &prng, 0);
			on += sources.on_count;
			for (uint32_t k = 0; k < 64; k++) {
				double rest =
					(double)sources.heap[k].change_ns /
					(double)(SHORTEST_ON_NS * (sources.heap[k].on ? 1 : 2));

				whole += rest < 1;
				for (int d = 0; d < 3; d++)
					beyond[d] += rest > (8 << 5 * d);
				assert_true(rest <= CUT);
			}
		}
		assert_true(fabs(on / rounds - 1.0 / 3) < 0.006);
		assert_true(fabs(whole / rounds - 1 / mean) < 0.006);
		for (int d = 0; d < 3; d++) {
			double left = (pow(8 << 5 * d, 1 - alpha) - pow(CUT, 1 - alpha)) /
				      (alpha - 1) / mean;

			assert_true(fabs(beyond[d] / rounds - left) < 0.006);
		}
	}
}

/* ---- the traffic ---- */

/* Over many seeds, each millisecond from the first has its share. */
TEST(selfsimilar__mean_from_the_start)
{
	uint64_t counts[5] = { 0 };

	for (uint64_t seed = 0; seed < 4000; seed++) {
		struct lull_arrival_config config = selfsimilar(200000, 0.8, 16);
		struct lull_arrival arrival;

		config.seed = seed;
		lull_arrival_init(&arrival, &config, 0);
		for (uint64_t i = 0; i < 5; i++)
			counts[i] += take_until(&arrival, (i + 1) * LULL_NS_PER_MS);
	}
	for (int i = 0; i < 5; i++) /* one packet's time is not yet due in the first */
		assert_true(fabs((double)counts[i] / 4000 + (i == 0 ? 0.5 : 0) - 200) < 4);
}

TEST(selfsimilar__mean_over_long_runs)
{
	static const double hursts[] = { 0.501, 0.6, 0.7 };

	for (size_t h = 0; h < 3; h++) {
		struct lull_arrival_config config = selfsimilar(2000, hursts[h], 16);
		struct lull_arrival arrival;

		lull_arrival_init(&arrival, &config, 0);
		assert_true(fabs((double)take_until(&arrival, 1000 * LULL_NS_PER_S) - 2e6) <
			    0.04 * 2e6);
	}
}

/* Never faster than all sources together. */
TEST(selfsimilar__peak_is_three_times_the_mean)
{
	struct lull_arrival_config config = selfsimilar(1e5, 0.8, 2);
	struct lull_arrival arrival;
	uint64_t last_ns = 0, least_ns = UINT64_MAX;

	lull_arrival_init(&arrival, &config, 0);
	for (int i = 0; i < 1000000; i++) {
		uint64_t next_ns = lull_arrival_next_ns(&arrival);

		if (i > 0)
			least_ns = LULL_MIN(least_ns, next_ns - last_ns);
		last_ns = next_ns;
		lull_arrival_take(&arrival);
	}
	assert_in_range(least_ns, 3332, 3334);
}

/* Variance of the mean of counts over @p slice_ns, relative to the squared mean. */
static double
slices_variance(const struct lull_arrival_config *config, uint64_t slice_ns, uint32_t slices)
{
	struct lull_arrival arrival;
	double sum = 0, squares = 0, mean;

	lull_arrival_init(&arrival, config, 0);
	for (uint32_t i = 1; i <= slices; i++) {
		double count = (double)take_until(&arrival, i * slice_ns);

		sum += count;
		squares += count * count;
	}
	mean = sum / slices;
	return (squares / slices - mean * mean) / (mean * mean);
}

/* log-log slope of that variance over two decades of scale: 2 hurst - 2. */
static double
variance_slope(const struct lull_arrival_config *config)
{
	double fine = slices_variance(config, 100 * LULL_NS_PER_MS, 30000);
	double coarse = slices_variance(config, 10 * LULL_NS_PER_S, 300);

	return log10(coarse / fine) / 2;
}

TEST(selfsimilar__variance_falls_as_hurst_says)
{
	struct lull_arrival_config config = selfsimilar(1000, 0.8, 4);

	assert_true(fabs(variance_slope(&config) - (2 * 0.8 - 2)) < 0.15);
	config.hurst = 0.65;
	assert_true(fabs(variance_slope(&config) - (2 * 0.65 - 2)) < 0.15);
	config.kind = LULL_ARRIVAL_POISSON;
	assert_true(variance_slope(&config) < -0.9);
}

/* However slow, there is one change or so to a packet, and an end where the clock ends. */
TEST(selfsimilar__very_slow)
{
	struct lull_arrival_config config = selfsimilar(1e-6, 0.9, 64);
	struct lull_arrival arrival;
	uint64_t last_ns = 0;

	lull_arrival_init(&arrival, &config, 0);
	for (int i = 0; i < 100000 && lull_arrival_next_ns(&arrival) != UINT64_MAX; i++) {
		assert_true(lull_arrival_next_ns(&arrival) >= last_ns);
		last_ns = lull_arrival_next_ns(&arrival);
		lull_arrival_take(&arrival);
	}
	assert_true(lull_arrival_next_ns(&arrival) == UINT64_MAX);
	assert_true(last_ns > UINT64_MAX / 4);
	config = selfsimilar(1e6, 0.8, 16);
	lull_arrival_init(&arrival, &config, UINT64_MAX - 1);
	assert_true(lull_arrival_next_ns(&arrival) == UINT64_MAX);
}
