/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subflow: the packets of one flow in one burst go to one worker, by highest random weight, or by
 * adjusted weight when that worker's load factor is above the threshold. After Li, Song and Zeng,
 * "An Adaptive Throughput-First Packet Scheduling Algorithm for DPDK-Based Packet Processing
 * Systems", Future Internet 2021, 13, 78.
 *
 * This is the exact form: loads are sampled once per burst, a subflow is adjusted once, and slots
 * know their flow. A subflow whose worker is not overloaded needs no slot at all.
 */
#include "subflow.h"

#include <assert.h>

/* Twice the packets of a burst, so that probing always finds an end soon. */
#define SLOT_COUNT 1024u
static_assert(SLOT_COUNT >= 2 * LULL_DISPATCH_BURST_MAX, "half of the slots stay free");

struct slot {
	uint32_t digest;
	uint16_t stamp; /* number of the burst it was written in */
	uint16_t worker;
};

struct subflow {
	uint16_t stamp;
	struct slot slots[SLOT_COUNT];
};

uint16_t
lull_subflow_adjust(const struct lull_schedule_view *view, uint32_t digest, uint16_t target)
{
	uint32_t least_share = LULL_SHARE_ONE;
	uint16_t best = target, least = target;
	uint64_t best_weight = 0;

	for (uint16_t worker = 0; worker < view->worker_count; worker++) {
		uint32_t share = lull_schedule_used_share(view, worker);
		uint64_t weight = (uint64_t)lull_weight(digest, worker) * (LULL_SHARE_ONE - share);

		if (worker == target)
			continue;
		if (share < least_share) {
			least_share = share;
			least = worker;
		}
		if (!lull_schedule_overloaded(view, worker) && weight >= best_weight) {
			best_weight = weight;
			best = worker;
		}
	}
	return best != target ? best : least;
}

static size_t
subflow_state_size(const struct lull_dispatch_config *config)
{
	(void)config;
	return sizeof(struct subflow);
}

/* Forget all slots by counting on; the count comes round once in 65536 bursts. */
static void
subflow_clear(struct subflow *subflow)
{
	if (++subflow->stamp != 0)
		return;
	for (uint32_t i = 0; i < SLOT_COUNT; i++)
		subflow->slots[i].stamp = 0;
	subflow->stamp = 1;
}

static uint16_t
subflow_adjusted(struct subflow *subflow, const struct lull_schedule_view *view, uint32_t digest,
		 uint16_t target)
{
	uint32_t index = digest % SLOT_COUNT;
	struct slot *slot = &subflow->slots[index];

	while (slot->stamp == subflow->stamp) {
		if (slot->digest == digest)
			return slot->worker;
		index = (index + 1) % SLOT_COUNT;
		slot = &subflow->slots[index];
	}
	*slot = (struct slot){
		.digest = digest,
		.stamp = subflow->stamp,
		.worker = lull_subflow_adjust(view, digest, target),
	};
	return slot->worker;
}

static void
subflow_burst(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
	      uint32_t count, uint16_t *workers)
{
	uint32_t overloaded = 0;
	uint64_t relieved = 0;

	view->best(digests, count, view->worker_count, workers);
	for (uint32_t worker = 0; worker < view->worker_count; worker++)
		overloaded |= (uint32_t)lull_schedule_overloaded(view, worker) << worker;
	if (overloaded == 0)
		return;
	subflow_clear(state);
	for (uint32_t i = 0; i < count; i++) {
		uint16_t target = workers[i];

		if ((overloaded >> target & 1) == 0)
			continue;
		workers[i] = subflow_adjusted(state, view, digests[i], target);
		relieved += workers[i] != target;
	}
	view->tally->relieved += relieved;
}

const struct lull_scheduler lull_scheduler_subflow = {
	.name = "subflow",
	.summary = "hrw, but a flow leaves a worker above the threshold for one burst",
	.splits = true,
	.state_size = subflow_state_size,
	.init = lull_scheduler_init_none,
	.burst = subflow_burst,
};
