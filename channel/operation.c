/* SPDX-License-Identifier: BSD-3-Clause */
#include "operation.h"

#include <errno.h>
#include <stdlib.h>

int
channel_operations_init(struct channel_operations *operations, uint32_t count_max)
{
	*operations = (struct channel_operations){ .count_max = count_max };
	operations->all = calloc(count_max, sizeof(*operations->all));
	if (operations->all == NULL)
		return -ENOMEM;
	for (uint32_t i = count_max; i > 0; i--) {
		operations->all[i - 1].next = operations->free;
		operations->free = &operations->all[i - 1];
	}
	return 0;
}

void
channel_operations_fini(struct channel_operations *operations)
{
	free(operations->all);
}

struct channel_operation *
channel_operation_new(struct channel_operations *operations, enum channel_operation_state state)
{
	struct channel_operation *operation = operations->free;

	if (operation == NULL)
		return NULL;
	operations->free = operation->next;
	operations->used++;
	*operation = (struct channel_operation){ .state = state, .serial = operation->serial + 1 };
	return operation;
}

void
channel_operation_drop(struct channel_operations *operations, struct channel_operation *operation)
{
	operation->state = CHANNEL_OPERATION_FREE;
	operation->next = operations->free;
	operations->free = operation;
	operations->used--;
}

void
channel_operation_end(struct channel_operations *operations, struct channel_operation *operation,
		      int error)
{
	operation->state = CHANNEL_OPERATION_ENDED;
	operation->done.error = error;
	operation->next = NULL;
	if (operations->ended++ == 0)
		operations->first = operation;
	else
		operations->last->next = operation;
	operations->last = operation;
}

bool
channel_operation_take(struct channel_operations *operations,
		       struct lull_channel_completion *completion)
{
	struct channel_operation *operation = operations->first;

	if (operations->ended == 0)
		return false;
	*completion = operation->done;
	operations->first = operation->next;
	operations->ended--;
	channel_operation_drop(operations, operation);
	return true;
}

bool
channel_operation_ours(const struct channel_operations *operations, const void *context)
{
	uintptr_t at = (uintptr_t)context, begin = (uintptr_t)operations->all;

	return at >= begin && at - begin < operations->count_max * sizeof(*operations->all);
}

struct channel_operation *
channel_operation_find(const struct channel_operations *operations,
		       enum channel_operation_state state, const void *context)
{
	for (uint32_t i = 0; i < operations->count_max; i++)
		if (operations->all[i].state == state && operations->all[i].done.context == context)
			return &operations->all[i];
	return NULL;
}

uint64_t
channel_operation_claim(const struct channel_operations *operations,
			const struct channel_operation *operation)
{
	return (uint64_t)operation->serial << 32 | (uint64_t)(operation - operations->all);
}

struct channel_operation *
channel_operation_claimed(const struct channel_operations *operations, uint64_t claim)
{
	uint32_t index = (uint32_t)claim;

	if (index >= operations->count_max ||
	    operations->all[index].state != CHANNEL_OPERATION_CLAIMED ||
	    operations->all[index].serial != (uint32_t)(claim >> 32))
		return NULL;
	return &operations->all[index];
}
