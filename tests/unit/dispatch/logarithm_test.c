/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "dispatch/logarithm.h"
#include "dispatch_stand.h"

TEST(logarithm__near)
{
	for (uint32_t number = 0; number < LULL_DIGEST_MAX - 99991; number += 99991) {
		double exact = 31 - log2((double)number + 1);
		double ours = (double)lull_logarithm(number) / exp2(LULL_LOGARITHM_BITS);

		assert_true(fabs(exact - ours) < 4e-6);
	}
	assert_int_equal(lull_logarithm(LULL_DIGEST_MAX), 0);
	assert_int_equal(lull_logarithm(0), 31ull << LULL_LOGARITHM_BITS);
}

/* So that equal workers are ordered as their weights are; where steps meet, too. */
TEST(logarithm__falls)
{
	struct dispatch_stand stand;

	lull_prng_init(&stand.prng, 3, 0);
	for (uint32_t i = 0; i < 1000000; i++) {
		uint32_t number = stand_digest(&stand) >> i % 30;

		if (number > 0)
			assert_true(lull_logarithm(number) < lull_logarithm(number - 1));
	}
	for (uint32_t step = 1; step < 512; step++) {
		uint32_t number = (step << 22) - 1;

		assert_true(lull_logarithm(number) < lull_logarithm(number - 1));
		assert_true(number == LULL_DIGEST_MAX ||
			    lull_logarithm(number + 1) < lull_logarithm(number));
	}
}
