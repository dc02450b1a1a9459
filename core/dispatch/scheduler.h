/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Scheduler: the table a dispatch policy fills in, and what it may look at.
 *
 * A new scheduler is one file and one line in schedulers.c. Its state is bytes of its dispatcher;
 * there are no file-level variables. It proposes; the dispatcher holds packets back where order
 * or pins ask for it.
 */
#ifndef LULL_SCHEDULER_H
#define LULL_SCHEDULER_H

#include <lull/dispatch.h>

#include "weights.h"

/* Shares are in units of 1 / LULL_SHARE_ONE. */
#define LULL_SHARE_ONE 65536u

/** What a scheduler adds to, no more. */
struct lull_schedule_tally {
	uint64_t relieved, collisions;
};

/** What every scheduler may read. */
struct lull_schedule_view {
	uint64_t now_ns;
	const struct lull_dispatch_load *loads;
	const uint32_t *crcs;    /* of the packets of the burst; NULL: nobody asked for them */
	lull_weights_best *best; /* workers of largest weight, for a burst */
	struct lull_schedule_tally *tally;
	uint32_t worker_count;
	uint32_t bucket_mask;
	uint32_t threshold_ppm, enter_ppm, leave_ppm; /* enter, leave 0: measure */
	uint64_t idle_ns;
	uint64_t seed;
	/* 2^32 / capacity, so that nobody divides */
	uint64_t per_slot[LULL_DISPATCH_WORKERS_MAX];
};

struct lull_scheduler {      /* every member but placed is required */
	const char *name;    /* what the user types after --scheduler */
	const char *summary; /* one line for --help and the man page */
	bool splits;         /* packets of one flow can go to several workers */
	bool needs_crcs;     /* reads view->crcs */
	bool loses;          /* as published: what a full ring refuses is lost */
	/* Bytes of state for a config without zeros; given zeroed and cache-line aligned. */
	size_t (*state_size)(const struct lull_dispatch_config *config);
	/* The view has no loads and no time yet. */
	void (*init)(void *state, const struct lull_schedule_view *view);
	void (*burst)(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
		      uint32_t count, uint16_t *workers);
	/*
	 * The proposal for a packet was not followed: order or a pin hold its flow where it is.
	 * NULL: makes no difference.
	 */
	void (*placed)(void *state, const struct lull_schedule_view *view, uint32_t digest,
		       uint16_t worker);
};

extern const struct lull_scheduler lull_scheduler_rr_packet, lull_scheduler_rr_burst,
	lull_scheduler_crc32, lull_scheduler_hash, lull_scheduler_hrw, lull_scheduler_ahrw,
	lull_scheduler_ahrw_paper, lull_scheduler_subflow, lull_scheduler_subflow_paper,
	lull_scheduler_sticky, lull_scheduler_jsq;

/* For policies that remember nothing. */
size_t lull_scheduler_state_none(const struct lull_dispatch_config *config);
void lull_scheduler_init_none(void *state, const struct lull_schedule_view *view);

/** Used part of a worker's ring, 0..LULL_SHARE_ONE. */
static inline uint32_t
lull_schedule_used_share(const struct lull_schedule_view *view, uint32_t worker)
{
	const struct lull_dispatch_load *load = &view->loads[worker];
	uint64_t used_pkts = LULL_MIN(load->used_pkts, load->capacity_pkts);

	return (uint32_t)(used_pkts * view->per_slot[worker] >> 16);
}

/** Is this worker's load factor above the threshold? */
static inline bool
lull_schedule_overloaded(const struct lull_schedule_view *view, uint32_t worker)
{
	const struct lull_dispatch_load *load = &view->loads[worker];

	return load->used_pkts * LULL_PPM > (uint64_t)view->threshold_ppm * load->capacity_pkts;
}

#endif
