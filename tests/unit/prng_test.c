/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "base/prng.h"

TEST(u64__matches_the_published_sequence)
{
	static const uint64_t expected[] = {
		11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600,
	};
	struct lull_prng prng = { { 1, 2, 3, 4 } };

	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(lull_prng_u64(&prng), expected[i]);
}

/* What seeds give is part of the interface: recorded runs are repeated by their seed. */
TEST(init__seed_and_stream_give_these_numbers_for_ever)
{
	struct lull_prng prng;

	lull_prng_init(&prng, 1, 0);
	assert_int_equal(lull_prng_u64(&prng), 0x6082e9993631e7d5);
	assert_int_equal(lull_prng_u64(&prng), 0xe9acc0d447272233);
	lull_prng_init(&prng, 1, 1);
	assert_int_equal(lull_prng_u64(&prng), 0xb797de902293ad79);
	assert_int_equal(lull_prng_u64(&prng), 0xb38ccb56832f3ca3);
}

TEST(below__stays_below_and_reaches_all)
{
	static const uint64_t bounds[] = { 1, 2, 3, 7, 8, 1000 };
	struct lull_prng prng;

	lull_prng_init(&prng, 3, 0);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t seen[1000] = { 0 };

		for (uint32_t n = 0; n < 100000; n++) {
			uint64_t draw = lull_prng_below(&prng, bounds[i]);

			assert_true(draw < bounds[i]);
			seen[draw]++;
		}
		/* Poisson counts: 6 standard deviations around the mean. */
		for (uint64_t value = 0; value < bounds[i]; value++) {
			double off = seen[value] - 100000.0 / (double)bounds[i];

			assert_true(off * off <= 36 * 100000.0 / (double)bounds[i]);
		}
	}
}

/* A bound just above half of 2^64 rejects nearly half of the numbers. */
TEST(below__huge_bounds_are_uniform)
{
	const uint64_t bound = (1ULL << 63) + 1;
	struct lull_prng prng;
	uint32_t low_count = 0;

	lull_prng_init(&prng, 4, 0);
	for (uint32_t n = 0; n < 100000; n++) {
		uint64_t draw = lull_prng_below(&prng, bound);

		assert_true(draw < bound);
		low_count += draw < bound / 3;
	}
	assert_in_range(low_count, 32400, 34300);
}

TEST(exponential__gives_these_numbers_for_ever)
{
	struct lull_prng prng;
	uint64_t digest = 0;

	lull_prng_init(&prng, 7, 0);
	for (uint32_t i = 0; i < 1000; i++)
		digest = digest * 31 + lull_prng_exponential(&prng);
	assert_int_equal(digest, 0x2c3e30ae9ffcf971);
}

/* Share of draws above x is exp(-x); checked where exp(-x) is known without a library. */
TEST(exponential__tail_halves_with_each_ln_2)
{
	const double ln_2 = 0.69314718055994531;
	const uint32_t count = 1000000;
	uint32_t above[11] = { 0 };
	struct lull_prng prng;
	double sum = 0, squares = 0;

	lull_prng_init(&prng, 5, 0);
	for (uint32_t i = 0; i < count; i++) {
		double draw = (double)lull_prng_exponential(&prng) /
			      (double)(1ULL << LULL_PRNG_UNIT_BITS);

		assert_true(draw > 0 && draw < 45);
		sum += draw;
		squares += draw * draw;
		for (uint32_t half = 0; half <= 10; half++)
			above[half] += draw > half * ln_2 / 2;
	}
	assert_true(sum / count > 0.995 && sum / count < 1.005);
	assert_true(squares / count > 1.98 && squares / count < 2.02);
	for (uint32_t half = 0; half <= 10; half++) {
		double share = half % 2 == 0 ? 1 : 0.70710678118654752;
		double off;

		share /= 1u << half / 2;
		off = above[half] - share * count;
		assert_true(off * off <= 25 * share * count);
	}
}
