/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Wheel: which of many entries ends next, exact to the nanosecond.
 *
 * A hierarchical timing wheel: level l has 64 slots of 64^l ns, so 11 levels hold any time. An
 * entry stands on the level of the highest bits in which its deadline differs from the wheel's
 * base, and falls to lower levels as the base comes nearer: a few moves in its life, none when a
 * deadline is put off (the owner looks again when the old one is due). A slot that is reached is
 * emptied entry by entry, so work can stop anywhere.
 *
 * Entries are numbers; the wheel finds node i at nodes + i * stride. Every node is in at most one
 * list: a slot, or one of those that the owner keeps for entries without a deadline.
 */
#ifndef LULL_FLOW_WHEEL_H
#define LULL_FLOW_WHEEL_H

#include <lull/base.h>

#define LULL_WHEEL_NONE UINT32_MAX
#define LULL_WHEEL_LEVELS 11
#define LULL_WHEEL_SLOTS (LULL_WHEEL_LEVELS * 64)
/** Lists of the owner: LULL_WHEEL_OWN + 0 .. LULL_WHEEL_OWN_COUNT - 1. */
#define LULL_WHEEL_OWN (LULL_WHEEL_SLOTS + 1)
#define LULL_WHEEL_OWN_COUNT 4
#define LULL_WHEEL_LISTS (LULL_WHEEL_OWN + LULL_WHEEL_OWN_COUNT)

struct lull_wheel_node {
	uint64_t deadline_ns;
	uint32_t next, prev;
	uint32_t list;  /* in which it is, LULL_WHEEL_NONE: none */
	uint32_t chain; /* the index's, see index.h */
};

struct lull_wheel_list {
	uint32_t head, tail;
};

struct lull_wheel {
	uint8_t *nodes;
	size_t stride;
	uint64_t base_ns; /* no deadline lies before */
	uint64_t occupied[LULL_WHEEL_LEVELS];
	uint32_t levels;  /* bit per level with an entry */
	uint32_t reached; /* slot that the base stands at the beginning of */
	struct lull_wheel_list lists[LULL_WHEEL_LISTS];
};

static inline struct lull_wheel_node *
lull_wheel_node(const struct lull_wheel *wheel, uint32_t index)
{
	return (struct lull_wheel_node *)(void *)(wheel->nodes + index * wheel->stride);
}

void lull_wheel_init(struct lull_wheel *wheel, void *nodes, size_t stride);
/** Give @p index this deadline (a past one is due at once), from whatever list it is in. */
void lull_wheel_arm(struct lull_wheel *wheel, uint32_t index, uint64_t deadline_ns);
/** Move @p index to the end of @p list, one of the owner's. */
void lull_wheel_put(struct lull_wheel *wheel, uint32_t index, uint32_t list);
/** Take @p index out of the list it is in. */
void lull_wheel_take(struct lull_wheel *wheel, uint32_t index);
/**
 * An entry whose deadline is at most @p clock_ns, still in its list; LULL_WHEEL_NONE when there is
 * none, or after @p *steps entries were moved (counted down).
 */
uint32_t lull_wheel_due(struct lull_wheel *wheel, uint64_t clock_ns, uint32_t *steps);
/** Of the entries with a deadline one of the earliest; LULL_WHEEL_NONE: there are none. */
uint32_t lull_wheel_oldest(const struct lull_wheel *wheel);
/** No deadline lies before this clock; UINT64_MAX: there is none at all. */
uint64_t lull_wheel_floor_ns(const struct lull_wheel *wheel);

#endif
