/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Index: entries by digest, chained through their wheel nodes.
 */
#ifndef LULL_FLOW_INDEX_H
#define LULL_FLOW_INDEX_H

#include <string.h>

#include "wheel.h"

struct lull_flow_index {
	uint32_t *heads;
	uint32_t shift; /* of the 64 mixed bits the upper ones count */
};

/** Heads for @p entries entries: a power of two, 16 at least. */
static inline uint32_t
lull_flow_index_heads(uint32_t entries)
{
	return entries <= 16 ? 16 : 1u << (32 - __builtin_clz(entries - 1));
}

static inline void
lull_flow_index_init(struct lull_flow_index *index, uint32_t *heads, uint32_t entries)
{
	uint32_t count = lull_flow_index_heads(entries);

	index->heads = heads;
	index->shift = 64 - (uint32_t)__builtin_ctz(count);
	memset(heads, 0xff, count * sizeof(heads[0]));
}

/**
 * First of the chain for this digest. Dispatch chose this worker by single bits or a range of the
 * digest; the product's upper bits depend on all of them.
 */
static inline uint32_t *
lull_flow_index_head(const struct lull_flow_index *index, uint32_t digest)
{
	return &index->heads[digest * 0x9e3779b97f4a7c15u >> index->shift];
}

static inline void
lull_flow_index_link(struct lull_flow_index *index, struct lull_wheel *wheel, uint32_t digest,
		     uint32_t entry)
{
	uint32_t *head = lull_flow_index_head(index, digest);

	lull_wheel_node(wheel, entry)->chain = *head;
	*head = entry;
}

static inline void
lull_flow_index_unlink(struct lull_flow_index *index, struct lull_wheel *wheel, uint32_t digest,
		       uint32_t entry)
{
	uint32_t *link = lull_flow_index_head(index, digest);

	while (*link != entry)
		link = &lull_wheel_node(wheel, *link)->chain;
	*link = lull_wheel_node(wheel, entry)->chain;
}

#endif
