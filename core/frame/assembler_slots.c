/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers by what they are doing: free, too small, given. */
#include <errno.h>

#include "assembler.h"
#include "base/assert.h"

void
lull_slot_push(struct lull_slot_stack *stack, uint16_t slot)
{
	stack->slots[stack->count++] = slot;
}

uint16_t
lull_slot_pop(struct lull_slot_stack *stack)
{
	return stack->slots[--stack->count];
}

uint16_t
lull_assembler_given_pop(struct lull_assembler *assembler)
{
	uint16_t slot = assembler->given[assembler->given_first];

	assembler->given_first = (assembler->given_first + 1) % LULL_ASSEMBLER_BUFFERS_MAX;
	assembler->given_count--;
	return slot;
}

int
lull_assembler_supply(struct lull_assembler *assembler, uint8_t *data, void *user)
{
	uint16_t slot;

	LULL_ASSERT(data != NULL);
	if (assembler->lent == assembler->config.buffer_max)
		return -ENOSPC;
	slot = lull_slot_pop(&assembler->empty);
	assembler->slots[slot].data = data;
	assembler->slots[slot].bytes = assembler->config.buffer_bytes;
	assembler->slots[slot].user = user;
	lull_slot_push(&assembler->ready, slot);
	assembler->lent++;
	return 0;
}

void
lull_slot_return(struct lull_assembler *assembler, uint16_t slot)
{
	bool fits = assembler->slots[slot].bytes >= assembler->config.buffer_bytes;

	lull_slot_push(fits ? &assembler->ready : &assembler->small, slot);
}

bool
lull_slot_take(struct lull_assembler *assembler, uint16_t *slot)
{
	while (assembler->ready.count == 0) {
		if (assembler->config.policy != LULL_FRAME_NEWEST_WINS ||
		    assembler->given_count == 0)
			return false;
		LULL_ASSEMBLER_COUNT(assembler, frames_replaced, 1);
		lull_slot_return(assembler, lull_assembler_given_pop(assembler));
	}
	*slot = lull_slot_pop(&assembler->ready);
	return true;
}

int
lull_assembler_resize(struct lull_assembler *assembler, uint64_t buffer_bytes)
{
	uint32_t count = assembler->ready.count;

	if (buffer_bytes == 0 || buffer_bytes > LULL_FRAME_BYTES_MAX)
		return -EINVAL;
	assembler->config.buffer_bytes = buffer_bytes;
	assembler->ready.count = 0;
	for (uint32_t i = 0; i < count; i++)
		lull_slot_return(assembler, assembler->ready.slots[i]);
	return 0;
}

bool
lull_assembler_reclaim(struct lull_assembler *assembler, uint8_t **data, void **user)
{
	uint16_t slot;

	if (assembler->small.count == 0)
		return false;
	slot = lull_slot_pop(&assembler->small);
	*data = assembler->slots[slot].data;
	*user = assembler->slots[slot].user;
	lull_slot_push(&assembler->empty, slot);
	assembler->lent--;
	return true;
}
