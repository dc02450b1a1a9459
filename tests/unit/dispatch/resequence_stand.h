/* SPDX-License-Identifier: BSD-3-Clause */
/* A resequencer of 256 buckets, and handles that tell bucket and number. */
#ifndef LULL_RESEQUENCE_STAND_H
#define LULL_RESEQUENCE_STAND_H

#include <stdlib.h>
#include <string.h>

#include <lull/dispatch.h>

#include "case.h"

#define BUCKETS 256
#define WINDOW_MAX 8192

struct stand {
	void *memory;
	struct lull_resequence *resequence;
	const struct lull_resequence_counters *counters;
	void *out[WINDOW_MAX + 1];
};

static inline void
stand_open(struct stand *stand, uint32_t window_pkts, uint64_t delay_ns)
{
	const struct lull_resequence_config config = {
		.bucket_bits = 8,
		.window_pkts = window_pkts,
		.delay_ns = delay_ns,
	};

	stand->memory = aligned_alloc(LULL_CACHE_LINE, lull_resequence_size(&config));
	assert_non_null(stand->memory);
	memset(stand->memory, 0xa5, lull_resequence_size(&config));
	assert_int_equal(lull_resequence_init(stand->memory, &config, &stand->resequence), 0);
	stand->counters = lull_resequence_counters(stand->resequence);
}

/* A handle that tells bucket and number, and is never NULL. */
static inline void *
handle_of(uint32_t bucket, uint32_t seq)
{
	return (void *)((uintptr_t)(bucket + 1) << 32 | seq);
}

static inline uint32_t
handle_seq(const void *handle)
{
	return (uint32_t)(uintptr_t)handle;
}

static inline uint32_t
handle_bucket(const void *handle)
{
	return (uint32_t)((uintptr_t)handle >> 32) - 1;
}

static inline uint32_t
stand_add(struct stand *stand, uint64_t now_ns, uint32_t bucket, uint32_t seq)
{
	return lull_resequence_add(stand->resequence, now_ns, bucket, seq, handle_of(bucket, seq),
				   stand->out);
}

#endif
