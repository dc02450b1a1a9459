/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adaptive highest random weight. Both forms multiply a worker's weights by what it has left,
 *
 *   ahrw        the largest of mu_j / -ln(u_j), u_j = weight / 2^31: a worker gets flows in
 *               proportion to mu_j (weighted rendezvous). mu_j falls to the free share of the ring
 *               at once, rises slowly, and only once a period: flows move away from workers that
 *               were lowered and back, never between others.
 *   ahrw-paper  the largest of mu_j * weight, mu_j the free share now, as Li, Song and Zeng have it
 *               (see subflow.c): not in proportion, and no memory.
 *
 * Adapting weights now and then, and moving flows away from lowered workers only, is the idea of
 * Kencl and Le Boudec, "Adaptive load sharing for network processors", 2008; their thresholds and
 * steps are not these.
 */
#include "logarithm.h"
#include "scheduler.h"

#define PERIOD_NS (1 * LULL_NS_PER_MS)
/* Each period a 16th of what is missing comes back: all but 2 % in 60 ms. */
#define RISE_SHIFT 4
/* No worker is shut out, or nothing would tell that it has room again. */
#define SHARE_MIN (LULL_SHARE_ONE / 1024)
/* 2^26 / mu: 2^10 for a free worker, so that the product with a logarithm keeps to 64 bits. */
#define INVERSE_ONE (1u << 26)

struct ahrw {
	uint64_t next_ns; /* end of the period */
	bool lowered;     /* any of them */
	uint32_t share[LULL_DISPATCH_WORKERS_MAX];
	uint32_t inverse[LULL_DISPATCH_WORKERS_MAX];
};

static size_t
ahrw_state_size(const struct lull_dispatch_config *config)
{
	(void)config;
	return sizeof(struct ahrw);
}

static void
ahrw_init(void *state, const struct lull_schedule_view *view)
{
	struct ahrw *ahrw = state;

	for (uint32_t worker = 0; worker < view->worker_count; worker++)
		ahrw->share[worker] = LULL_SHARE_ONE;
}

static void
ahrw_adapt(struct ahrw *ahrw, const struct lull_schedule_view *view)
{
	ahrw->next_ns = view->now_ns + PERIOD_NS;
	ahrw->lowered = false;
	for (uint32_t worker = 0; worker < view->worker_count; worker++) {
		uint32_t free_share = LULL_SHARE_ONE - lull_schedule_used_share(view, worker);
		uint32_t share = ahrw->share[worker];

		if (lull_schedule_overloaded(view, worker))
			share = LULL_MIN(share, LULL_MAX(free_share, SHARE_MIN));
		else if (share < LULL_SHARE_ONE)
			share += ((LULL_SHARE_ONE - share) >> RISE_SHIFT) + 1;
		ahrw->share[worker] = share;
		ahrw->inverse[worker] = INVERSE_ONE / share;
		ahrw->lowered |= share < LULL_SHARE_ONE;
	}
}

static uint16_t
ahrw_choose(const struct ahrw *ahrw, uint32_t worker_count, uint32_t digest)
{
	uint64_t least = UINT64_MAX;
	uint16_t best = 0;

	for (uint16_t worker = 0; worker < worker_count; worker++) {
		uint64_t cost = lull_logarithm(lull_weight(digest, worker)) * ahrw->inverse[worker];

		if (cost < least) {
			least = cost;
			best = worker;
		}
	}
	return best;
}

static void
ahrw_burst(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
	   uint32_t count, uint16_t *workers)
{
	struct ahrw *ahrw = state;

	if (view->now_ns >= ahrw->next_ns)
		ahrw_adapt(ahrw, view);
	view->best(digests, count, view->worker_count, workers);
	if (!ahrw->lowered)
		return;
	for (uint32_t i = 0; i < count; i++) {
		uint16_t home = workers[i];

		/* A flow whose home was not lowered has no better worker than it. */
		if (ahrw->share[home] == LULL_SHARE_ONE)
			continue;
		workers[i] = ahrw_choose(ahrw, view->worker_count, digests[i]);
		view->tally->relieved += workers[i] != home;
	}
}

static void
ahrw_paper_burst(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
		 uint32_t count, uint16_t *workers)
{
	uint32_t share[LULL_DISPATCH_WORKERS_MAX];

	(void)state;
	for (uint32_t worker = 0; worker < view->worker_count; worker++)
		share[worker] = LULL_SHARE_ONE - lull_schedule_used_share(view, worker);
	view->best(digests, count, view->worker_count, workers);
	for (uint32_t i = 0; i < count; i++) {
		uint16_t best = workers[i];
		uint64_t best_weight = (uint64_t)lull_weight(digests[i], best) * share[best];

		for (uint16_t worker = 0; worker < view->worker_count; worker++) {
			uint64_t weight = (uint64_t)lull_weight(digests[i], worker) * share[worker];

			if (weight > best_weight) {
				best_weight = weight;
				best = worker;
			}
		}
		view->tally->relieved += best != workers[i];
		workers[i] = best;
	}
}

const struct lull_scheduler lull_scheduler_ahrw = {
	.name = "ahrw",
	.summary = "hrw in proportion to the free room of each worker, updated every ms",
	.splits = true,
	.state_size = ahrw_state_size,
	.init = ahrw_init,
	.burst = ahrw_burst,
};

const struct lull_scheduler lull_scheduler_ahrw_paper = {
	.name = "ahrw-paper",
	.summary = "hrw with weights multiplied by the free share of each ring",
	.splits = true,
	.state_size = lull_scheduler_state_none,
	.init = lull_scheduler_init_none,
	.burst = ahrw_paper_burst,
};
