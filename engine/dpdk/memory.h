/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory: of DPDK where its environment runs, of the system in a bare engine.
 *
 * Threads: any. Memory: what is taken is given back with lull_memory_free(), by whoever took it.
 */
#ifndef LULL_MEMORY_H
#define LULL_MEMORY_H

#include <stddef.h>

#define LULL_MEMORY_ANY_NODE (-1)

/**
 * Zeros, aligned to LULL_CACHE_LINE; NULL: none is left. Of the system's memory only what is used
 * is taken.
 * @param name  for those who look at DPDK's heap
 * @param node  NUMA node; LULL_MEMORY_ANY_NODE
 */
void *lull_memory_zalloc(const char *name, size_t bytes, int node);
/** NULL is ignored. */
void lull_memory_free(void *memory);

#endif
