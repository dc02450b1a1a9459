/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Queue: events by time, equal times by number, so that runs repeat exactly.
 */
#ifndef LULL_SIM_QUEUE_H
#define LULL_SIM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#define LULL_SIM_QUEUE_MAX 128

struct lull_sim_event {
	uint64_t at_ns;
	uint32_t number; /* of a thread; at most one event each */
};

struct lull_sim_queue {
	uint32_t count;
	struct lull_sim_event events[LULL_SIM_QUEUE_MAX]; /* a binary heap */
};

void lull_sim_queue_push(struct lull_sim_queue *queue, struct lull_sim_event event);
/** Not when empty. */
struct lull_sim_event lull_sim_queue_pop(struct lull_sim_queue *queue);

static inline bool
lull_sim_event_before(struct lull_sim_event a, struct lull_sim_event b)
{
	return a.at_ns < b.at_ns || (a.at_ns == b.at_ns && a.number < b.number);
}

#endif
