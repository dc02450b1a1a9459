/* SPDX-License-Identifier: BSD-3-Clause */
/* The digest scaled to the number of workers: seeded, so that nobody can choose the worker. */
#include "scheduler.h"

static void
hash_burst(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
	   uint32_t count, uint16_t *workers)
{
	uint32_t worker_count = view->worker_count;

	(void)state;
	for (uint32_t i = 0; i < count; i++)
		workers[i] = (uint16_t)((uint64_t)digests[i] * worker_count >> 31);
}

const struct lull_scheduler lull_scheduler_hash = {
	.name = "hash",
	.summary = "by the seeded digest of the flow's key",
	.splits = false,
	.state_size = lull_scheduler_state_none,
	.init = lull_scheduler_init_none,
	.burst = hash_burst,
};
