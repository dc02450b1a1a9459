/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subflow as published: Algorithm 1 of Li, Song and Zeng (see subflow.c) line by line. Different
 * flows that share a slot inherit each other's worker; that is counted, not mended. The program it
 * was built upon, DPDK's example load_balancer, reads and writes bursts of 144 packets and keeps
 * what it has not written yet in an array per worker, from one burst it reads to the next: n_mbufs
 * is that array's length, so the threshold is only looked at when nothing is waiting to be written.
 * What a ring has no room for it frees: no second worker is tried.
 */
#include "subflow.h"

/* bsz_rd and bsz_wr there. */
#define BURST_READ 144u
#define BURST_WRITE 144u

struct slot {
	uint32_t digest; /* of the flow that was here first, to count the others */
	uint16_t stamp;
	uint16_t worker;
};

struct paper {
	uint16_t stamp;
	struct slot slots[BURST_READ];
};

static size_t
paper_state_size(const struct lull_dispatch_config *config)
{
	(void)config;
	return sizeof(struct paper);
}

static void
paper_clear(struct paper *paper)
{
	if (++paper->stamp != 0)
		return;
	for (uint32_t i = 0; i < BURST_READ; i++)
		paper->slots[i].stamp = 0;
	paper->stamp = 1;
}

static void
paper_burst(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
	    uint32_t count, uint16_t *workers)
{
	uint32_t waiting[LULL_DISPATCH_WORKERS_MAX];
	struct paper *paper = state;

	for (uint32_t i = 0; i < view->worker_count; i++)
		waiting[i] = view->loads[i].staged_pkts;
	view->best(digests, count, view->worker_count, workers);
	paper_clear(paper); /* line 1 */
	for (uint32_t i = 0; i < count; i++) {
		struct slot *slot = &paper->slots[digests[i] % BURST_READ];
		uint16_t home = workers[i];

		if (slot->stamp != paper->stamp) /* lines 5 to 8 */
			*slot = (struct slot){ digests[i], paper->stamp, home };
		view->tally->collisions += slot->digest != digests[i];
		if (waiting[slot->worker] == 0 &&
		    lull_schedule_overloaded(view, slot->worker)) /* lines 9 to 16 */
			slot->worker = lull_subflow_adjust(view, digests[i], slot->worker);
		workers[i] = slot->worker;
		view->tally->relieved += slot->worker != home;
		if (++waiting[slot->worker] >= BURST_WRITE)
			waiting[slot->worker] = 0;
	}
}

const struct lull_scheduler lull_scheduler_subflow_paper = {
	.name = "subflow-paper",
	.summary = "subflow as published: flows may share a slot and so a worker",
	.splits = true,
	.loses = true,
	.state_size = paper_state_size,
	.init = lull_scheduler_init_none,
	.burst = paper_burst,
};
