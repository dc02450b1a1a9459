/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Governor: the table a rest policy fills in, and what it may look at.
 *
 * A new governor is one file and one line in governors.c. Its state is bytes
 * of its idle object; there are no file-level variables. idle.c cuts whatever
 * it proposes to the limits: a poor policy wastes power, it cannot rest past them.
 */
#ifndef LULL_GOVERNOR_H
#define LULL_GOVERNOR_H

#include <lull/idle.h>

#include "arrival_curve.h"
#include "calibration.h"
#include "load.h"
#include "pace.h"
#include "share.h"
#include "stalls.h"

/** What every governor may read; kept up to date by idle.c, lives as long as the state. */
struct lull_idle_view {
	const struct lull_idle_limits *limits;
	const struct lull_calibration *calibration; /* one per idle state, by index */
	const struct lull_calibration *events;      /* likewise: from a packet to its word */
	const struct lull_load *load;
	const struct lull_arrival_curve *curve; /* of the fullest queue */
	const struct lull_pace *pace;
	/* A governor that polls although it would rather rest says so here, no more. */
	struct lull_stall_watch *stalls;
	struct lull_share_member *share;     /* NULL: the loop has its queues to itself */
	struct lull_idle_counters *counters; /* a governor adds to backoffs, no more */
};

/** An iteration as a governor sees it. */
struct lull_idle_iteration {
	uint64_t now_ns;
	uint64_t quiet_until_ns; /* nothing urgent is expected before; 0: not known */
	uint32_t pkt_count;      /* all queues */
	uint32_t queue_pkts_max; /* the fullest queue */
	bool drained;            /* every queue is empty, as far as its driver tells */
	bool due;                /* the loop has a duty before a sleep could end */
	/* of the packets received since the last plan; size_pkts 0: not measured */
	uint64_t size_pkts, bytes, bytes_squared;
};

#define LULL_GOVERNOR_STATE_SIZE (48u << 10)

struct lull_idle_governor {  /* every member is required */
	const char *name;    /* what the user types after --governor */
	const char *summary; /* one line for --help and the man page */
	/* at most LULL_GOVERNOR_STATE_SIZE, given zeroed and cache-line aligned */
	size_t state_size;
	/*
	 * Also called after a live change, with the state zeroed again; learned things live in the
	 * view.
	 */
	void (*init)(void *state, const struct lull_idle_view *view);
	/* After each iteration: how to rest now. */
	struct lull_rest (*plan)(void *state, const struct lull_idle_iteration *iteration);
	/* After the rest: how long it lasted and what ended it. */
	void (*wake)(void *state, const struct lull_wake *wake);
	/* Packets were lost after a rest. */
	void (*miss)(void *state, uint64_t now_ns, uint64_t pkts);
	/* Fill in state, binding and whatever the policy knows better than idle.c does. */
	void (*verdict)(const void *state, struct lull_verdict *verdict);
	/* These two may be left out. */
	bool wants_sizes;   /* reads the sizes of an iteration */
	bool shares_queues; /* its plan releases the queue of view->share, or tries another one */
};

extern const struct lull_idle_governor lull_idle_spin, lull_idle_yield, lull_idle_fixed,
	lull_idle_ramp, lull_idle_halve, lull_idle_drain, lull_idle_metronome, lull_idle_kalman,
	lull_idle_kalman_guarded, lull_idle_objective, lull_idle_phase;

/* For policies with nothing to do there. */
void lull_governor_wake_none(void *state, const struct lull_wake *wake);
void lull_governor_miss_none(void *state, uint64_t now_ns, uint64_t pkts);
void lull_governor_verdict_none(const void *state, struct lull_verdict *verdict);

static inline struct lull_rest
lull_rest_none(void)
{
	return (struct lull_rest){ .idle_state = LULL_IDLE_NONE };
}

static inline struct lull_rest
lull_rest_sleep(uint64_t limit_ns)
{
	if (limit_ns == 0)
		return lull_rest_none();
	return (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP, .limit_ns = limit_ns };
}

#endif
