/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Dispatch stand: a dispatcher with workers whose rings and progress the test sets.
 */
#ifndef LULL_TEST_DISPATCH_STAND_H
#define LULL_TEST_DISPATCH_STAND_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/dispatch.h>

#include "case.h"
#include "base/prng.h"
#include "dispatch/weights.h"

#define STAND_CAPACITY 1024

struct dispatch_stand {
	struct lull_dispatch_config config;
	struct lull_dispatch *dispatch;
	const struct lull_dispatch_counters *counters;
	void *memory;
	uint64_t now_ns;
	struct lull_dispatch_load loads[LULL_DISPATCH_WORKERS_MAX];
	uint16_t workers[LULL_DISPATCH_BURST_MAX];
	struct lull_dispatch_mark marks[LULL_DISPATCH_BURST_MAX];
	struct lull_prng prng;
};

/* Four workers with empty rings; change config first where that matters. */
static inline struct lull_dispatch_config
stand_config(const char *scheduler)
{
	return (struct lull_dispatch_config){
		.scheduler = lull_scheduler_find(scheduler),
		.worker_count = 4,
		.bucket_bits = 12,
	};
}

static inline void
stand_init(struct dispatch_stand *stand, const struct lull_dispatch_config *config)
{
	memset(stand, 0, sizeof(*stand));
	stand->config = *config;
	stand->memory = aligned_alloc(LULL_CACHE_LINE, lull_dispatch_size(config));
	assert_non_null(stand->memory);
	assert_int_equal(lull_dispatch_init(stand->memory, config, &stand->dispatch), 0);
	stand->counters = lull_dispatch_counters(stand->dispatch);
	stand->now_ns = LULL_NS_PER_S;
	for (uint32_t i = 0; i < LULL_DISPATCH_WORKERS_MAX; i++)
		stand->loads[i].capacity_pkts = STAND_CAPACITY;
	lull_prng_init(&stand->prng, 5, 0);
}

static inline void
stand_end(struct dispatch_stand *stand)
{
	free(stand->memory);
}

static inline void
stand_burst(struct dispatch_stand *stand, const uint32_t *digests, uint32_t count)
{
	/* Digests pass for the CRCs of keys. */
	lull_dispatch_burst(stand->dispatch, stand->now_ns, stand->loads, digests, digests, count,
			    stand->workers, stand->marks);
	stand->now_ns += 1000;
}

/* One packet of @p digest: its worker. */
static inline uint16_t
stand_one(struct dispatch_stand *stand, uint32_t digest)
{
	stand_burst(stand, &digest, 1);
	return stand->workers[0];
}

/* Every worker has finished all it was sent. */
static inline void
stand_drain(struct dispatch_stand *stand)
{
	for (uint32_t i = 0; i < stand->config.worker_count; i++) {
		stand->loads[i].done_pkts = stand->counters->worker_pkts[i];
		stand->loads[i].used_pkts = 0;
	}
}

static inline uint32_t
stand_digest(struct dispatch_stand *stand)
{
	return (uint32_t)lull_prng_u64(&stand->prng) & LULL_DIGEST_MAX;
}

/* By definition, worker by worker. */
static inline uint16_t
stand_hrw(uint32_t digest, uint32_t worker_count)
{
	uint16_t best = 0;

	for (uint16_t worker = 1; worker < worker_count; worker++) {
		if (lull_weight(digest, worker) > lull_weight(digest, best))
			best = worker;
	}
	return best;
}

/* A digest whose HRW worker is @p worker. */
static inline uint32_t
stand_digest_of(struct dispatch_stand *stand, uint16_t worker)
{
	uint32_t digest;

	do {
		digest = stand_digest(stand);
	} while (stand_hrw(digest, stand->config.worker_count) != worker);
	return digest;
}

#endif
