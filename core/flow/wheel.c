/* SPDX-License-Identifier: BSD-3-Clause */
#include "wheel.h"

#include <string.h>

#include "base/assert.h"

#define SLOT_BITS 6
#define SLOT_MASK 63u
/* A list that is always empty: no slot is being emptied. */
#define LIST_NOTHING LULL_WHEEL_SLOTS

void
lull_wheel_init(struct lull_wheel *wheel, void *nodes, size_t stride)
{
	memset(wheel, 0, sizeof(*wheel));
	wheel->nodes = nodes;
	wheel->stride = stride;
	wheel->reached = LIST_NOTHING;
	memset(wheel->lists, 0xff, sizeof(wheel->lists));
}

static void
wheel_append(struct lull_wheel *wheel, uint32_t index, uint32_t list)
{
	struct lull_wheel_node *node = lull_wheel_node(wheel, index);
	struct lull_wheel_list *to = &wheel->lists[list];

	node->list = list;
	node->next = LULL_WHEEL_NONE;
	node->prev = to->tail;
	if (to->tail == LULL_WHEEL_NONE)
		to->head = index;
	else
		lull_wheel_node(wheel, to->tail)->next = index;
	to->tail = index;
}

static void
wheel_slot_emptied(struct lull_wheel *wheel, uint32_t list)
{
	uint32_t level = list >> SLOT_BITS;

	wheel->occupied[level] &= ~(1ULL << (list & SLOT_MASK));
	if (wheel->occupied[level] == 0)
		wheel->levels &= ~(1u << level);
}

void
lull_wheel_take(struct lull_wheel *wheel, uint32_t index)
{
	struct lull_wheel_node *node = lull_wheel_node(wheel, index);
	struct lull_wheel_list *from = &wheel->lists[node->list];

	LULL_ASSERT_HOT(node->list < LULL_WHEEL_LISTS);
	if (node->prev == LULL_WHEEL_NONE)
		from->head = node->next;
	else
		lull_wheel_node(wheel, node->prev)->next = node->next;
	if (node->next == LULL_WHEEL_NONE)
		from->tail = node->prev;
	else
		lull_wheel_node(wheel, node->next)->prev = node->prev;
	if (from->head == LULL_WHEEL_NONE && node->list < LULL_WHEEL_SLOTS)
		wheel_slot_emptied(wheel, node->list);
	node->list = LULL_WHEEL_NONE;
}

void
lull_wheel_put(struct lull_wheel *wheel, uint32_t index, uint32_t list)
{
	if (lull_wheel_node(wheel, index)->list != LULL_WHEEL_NONE)
		lull_wheel_take(wheel, index);
	wheel_append(wheel, index, list);
}

/* The level of the highest group of bits in which the deadline differs from the base. */
static void
wheel_place(struct lull_wheel *wheel, uint32_t index)
{
	uint64_t deadline_ns = LULL_MAX(lull_wheel_node(wheel, index)->deadline_ns, wheel->base_ns);
	uint64_t differs = (deadline_ns ^ wheel->base_ns) | 1;
	uint32_t level = (63u - (uint32_t)__builtin_clzll(differs)) / SLOT_BITS;
	uint32_t slot = (uint32_t)(deadline_ns >> (level * SLOT_BITS)) & SLOT_MASK;

	wheel->occupied[level] |= 1ULL << slot;
	wheel->levels |= 1u << level;
	wheel_append(wheel, index, level << SLOT_BITS | slot);
}

void
lull_wheel_arm(struct lull_wheel *wheel, uint32_t index, uint64_t deadline_ns)
{
	struct lull_wheel_node *node = lull_wheel_node(wheel, index);

	if (node->list != LULL_WHEEL_NONE)
		lull_wheel_take(wheel, index);
	node->deadline_ns = deadline_ns;
	wheel_place(wheel, index);
}

/* The earliest slot: higher levels lie behind all of the lower ones. */
static uint64_t
wheel_first_slot(const struct lull_wheel *wheel, uint32_t *list)
{
	uint32_t level = (uint32_t)__builtin_ctz(wheel->levels);
	uint32_t slot = (uint32_t)__builtin_ctzll(wheel->occupied[level]);
	uint32_t shift = level * SLOT_BITS;
	uint64_t above = shift + SLOT_BITS < 64 ?
				 wheel->base_ns >> (shift + SLOT_BITS) << (shift + SLOT_BITS) :
				 0;

	*list = level << SLOT_BITS | slot;
	return above | (uint64_t)slot << shift;
}

/* What is left of the slot that the base has come to: to be placed anew, one by one. */
static uint32_t
wheel_reached(const struct lull_wheel *wheel)
{
	return wheel->lists[wheel->reached].head;
}

uint32_t
lull_wheel_due(struct lull_wheel *wheel, uint64_t clock_ns, uint32_t *steps)
{
	uint32_t list;

	for (;;) {
		uint32_t index = wheel_reached(wheel);

		while (index != LULL_WHEEL_NONE && *steps > 0) {
			struct lull_wheel_node *node = lull_wheel_node(wheel, index);

			--*steps;
			if (node->deadline_ns <= clock_ns)
				return index;
			lull_wheel_arm(wheel, index, node->deadline_ns);
			index = wheel_reached(wheel);
		}
		if (index != LULL_WHEEL_NONE)
			return LULL_WHEEL_NONE;
		if (wheel->levels == 0 || wheel_first_slot(wheel, &list) > clock_ns) {
			wheel->base_ns = LULL_MAX(wheel->base_ns, clock_ns);
			wheel->reached = LIST_NOTHING;
			return LULL_WHEEL_NONE;
		}
		wheel->base_ns = wheel_first_slot(wheel, &list);
		wheel->reached = list;
	}
}

uint32_t
lull_wheel_oldest(const struct lull_wheel *wheel)
{
	uint32_t list = wheel->reached;

	if (wheel->lists[list].head == LULL_WHEEL_NONE && wheel->levels != 0)
		wheel_first_slot(wheel, &list);
	return wheel->lists[list].head;
}

uint64_t
lull_wheel_floor_ns(const struct lull_wheel *wheel)
{
	uint32_t list;

	if (wheel_reached(wheel) != LULL_WHEEL_NONE)
		return wheel->base_ns;
	return wheel->levels == 0 ? UINT64_MAX : wheel_first_slot(wheel, &list);
}
