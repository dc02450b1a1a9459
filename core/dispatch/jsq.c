/* SPDX-License-Identifier: BSD-3-Clause */
/* Join the shortest queue: ring, what is staged for it, and what this burst adds. */
#include "scheduler.h"

static void
jsq_burst(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
	  uint32_t count, uint16_t *workers)
{
	uint32_t queue_pkts[LULL_DISPATCH_WORKERS_MAX];

	(void)state;
	(void)digests;
	for (uint32_t worker = 0; worker < view->worker_count; worker++)
		queue_pkts[worker] = view->loads[worker].used_pkts;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t shortest = 0;

		for (uint32_t worker = 1; worker < view->worker_count; worker++) {
			if (queue_pkts[worker] < queue_pkts[shortest])
				shortest = worker;
		}
		queue_pkts[shortest]++;
		workers[i] = (uint16_t)shortest;
	}
}

const struct lull_scheduler lull_scheduler_jsq = {
	.name = "jsq",
	.summary = "each packet to the worker with the fewest waiting packets",
	.splits = true,
	.state_size = lull_scheduler_state_none,
	.init = lull_scheduler_init_none,
	.burst = jsq_burst,
};
