/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Spans: which bytes of a frame are missing, as a sorted set of holes.
 *
 * A skip list with a finger: a packet in order finds its hole at the finger and only moves an edge
 * of it; any other is found, a hole parted or closed in O(log holes). When a packet would part a
 * hole and there is no room for another, its bytes stay missing: the set may name bytes that are
 * there, it never leaves out one that is not.
 *
 * Memory: the caller's nodes, lull_spans_nodes() of them.
 */
#ifndef LULL_FRAME_SPANS_H
#define LULL_FRAME_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#define LULL_SPANS_LEVELS 8 /* a quarter of the nodes goes up: 4^8 holes at full speed */

/** A hole; node 0 is the head, and as a successor the end. */
struct lull_spans_node {
	uint64_t begin, end;
	uint32_t next[LULL_SPANS_LEVELS];
};
struct lull_spans {
	struct lull_spans_node *nodes;
	uint64_t missing; /**< bytes in all holes */
	uint32_t finger;  /**< hole that was worked on last, 0: none */
	uint32_t count, count_max;
	uint32_t fresh; /**< nodes from here on were never used */
	uint32_t free;  /**< list of those used before */
	uint32_t random;
	uint32_t levels; /**< in use */
	bool full;       /**< a hole could not be parted */
};
/** A part of a range that was missing. */
struct lull_spans_part {
	uint64_t begin, end;
	bool kept; /**< false: no room to say that it is there */
};

/** Nodes for @p count_max holes. */
static inline uint32_t
lull_spans_nodes(uint32_t count_max)
{
	return count_max + 1;
}
/** All of 0 .. @p bytes - 1 is missing. */
void lull_spans_init(struct lull_spans *spans, struct lull_spans_node *nodes, uint32_t count_max,
		     uint64_t bytes);
/**
 * The first missing part of *@p at .. @p end - 1 is there from now on; *@p at moves behind it.
 * False: nothing of it is missing.
 */
bool lull_spans_take(struct lull_spans *spans, uint64_t *at, uint64_t end,
		     struct lull_spans_part *part);

/** The first hole, 0 when there is none; then each one's successor. */
static inline uint32_t
lull_spans_first(const struct lull_spans *spans)
{
	return spans->nodes[0].next[0];
}

#endif
