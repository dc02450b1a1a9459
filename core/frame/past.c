/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "past.h"

struct lull_past_frame *
lull_past_find(struct lull_past *past, uint64_t key)
{
	struct lull_past_frame *found = NULL;

	for (uint32_t i = 0; i < past->count; i++)
		if (past->keys[i] == key && (found == NULL || found->former))
			found = &past->frames[i];
	return found;
}

void
lull_past_add(struct lull_past *past, uint64_t key, const struct lull_past_frame *frame)
{
	past->keys[past->next] = key;
	past->frames[past->next] = *frame;
	if (past->count < LULL_PAST_FRAMES)
		past->count++;
	past->next = (past->next + 1) % LULL_PAST_FRAMES;
}

uint64_t
lull_past_floor(const struct lull_past *past)
{
	uint64_t floor = UINT64_MAX;

	for (uint32_t i = 0; i < past->count; i++)
		if (!past->frames[i].former && past->keys[i] < floor)
			floor = past->keys[i];
	return floor;
}

/* Only soon after a restart, when nothing has gone round yet: the order of ending is that of i. */
static void
past_forget_former(struct lull_past *past)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < past->count; i++) {
		if (past->frames[i].former)
			continue;
		past->keys[kept] = past->keys[i];
		past->frames[kept++] = past->frames[i];
	}
	past->count = kept;
	past->next = kept % LULL_PAST_FRAMES;
}

void
lull_past_open(struct lull_past *past)
{
	past->doubt.on = false;
	if (past->opened < 3 && ++past->opened == 3)
		past_forget_former(past);
}

bool
lull_past_doubt(struct lull_past *past, uint64_t key, uint64_t bytes, uint64_t frame_bytes,
		bool strange)
{
	struct lull_doubt *doubt = &past->doubt;

	if (!doubt->on || key < doubt->key)
		*doubt = (struct lull_doubt){ .on = true, .key = key };
	if (key > doubt->key && ((strange && doubt->strange_fragments > 0) ||
				 (doubt->fragments >= 2 && doubt->bytes >= frame_bytes / 2)))
		return true;
	doubt->key = key;
	doubt->bytes += bytes;
	doubt->fragments++;
	doubt->strange_fragments += strange;
	return doubt->strange_fragments >= LULL_PAST_STRANGE_FRAGMENTS;
}
