/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rest ceiling: how long a rest may be asked for, for a governor that searches below it.
 *
 * The bounds of bound.h on what calibration and load know: latency at the percentile, room in the
 * Rx ring, the cap, break-even. A ceiling that falls acts at once, one that rises is approached
 * step by step; late wake-ups and lost packets lower it for a while.
 * Memory: one fixed struct.
 */
#ifndef LULL_REST_CEILING_H
#define LULL_REST_CEILING_H

#include "governor.h"
#include "ring_guard.h"

struct lull_rest_ceiling {
	const struct lull_idle_view *view;
	uint64_t update_ns; /* when to reckon again */
	uint64_t rest_ns;   /* longest request; 0: do not sleep */
	uint64_t least_ns;  /* shortest worth making */
	uint64_t probe_ns;  /* next trial rest while sleeping is out of the question */
	struct lull_ring_guard guard;
	enum lull_verdict_state state;
	enum lull_bound binding;
};

void lull_rest_ceiling_init(struct lull_rest_ceiling *ceiling, const struct lull_idle_view *view);
/** Each iteration: reckon again when it is time. */
void lull_rest_ceiling_iteration(struct lull_rest_ceiling *ceiling, uint64_t now_ns);
/**
 * While there is no sleeping: is a rest of the shortest kind due, so that calibration notices when
 * the machine gets better? Never where a promise of no loss rests on nothing measured.
 */
bool lull_rest_ceiling_probes(struct lull_rest_ceiling *ceiling,
			      const struct lull_idle_iteration *iteration);
/** Instead of a sleep: what a packet ends, else the pause. */
enum lull_idle_state lull_rest_ceiling_fallback(const struct lull_rest_ceiling *ceiling);
void lull_rest_ceiling_wake(struct lull_rest_ceiling *ceiling, const struct lull_wake *wake);
void lull_rest_ceiling_miss(struct lull_rest_ceiling *ceiling, uint64_t now_ns);
/** Longest request that the ring survives, the guard included. */
uint64_t lull_rest_ceiling_ring_ns(const struct lull_rest_ceiling *ceiling);

#endif
