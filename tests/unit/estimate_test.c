/* SPDX-License-Identifier: BSD-3-Clause */
/* The properties that the source states of its two filters. */
#include <stdio.h>

#include <lull/base.h>

#include "case.h"
#include "base/prng.h"
#include "idle/estimate.h"

#define WINDOW_NS (10 * LULL_NS_PER_MS)
#define SEED 4711

static struct lull_estimate estimate;

static bool
near(double a, double b)
{
	double gap = a > b ? a - b : b - a;

	return gap <= 1e-9 * (a > 1.0 ? a : 1.0);
}

static bool
between(double value, double a, double b)
{
	return a < b ? value >= a && value <= b : value >= b && value <= a;
}

/* A burst of random sizes, as sums. */
static void
burst_random(struct lull_prng *prng, uint64_t *pkts, uint64_t *bytes, uint64_t *bytes_squared)
{
	bool equal = lull_prng_u64(prng) % 4 == 0;
	uint64_t size = 64;

	*pkts = 1 + lull_prng_u64(prng) % 64;
	*bytes = *bytes_squared = 0;
	for (uint64_t i = 0; i < *pkts; i++) {
		if (i == 0 || !equal)
			size = 60 + lull_prng_u64(prng) % 1455;
		*bytes += size;
		*bytes_squared += size * size;
	}
}

TEST(estimate_size__lies_between)
{
	uint64_t now_ns = 0, pkts, bytes, squares;
	uint32_t strictly = 0;
	struct lull_prng prng;

	printf("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	lull_estimate_init(&estimate, WINDOW_NS);
	for (uint32_t i = 0; i < 100000; i++) {
		double value;

		now_ns += lull_prng_u64(&prng) % 200000;
		burst_random(&prng, &pkts, &bytes, &squares);
		value = lull_estimate_size(&estimate, now_ns, pkts, bytes, squares);
		assert_true(between(value, estimate.measurement, estimate.observation));
		assert_true(estimate.variance >= 0.0);
		/* Equal sizes in the burst: the burst is believed. */
		if (squares * pkts == bytes * bytes)
			assert_true(near(value, (double)bytes / (double)pkts));
		strictly += value < LULL_MAX(estimate.measurement, estimate.observation) &&
			    value > LULL_MIN(estimate.measurement, estimate.observation);
	}
	assert_true(strictly > 50000);
}

TEST(estimate_speed__lies_between)
{
	uint64_t now_ns = 0, interval_ns;
	struct lull_prng prng;

	printf("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	lull_estimate_init(&estimate, WINDOW_NS);
	for (uint32_t i = 0; i < 100000; i++) {
		double value;

		interval_ns = 1 + lull_prng_u64(&prng) % 300000;
		now_ns += interval_ns;
		value = lull_estimate_speed(&estimate, now_ns, lull_prng_u64(&prng) % 100000,
					    interval_ns, 512);
		assert_true(between(value, estimate.measurement, estimate.observation));
		assert_true(estimate.variance <=
			    lull_sample_window_variance(&estimate.window) * (1 + 1e-9));
	}
}

/* Sizes as they come: the mean of a window of bursts against one burst of a single size. */
TEST(estimate_size__no_variance_takes_the_observation)
{
	lull_estimate_init(&estimate, WINDOW_NS);
	assert_true(near(lull_estimate_size(&estimate, 1000, 4, 4 * 512, 4 * 512 * 512), 512.0));
	assert_true(near(lull_estimate_size(&estimate, 2000, 2, 2 * 64, 2 * 64 * 64), 64.0));
	assert_true(near(estimate.measurement, 288.0));
	assert_true(near(lull_estimate_size(&estimate, 3000, 1, 1500, 1500 * 1500), 1500.0));
}

/* A steady flow: every interval alike, so the window's mean is the speed. */
TEST(estimate_speed__no_variance_takes_the_observation)
{
	lull_estimate_init(&estimate, WINDOW_NS);
	for (uint32_t i = 1; i < 1000; i++)
		assert_true(near(lull_estimate_speed(&estimate, i * 100000ULL, 12500, 100000, 500),
				 125000.0)); /* 1 Gbit/s */
	assert_true(near(estimate.observation, 125000.0));
}

/* A step beyond what cutting a flow into intervals explains is believed at once. */
TEST(estimate_speed__believes_a_fall)
{
	double value = 0;
	uint32_t i;

	lull_estimate_init(&estimate, WINDOW_NS);
	for (i = 1; i < 100; i++)
		lull_estimate_speed(&estimate, i * 100000ULL, i % 2 == 0 ? 12500 : 12000, 100000,
				    500);
	value = lull_estimate_speed(&estimate, i * 100000ULL, 10000, 100000, 500);
	assert_true(estimate.observation > 119000.0);
	assert_true(value < 110000.0);
}

static double
weigh(double before, double measurement_variance, double observation_variance)
{
	lull_estimate_init(&estimate, WINDOW_NS);
	estimate.variance = before;
	return lull_estimate_weigh(&estimate, 100.0, measurement_variance, 200.0,
				   observation_variance);
}

TEST(estimate_weigh__smaller_variance_pulls_harder)
{
	static const double variances[] = { 0.5, 1.0, 4.0, 25.0, 400.0, 1e6 };

	for (size_t i = 0; i < COUNT(variances); i++)
		for (size_t j = 1; j < COUNT(variances); j++) {
			double more = variances[j], less = variances[j - 1];

			/* the observation's: smaller pulls up to 200 */
			assert_true(weigh(0.0, variances[i], less) >
				    weigh(0.0, variances[i], more));
			/* the measurement's, and the running deviation: smaller pulls to 100 */
			assert_true(weigh(0.0, less, variances[i]) <
				    weigh(0.0, more, variances[i]));
			assert_true(weigh(less, 1.0, variances[i]) <
				    weigh(more, 1.0, variances[i]));
		}
	/* neither has any: the observation */
	assert_true(near(weigh(0.0, 0.0, 0.0), 200.0));
	/* alike: half way */
	assert_true(near(weigh(0.0, 9.0, 9.0), 150.0));
}

/* By hand: e^2 = 16 and S^2 = 9 against s^2 = 75 is a gain of a quarter. */
TEST(estimate_weigh__follows_the_equations)
{
	assert_true(near(weigh(16.0, 9.0, 75.0), 125.0));
	assert_true(near(estimate.variance, 18.75));
}
