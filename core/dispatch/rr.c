/* SPDX-License-Identifier: BSD-3-Clause */
/* Round robin, by packet and by burst. */
#include "scheduler.h"

struct rr {
	uint32_t next;
};

static size_t
rr_state_size(const struct lull_dispatch_config *config)
{
	(void)config;
	return sizeof(struct rr);
}

static void
rr_init(void *state, const struct lull_schedule_view *view)
{
	struct rr *rr = state;

	rr->next = (uint32_t)(view->seed % view->worker_count);
}

static uint32_t
rr_take(struct rr *rr, const struct lull_schedule_view *view)
{
	uint32_t worker = rr->next++;

	if (rr->next == view->worker_count)
		rr->next = 0;
	return worker;
}

static void
rr_packet(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
	  uint32_t count, uint16_t *workers)
{
	(void)digests;
	for (uint32_t i = 0; i < count; i++)
		workers[i] = (uint16_t)rr_take(state, view);
}

static void
rr_burst(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
	 uint32_t count, uint16_t *workers)
{
	uint32_t worker = rr_take(state, view);

	(void)digests;
	for (uint32_t i = 0; i < count; i++)
		workers[i] = (uint16_t)worker;
}

const struct lull_scheduler lull_scheduler_rr_packet = {
	.name = "rr-packet",
	.summary = "round robin, packet by packet",
	.splits = true,
	.state_size = rr_state_size,
	.init = rr_init,
	.burst = rr_packet,
};

const struct lull_scheduler lull_scheduler_rr_burst = {
	.name = "rr-burst",
	.summary = "round robin, burst by burst",
	.splits = true,
	.loses = true,
	.state_size = rr_state_size,
	.init = rr_init,
	.burst = rr_burst,
};
