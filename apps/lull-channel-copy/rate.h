/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rate: bytes over time, in equal steps that become longer when there are too many.
 *
 * Threads: one. Memory: the caller's struct.
 */
#ifndef LULL_CHANNEL_COPY_RATE_H
#define LULL_CHANNEL_COPY_RATE_H

#include <stdint.h>

#define COPY_RATE_STEPS 1024U

struct copy_rate {
	uint64_t begin_ns, step_ns;
	uint64_t last_bytes; /* of the last call */
	uint32_t count;      /* steps that have begun */
	uint64_t bytes[COPY_RATE_STEPS];
};

/** Steps of a tenth of a second from now on. */
void copy_rate_begin(struct copy_rate *rate, uint64_t now_ns);
/** So many bytes in all have gone. */
void copy_rate_add(struct copy_rate *rate, uint64_t now_ns, uint64_t bytes);

#endif
