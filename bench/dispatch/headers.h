/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Headers: frames that are in no cache when their turn comes.
 *
 * Threads: filled by the main thread, then read only.
 * Memory:  one mapping, in 2 MB pages where the system gives some; also serves small state.
 */
#ifndef LULL_BENCH_HEADERS_H
#define LULL_BENCH_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Each begins on a cache line of its own and is as long as one. */
#define HEADERS_FRAME_BYTES 64

struct headers_config {
	uint32_t megabytes;  /**< of frames */
	uint32_t flow_count; /**< all alike */
	bool linear;         /**< frames follow each other in memory, else at random */
	uint64_t seed;
};

struct headers {
	uint32_t count;         /**< a power of two */
	const uint8_t **frames; /**< in the order they are to be read */
	const char *pages;      /**< what the mapping consists of, in words */
	uint8_t *memory;
	size_t size, used;
};
/** 0, or -1: no memory. */
int headers_open(struct headers *headers, const struct headers_config *config);
/** More of the same pages, on a cache line; NULL when the spare megabytes are used up. */
void *headers_memory(struct headers *headers, size_t size);
/** Give back all memory taken after this was @p used. */
void headers_trim(struct headers *headers, size_t used);
void headers_close(struct headers *headers);

#endif
