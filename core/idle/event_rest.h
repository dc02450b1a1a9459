/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Event rest: rests that a packet ends: how late it does, and how long they may be.
 *
 * What a packet sets off (an interrupt, a write that the core watches) reaches the thread after the
 * NIC's moderation, the core's way out of its idle state and the kernel's way to the thread. None
 * of it is that of a timer, and nothing in an ordinary rest tells when the packet came. So now and
 * then a loop keeps the core, watches its queues itself and waits for the word of what it has seen
 * (struct lull_rest.watch): that is the first part; the rest is what timers take to wake it, whose
 * longest rests are as deep. Until enough were measured nothing is known: a packet may have come
 * right after the last look, and such a rest may be no longer than one on a timer.
 * Memory: one fixed struct.
 */
#ifndef LULL_EVENT_REST_H
#define LULL_EVENT_REST_H

#include "governor.h"

#define LULL_EVENT_NS (10 * LULL_NS_PER_MS) /* longest rest, in case a word gets lost */
#define LULL_EVENT_READY 128                /* words measured before anything is known */

struct lull_event_rest {
	const struct lull_idle_view *view;
	uint64_t watch_ns; /* when to watch again */
};

/**
 * How late packets end rests of @p idle_state, at most but for @p rare_ppm of them; UINT64_MAX: not
 * known.
 */
uint64_t lull_event_late_ns(const struct lull_idle_view *view, enum lull_idle_state idle_state,
			    uint32_t rare_ppm);
/** Is it known for rests of @p idle_state, and early enough for the objective and for the ring? */
bool lull_event_fits(const struct lull_idle_view *view, enum lull_idle_state idle_state);
/**
 * Longest rest of @p idle_state where one on a timer may last @p timed_ns. While it is not known
 * how late packets end it, it lasts as long as objective and ring hold if none ends it at all.
 */
uint64_t lull_event_limit_ns(const struct lull_idle_view *view, enum lull_idle_state idle_state,
			     uint64_t timed_ns);
/**
 * A rest of at most @p limit_ns that is to be watched, if it is time for one; else idle state NONE.
 */
struct lull_rest lull_event_watch(const struct lull_event_rest *event, uint64_t now_ns,
				  uint64_t limit_ns);
/** A rest has ended. */
void lull_event_wake(struct lull_event_rest *event, const struct lull_wake *wake);

#endif
