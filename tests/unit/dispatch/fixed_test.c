/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/prng.h"
#include "dispatch/fixed.h"
#include "dispatch_stand.h"

#define WORKERS 5
#define DIGESTS 100

static struct lull_dispatch *
dispatch_new(const char *scheduler)
{
	const struct lull_dispatch_config config = { .scheduler = lull_scheduler_find(scheduler),
						     .worker_count = WORKERS };
	struct lull_dispatch *dispatch;
	size_t size = (lull_dispatch_size(&config) + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE *
		      LULL_CACHE_LINE;
	void *memory = aligned_alloc(LULL_CACHE_LINE, size);

	assert_non_null(memory);
	assert_int_equal(lull_dispatch_init(memory, &config, &dispatch), 0);
	return dispatch;
}

/* Out of turn and counted later: workers and counters are those of a burst. */
TEST(decide__as_a_burst_does)
{
	static const char *const names[] = { "crc32", "hash", "hrw" };
	const struct lull_dispatch_load load = { .capacity_pkts = 64 };
	struct lull_dispatch_load loads[WORKERS] = { load, load, load, load, load };
	struct lull_prng prng;

	lull_prng_init(&prng, 1, 0);
	for (int i = 0; i < 3; i++) {
		struct lull_dispatch *in_turn = dispatch_new(names[i]);
		struct lull_dispatch *later = dispatch_new(names[i]);
		uint16_t wanted[DIGESTS], workers[DIGESTS];
		uint64_t pkts[WORKERS] = { 0 };
		uint32_t digests[DIGESTS], crcs[DIGESTS];

		for (int j = 0; j < DIGESTS; j++)
			digests[j] = (uint32_t)lull_prng_u64(&prng) & LULL_DIGEST_MAX;
		for (int j = 0; j < DIGESTS; j++)
			crcs[j] = (uint32_t)lull_prng_u64(&prng);
		lull_dispatch_burst(in_turn, 1, loads, digests, crcs, DIGESTS, wanted, NULL);
		lull_dispatch_decide(later, digests, crcs, DIGESTS, workers);
		assert_memory_equal(workers, wanted, sizeof(wanted));
		assert_int_equal(lull_dispatch_counters(later)->pkts, 0);
		for (int j = 0; j < DIGESTS; j++)
			pkts[workers[j]]++;
		lull_dispatch_decided(later, pkts);
		assert_memory_equal(lull_dispatch_counters(later), lull_dispatch_counters(in_turn),
				    sizeof(struct lull_dispatch_counters));
		free(in_turn);
		free(later);
	}
}

TEST_GROUP(NULL, NULL);
