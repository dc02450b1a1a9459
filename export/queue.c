/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
sink_queue_open(struct sink_queue *queue, size_t size)
{
	memset(queue, 0, sizeof(*queue));
	queue->size = size / sizeof(struct sink_unit) * sizeof(struct sink_unit);
	queue->bytes = malloc(queue->size);
	return queue->bytes == NULL ? -ENOMEM : 0;
}

void
sink_queue_close(struct sink_queue *queue)
{
	free(queue->bytes);
	memset(queue, 0, sizeof(*queue));
}

static size_t
queue_unit_bytes(uint32_t len)
{
	size_t whole = sizeof(struct sink_unit) + len;

	return (whole + sizeof(struct sink_unit) - 1) / sizeof(struct sink_unit) *
	       sizeof(struct sink_unit);
}

/* Units do not go round the end: a whole one fits behind the tail or the tail starts again. */
static bool
queue_make_room(struct sink_queue *queue, size_t need)
{
	if (queue->count == 0)
		queue->head = queue->tail = 0;
	if (queue->count > 0 && queue->tail <= queue->head)
		return queue->head - queue->tail >= need;
	if (queue->size - queue->tail >= need)
		return true;
	if (queue->count == 0 || queue->head < need)
		return false;
	queue->end = queue->tail;
	queue->tail = 0;
	return true;
}

bool
sink_queue_put(struct sink_queue *queue, const void *bytes, uint32_t len, uint32_t records)
{
	struct sink_unit unit = { len, records };
	size_t need = queue_unit_bytes(len);

	if (!queue_make_room(queue, need))
		return false;
	memcpy(queue->bytes + queue->tail, &unit, sizeof(unit));
	memcpy(queue->bytes + queue->tail + sizeof(unit), bytes, len);
	queue->tail += need;
	if (queue->tail > queue->head)
		queue->end = queue->tail;
	queue->records += records;
	queue->used += need;
	queue->count++;
	return true;
}

const struct sink_unit *
sink_queue_front(const struct sink_queue *queue)
{
	if (queue->count == 0)
		return NULL;
	return (const struct sink_unit *)(const void *)(queue->bytes + queue->head);
}

void
sink_queue_pop(struct sink_queue *queue)
{
	const struct sink_unit *unit = sink_queue_front(queue);

	queue->records -= unit->records;
	queue->used -= queue_unit_bytes(unit->len);
	queue->count--;
	queue->head += queue_unit_bytes(unit->len);
	if (queue->head == queue->end && queue->count > 0)
		queue->head = 0;
}
