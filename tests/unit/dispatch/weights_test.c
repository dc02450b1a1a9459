/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch_stand.h"

TEST(weight__formula)
{
	for (uint64_t digest = 1; digest < LULL_DIGEST_MAX; digest = digest * 5 + 3) {
		for (uint64_t worker = 0; worker < 32; worker++) {
			uint64_t key = (1103515245ull * worker + 12345) % (1ull << 31);
			uint64_t weight = (1103515245ull * (key ^ digest) + 12345) % (1ull << 31);

			assert_int_equal(lull_weight((uint32_t)digest, (uint32_t)worker), weight);
		}
	}
}

/* Every way there is, every rest of a burst, every number of workers. */
TEST(weights_best__alike)
{
	uint32_t digests[LULL_DISPATCH_BURST_MAX];
	uint16_t workers[LULL_DISPATCH_BURST_MAX + 1];
	struct dispatch_stand stand;

	lull_prng_init(&stand.prng, 11, 0);
	for (enum lull_weights way = LULL_WEIGHTS_BEST; way <= LULL_WEIGHTS_AVX512; way++) {
		lull_weights_best *best = lull_weights_function(way);

		assert_int_equal(best != NULL, lull_weights_available(way));
		if (best == NULL) {
			printf("this CPU has no %s\n", lull_weights_name(way));
			continue;
		}
		for (uint32_t count = 0; count <= 70; count++) {
			uint32_t worker_count = 1 + count % LULL_DISPATCH_WORKERS_MAX;

			for (uint32_t i = 0; i < count; i++)
				digests[i] = stand_digest(&stand);
			if (count > 1) {
				digests[0] = 0;
				digests[1] = LULL_DIGEST_MAX;
			}
			workers[count] = 0xabcd;
			best(digests, count, worker_count, workers);
			for (uint32_t i = 0; i < count; i++)
				assert_int_equal(workers[i], stand_hrw(digests[i], worker_count));
			assert_int_equal(workers[count], 0xabcd);
		}
	}
}

TEST(weights_name__all)
{
	assert_string_equal(lull_weights_name(LULL_WEIGHTS_BEST), "best");
	assert_string_equal(lull_weights_name(LULL_WEIGHTS_SCALAR), "scalar");
	assert_string_equal(lull_weights_name(LULL_WEIGHTS_AVX2), "avx2");
	assert_string_equal(lull_weights_name(LULL_WEIGHTS_AVX512), "avx512");
	assert_true(lull_weights_available(LULL_WEIGHTS_SCALAR));
	assert_true(lull_weights_available(LULL_WEIGHTS_BEST));
}
