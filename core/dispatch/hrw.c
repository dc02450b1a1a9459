/* SPDX-License-Identifier: BSD-3-Clause */
/* Highest random weight: with a worker less, only the flows of that worker move. */
#include "scheduler.h"

static void
hrw_burst(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
	  uint32_t count, uint16_t *workers)
{
	(void)state;
	view->best(digests, count, view->worker_count, workers);
}

const struct lull_scheduler lull_scheduler_hrw = {
	.name = "hrw",
	.summary = "by the highest random weight of the flow's digest",
	.splits = false,
	.state_size = lull_scheduler_state_none,
	.init = lull_scheduler_init_none,
	.burst = hrw_burst,
};
