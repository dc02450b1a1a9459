/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

#include "base/assert.h"

void
lull_sim_queue_push(struct lull_sim_queue *queue, struct lull_sim_event event)
{
	struct lull_sim_event *events = queue->events;
	uint32_t i = queue->count++;

	LULL_ASSERT(queue->count <= LULL_SIM_QUEUE_MAX);
	while (i > 0 && lull_sim_event_before(event, events[(i - 1) / 2])) {
		events[i] = events[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	events[i] = event;
}

struct lull_sim_event
lull_sim_queue_pop(struct lull_sim_queue *queue)
{
	struct lull_sim_event *events = queue->events;
	struct lull_sim_event first = events[0], last;
	uint32_t i = 0, child;

	LULL_ASSERT(queue->count > 0);
	last = events[--queue->count];
	for (;;) {
		child = 2 * i + 1;
		if (child >= queue->count)
			break;
		if (child + 1 < queue->count &&
		    lull_sim_event_before(events[child + 1], events[child]))
			child++;
		if (!lull_sim_event_before(events[child], last))
			break;
		events[i] = events[child];
		i = child;
	}
	events[i] = last;
	return first;
}
