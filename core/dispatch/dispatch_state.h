/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The dispatcher from inside, for dispatch*.c alone.
 */
#ifndef LULL_DISPATCH_STATE_H
#define LULL_DISPATCH_STATE_H

#include <assert.h>
#include <stdalign.h>

#include "scheduler.h"
#include "trace.h"

/* Buckets keep time in units of 2^16 ns; it comes round after three days, see bucket_idle(). */
#define LULL_BUCKET_TICK_SHIFT 16

/* A flag of a bucket; LULL_DISPATCH_SHARED is the other. */
#define LULL_BUCKET_NOTED 128u

/* Flows of a bucket that are told apart: those seen last. */
#define LULL_BUCKET_FLOWS 4

/* Two to a cache line; all numbers wrap. */
struct lull_bucket {
	uint32_t position; /* of its last packet among those sent to its worker, 1 2 3 .. */
	uint32_t ticks;    /* clock of its last packet */
	uint32_t seq;      /* of its next packet */
	uint16_t pkts;     /* since it was new (0: it is); stays at UINT16_MAX */
	uint8_t worker;
	uint8_t flags;
	/*
	 * Of each flow, the one that came last first: bits of its digest that the bucket does not
	 * tell, its packets up to pin_pkts, 0: none. Known ones have UINT16_MAX.
	 */
	uint16_t tags[LULL_BUCKET_FLOWS], flow_pkts[LULL_BUCKET_FLOWS];
};
static_assert(sizeof(struct lull_bucket) == 32, "a bucket takes 32 bytes");

/* The last verdict in a bucket. */
struct lull_bucket_note {
	uint32_t digest;
	uint16_t app;
};

struct lull_dispatch {
	alignas(LULL_CACHE_LINE) struct lull_schedule_view view;
	const struct lull_scheduler *scheduler, *shadow;
	void *state, *shadow_state;
	struct lull_bucket *buckets; /* NULL: not tracked */
	struct lull_bucket_note *notes;
	uint8_t *shadow_workers; /* by bucket, + 1; 0: none yet */
	uint32_t idle_ticks;
	uint32_t pin_pkts;
	uint32_t tag_shift; /* of a digest */
	uint32_t tight;     /* bit per worker: too full for pins */
	enum lull_order order;
	bool changed; /* another scheduler was here before: flows can move between the two */
	uint32_t capacity_pkts[LULL_DISPATCH_WORKERS_MAX]; /* that view.per_slot is for */
	struct lull_trace trace;
	struct lull_schedule_tally tally, shadow_tally;
	struct lull_dispatch_config config; /* as given */
	size_t state_size;                  /* room at state and at shadow_state */
	alignas(LULL_CACHE_LINE) struct lull_dispatch_counters counters;
};

void lull_dispatch_config_default(struct lull_dispatch_config *config);

/* The calls of a burst that work on buckets. */
void lull_bucket_track(struct lull_dispatch *dispatch, const uint32_t *digests, uint32_t count,
		       uint16_t *workers, struct lull_dispatch_mark *marks);
void lull_bucket_refused(struct lull_dispatch *dispatch, uint16_t from, const uint32_t *digests,
			 uint32_t count, uint16_t *workers, struct lull_dispatch_mark *marks);
void lull_bucket_note(struct lull_dispatch *dispatch, uint32_t digest, uint16_t app);

#endif
