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
 * longest rests are as deep. Rests that a packet ended tell nothing of their own way out, nor of
 * stalls in them; so some are made to end before a packet does (lull_event_trial()), and some on a
 * timer. Until enough were measured nothing is known: a packet may have come
 * right after the last look, and such a rest may be no longer than one on a timer.
 * Memory: one fixed struct.
 */
#ifndef LULL_EVENT_REST_H
#define LULL_EVENT_REST_H

#include "governor.h"

#define LULL_EVENT_NS (10 * LULL_NS_PER_MS) /* longest rest, in case a word gets lost */
/*
 * Words measured before anything is known: then no more than this share come later than the latest
 * of them, with 95 % confidence. A percentile of more nines takes more.
 */
#define LULL_EVENT_SELDOM_PPM 5000u
#define LULL_EVENT_READY 600

struct lull_event_rest {
	const struct lull_idle_view *view;
	uint64_t watch_ns; /* when to watch again */
	uint64_t trial_ns; /* when to try again */
	bool trial_timed;  /* the last trial was on a timer */
	/* The loop waits for interrupts that nobody measured, as no packet came for so long. */
	bool unmeasured;
	uint64_t silence_ns;
};

void lull_event_rest_init(struct lull_event_rest *event, const struct lull_idle_view *view);
/** Is it known how late packets end rests of @p idle_state? */
bool lull_event_known(const struct lull_idle_view *view, enum lull_idle_state idle_state);
/** No packet for so long that one may be late by what nobody knows. */
bool lull_event_silent(const struct lull_event_rest *event, uint64_t now_ns);
/** One was, or may have been: the next silence takes twice as long, up to 64 s. */
void lull_event_end_silence(struct lull_event_rest *event);

/**
 * How late packets end rests of @p idle_state, at most but for @p rare_ppm of them; UINT64_MAX: not
 * known.
 */
uint64_t lull_event_late_ns(const struct lull_idle_view *view, enum lull_idle_state idle_state,
			    uint32_t rare_ppm);
/**
 * Is it known for rests of @p idle_state, and early enough for the objective and for the ring? Half
 * of the objective's budget may be late, and a proven ring outlasts the longest stall as well.
 * Never for more nines than what is remembered can tell, p99.92.
 */
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
/** Rests by interrupt are worth it where fewer packets come than one in so many on a timer. */
#define LULL_EVENT_RESTS 10
/** Is it time for a trial rest? */
static inline bool
lull_event_trial_due(const struct lull_event_rest *event, uint64_t now_ns)
{
	return now_ns >= event->trial_ns;
}
/**
 * A trial rest that is due, or idle state NONE. A loop that rests by interrupt (@p resting) makes
 * one every 10 ms, in turn on a timer of @p timed_ns, which shows stalls, and by interrupt but so
 * short that mostly no packet ends it, which shows the way out of deep idle states. One that would
 * rest by interrupt, with so few packets, makes the latter kind alone, seldom enough for the
 * objective.
 */
struct lull_rest lull_event_trial(struct lull_event_rest *event, uint64_t now_ns, uint64_t timed_ns,
				  bool resting);
/** A rest has ended. */
void lull_event_wake(struct lull_event_rest *event, const struct lull_wake *wake);

#endif
