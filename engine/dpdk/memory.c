/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include <lull/base.h>

#include "env.h"

/* Where the block of the system begins stands right before what was given out of it. */
static void *
memory_of_system(size_t bytes)
{
	uint8_t *block, *memory;

	if (bytes > SIZE_MAX - 2 * LULL_CACHE_LINE)
		return NULL;
	block = calloc(1, bytes + 2 * LULL_CACHE_LINE);
	if (block == NULL)
		return NULL;
	memory = block + 2 * LULL_CACHE_LINE - (uintptr_t)block % LULL_CACHE_LINE;
	((void **)(void *)memory)[-1] = block;
	return memory;
}

void *
lull_memory_zalloc(const char *name, size_t bytes, int node)
{
	if (lull_env_bare())
		return memory_of_system(bytes);
	return rte_zmalloc_socket(name, bytes, LULL_CACHE_LINE, node);
}

void
lull_memory_free(void *memory)
{
	if (memory == NULL)
		return;
	if (lull_env_bare())
		free(((void **)memory)[-1]);
	else
		rte_free(memory);
}
