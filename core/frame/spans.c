/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <lull/base.h>

#include "spans.h"

void
lull_spans_init(struct lull_spans *spans, struct lull_spans_node *nodes, uint32_t count_max,
		uint64_t bytes)
{
	*spans = (struct lull_spans){
		.nodes = nodes,
		.missing = bytes,
		.finger = 1,
		.count = 1,
		.count_max = count_max,
		.fresh = 2,
		.random = 1,
		.levels = 1,
	};
	memset(&nodes[0], 0, sizeof(nodes[0]));
	memset(&nodes[1], 0, sizeof(nodes[1]));
	nodes[0].next[0] = 1;
	nodes[1].end = bytes;
}

/* The last node of each level that ends at or below @p at; the first hole above it. */
static uint32_t
spans_find(const struct lull_spans *spans, uint64_t at, uint32_t before[LULL_SPANS_LEVELS])
{
	const struct lull_spans_node *nodes = spans->nodes;
	uint32_t node = 0;

	for (uint32_t level = spans->levels; level-- > 0;) {
		uint32_t next = nodes[node].next[level];

		while (next != 0 && nodes[next].end <= at) {
			node = next;
			next = nodes[node].next[level];
		}
		before[level] = node;
	}
	return nodes[node].next[0];
}

/* 1 with 3/4, 2 with 3/16 ...: xorshift, for all that matters is that senders do not steer it. */
static uint32_t
spans_height(struct lull_spans *spans)
{
	uint32_t random = spans->random;

	random ^= random << 13;
	random ^= random >> 17;
	random ^= random << 5;
	spans->random = random;
	return 1 + (uint32_t)__builtin_ctz(random | 1u << (2 * (LULL_SPANS_LEVELS - 1))) / 2;
}

static uint32_t
spans_allocate(struct lull_spans *spans)
{
	uint32_t node = spans->free;

	if (node != 0)
		spans->free = spans->nodes[node].next[0];
	else
		node = spans->fresh++;
	spans->count++;
	return node;
}

/* A hole behind all that end at or below @p begin. */
static uint32_t
spans_insert(struct lull_spans *spans, uint64_t begin, uint64_t end)
{
	uint32_t before[LULL_SPANS_LEVELS] = { 0 };
	uint32_t height = spans_height(spans), node = spans_allocate(spans);
	struct lull_spans_node *nodes = spans->nodes;

	spans_find(spans, begin, before);
	spans->levels = LULL_MAX(spans->levels, height);
	nodes[node].begin = begin;
	nodes[node].end = end;
	memset(nodes[node].next, 0, sizeof(nodes[node].next));
	for (uint32_t level = 0; level < height; level++) {
		nodes[node].next[level] = nodes[before[level]].next[level];
		nodes[before[level]].next[level] = node;
	}
	return node;
}

static void
spans_remove(struct lull_spans *spans, uint32_t node)
{
	uint32_t before[LULL_SPANS_LEVELS];
	struct lull_spans_node *nodes = spans->nodes;

	spans_find(spans, nodes[node].begin, before);
	spans->finger = nodes[node].next[0];
	for (uint32_t level = 0; level < spans->levels; level++)
		if (nodes[before[level]].next[level] == node)
			nodes[before[level]].next[level] = nodes[node].next[level];
	nodes[node].next[0] = spans->free;
	spans->free = node;
	spans->count--;
}

/* Take @p part out of hole @p node. */
static void
spans_close(struct lull_spans *spans, uint32_t node, struct lull_spans_part *part)
{
	struct lull_spans_node *hole = &spans->nodes[node];
	uint64_t end = hole->end;

	if (part->begin > hole->begin && part->end < end) {
		if (spans->count == spans->count_max) {
			spans->full = true;
			part->kept = false;
			return;
		}
		hole->end = part->begin;
		spans->finger = spans_insert(spans, part->end, end);
	} else if (part->end < end) {
		hole->begin = part->end;
	} else if (part->begin > hole->begin) {
		hole->end = part->begin;
	} else {
		spans_remove(spans, node);
	}
	spans->missing -= part->end - part->begin;
}

bool
lull_spans_take(struct lull_spans *spans, uint64_t *at, uint64_t end, struct lull_spans_part *part)
{
	const struct lull_spans_node *hole = &spans->nodes[spans->finger];

	if (spans->finger == 0 || *at < hole->begin || *at >= hole->end) {
		uint32_t before[LULL_SPANS_LEVELS];
		uint32_t node = spans_find(spans, *at, before);

		hole = &spans->nodes[node];
		if (node == 0 || hole->begin >= end)
			return false;
		spans->finger = node;
	}
	part->begin = LULL_MAX(*at, hole->begin);
	part->end = LULL_MIN(end, hole->end);
	part->kept = true;
	if (part->begin >= part->end)
		return false;
	*at = part->end;
	spans_close(spans, spans->finger, part);
	return true;
}
