/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <lull/base.h>
#include <lull/histogram.h>

#include "case.h"
#include "base/prng.h"

TEST(bin__small_values_are_exact)
{
	for (uint32_t value = 0; value < 128; value++) {
		assert_int_equal(lull_histogram_bin(value), value);
		assert_int_equal(lull_histogram_low(value), value);
		assert_int_equal(lull_histogram_high(value), value);
	}
}

TEST(bin__edges_meet_without_hole_or_overlap)
{
	assert_int_equal(lull_histogram_low(0), 0);
	for (uint32_t bin = 0; bin < LULL_HISTOGRAM_BINS; bin++) {
		uint64_t low = lull_histogram_low(bin);
		uint64_t high = lull_histogram_high(bin);

		assert_true(low <= high);
		assert_int_equal(lull_histogram_bin(low), bin);
		assert_int_equal(lull_histogram_bin(high), bin);
		if (bin + 1 < LULL_HISTOGRAM_BINS) {
			assert_int_equal(lull_histogram_low(bin + 1), high + 1);
			assert_true((high - low) * 64 <= low);
		}
	}
}

TEST(bin__large_values_share_the_last)
{
	assert_int_equal(lull_histogram_bin((1ULL << 36) - 1), LULL_HISTOGRAM_BINS - 1);
	assert_int_equal(lull_histogram_bin(1ULL << 36), LULL_HISTOGRAM_BINS - 1);
	assert_int_equal(lull_histogram_bin(UINT64_MAX), LULL_HISTOGRAM_BINS - 1);
	assert_int_equal(lull_histogram_high(LULL_HISTOGRAM_BINS - 1), UINT64_MAX);
}

TEST(add__counts_sums_and_keeps_the_maximum)
{
	static struct lull_histogram histogram;

	lull_histogram_clear(&histogram);
	lull_histogram_add(&histogram, 100, 3);
	lull_histogram_add(&histogram, 7, 1);
	lull_histogram_add(&histogram, 1000000, 0);
	assert_int_equal(histogram.count, 4);
	assert_int_equal(histogram.sum, 307);
	assert_int_equal(histogram.max, 100);
	assert_int_equal(histogram.bins[100], 3);
	assert_int_equal(histogram.bins[7], 1);
}

TEST(clear__leaves_nothing)
{
	static struct lull_histogram histogram, empty;

	lull_histogram_add(&histogram, 12345, 6);
	lull_histogram_clear(&histogram);
	assert_memory_equal(&histogram, &empty, sizeof(empty));
}

TEST(quantile__of_nothing_is_zero)
{
	static struct lull_histogram histogram;

	lull_histogram_clear(&histogram);
	assert_int_equal(lull_histogram_quantile(&histogram, 990000), 0);
}

TEST(quantile__ranks)
{
	static struct lull_histogram histogram;

	lull_histogram_clear(&histogram);
	for (uint64_t value = 1; value <= 100; value++)
		lull_histogram_add(&histogram, value, 1);
	assert_int_equal(lull_histogram_quantile(&histogram, 0), 1);
	assert_int_equal(lull_histogram_quantile(&histogram, 500000), 50);
	assert_int_equal(lull_histogram_quantile(&histogram, 500001), 51);
	assert_int_equal(lull_histogram_quantile(&histogram, 990000), 99);
	assert_int_equal(lull_histogram_quantile(&histogram, 1000000), 100);
	assert_int_equal(lull_histogram_quantile(&histogram, UINT32_MAX), 100);
}

/* Against the exact answer: the k-th smallest of what was added. */
TEST(quantile__never_below_the_truth_and_close)
{
	static const uint32_t ppms[] = { 500000, 900000, 990000, 999000, 999900 };
	static struct lull_histogram histogram;
	static uint64_t steps[100000];
	struct lull_prng prng;

	lull_histogram_clear(&histogram);
	lull_prng_init(&prng, 1, 0);
	/* Ascending by construction, over nine decades or so. */
	for (uint32_t i = 0; i < 100000; i++) {
		uint64_t before = i > 0 ? steps[i - 1] : 0;

		steps[i] = before + lull_prng_below(&prng, before / 3500 + 3);
		lull_histogram_add(&histogram, steps[i], 1);
	}
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t truth = steps[ppms[i] / 10 - 1];
		uint64_t told = lull_histogram_quantile(&histogram, ppms[i]);

		assert_true(told >= truth);
		assert_true(told - truth <= truth / 64);
	}
}

TEST(quantile__huge_counts_do_not_overflow)
{
	static struct lull_histogram histogram;

	lull_histogram_clear(&histogram);
	lull_histogram_add(&histogram, 5, 99ULL << 52);
	lull_histogram_add(&histogram, 60, 1ULL << 52);
	assert_int_equal(lull_histogram_quantile(&histogram, 990000), 5);
	assert_int_equal(lull_histogram_quantile(&histogram, 990001), 60);
}

TEST(quantile__last_bin_tells_the_maximum)
{
	static struct lull_histogram histogram;

	lull_histogram_clear(&histogram);
	lull_histogram_add(&histogram, 90 * LULL_NS_PER_S, 1);
	assert_int_equal(lull_histogram_quantile(&histogram, 500000), 90 * LULL_NS_PER_S);
}

TEST(merge__is_adding_both)
{
	static struct lull_histogram a, b, both;
	struct lull_prng prng;

	lull_histogram_clear(&a);
	lull_histogram_clear(&b);
	lull_histogram_clear(&both);
	lull_prng_init(&prng, 2, 0);
	for (uint32_t i = 0; i < 10000; i++) {
		uint64_t value = lull_prng_u64(&prng) >> (lull_prng_u64(&prng) % 60 + 4);

		lull_histogram_add(i % 3 != 0 ? &a : &b, value, i % 5);
		lull_histogram_add(&both, value, i % 5);
	}
	lull_histogram_merge(&a, &b);
	assert_memory_equal(&a, &both, sizeof(both));
}
