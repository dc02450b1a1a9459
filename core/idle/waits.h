/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Waits: what the packets of a loop waited for the loop itself, without time stamps in packets.
 *
 * A packet fetched before its queue ran short waited no longer than from the last time the queue
 * was known empty to the end of the iteration that carried it: that bound fills the histogram. How
 * many waited longer than the objective is reckoned as fluid: of what comes while nobody looks for
 * G, and while its backlog is worked off, the share (G - T) / G does. Also keeps the arrival curve
 * and the stalls, which are learned from the same looks. Threads: belongs to one loop; the
 * histogram may be read by any. Memory: one fixed struct.
 */
#ifndef LULL_WAITS_H
#define LULL_WAITS_H

#include <lull/idle.h>

#include "arrival_curve.h"
#include "stalls.h"

/* A backlog of a gap is worked off within so many times its length, unless the load is above 89 %;
 * what is fetched later came later. */
#define LULL_WAITS_DRAIN_GAPS 8
#define LULL_WAITS_STEPS 10
#define LULL_WAITS_STEP_NS 100000000ULL

/** What is known of one queue. */
struct lull_wait_queue {
	uint64_t empty_ns;   /* it was empty then */
	uint64_t batch_ns;   /* not yet told to the arrival curve: since then ... */
	uint64_t batch_pkts; /* ... so many */
	uint64_t gap_ns;     /* nobody looked for so long before its backlog; 0: has none */
	uint64_t gap_end_ns; /* the backlog of that gap is over by then at the latest */
	bool stalled;        /* that gap was a stall */
};

/** Packets whose iteration has not ended yet. */
struct lull_wait_pending {
	uint64_t since_ns, gap_ns;
	uint32_t pkts;
	bool stalled;
};

/** Totals at one time; others are told by differences. */
struct lull_waits_mark {
	uint64_t pkts, late_pkts_x256;
};

struct lull_waits {
	uint64_t poll_ns;    /* when the queues were last looked at */
	uint64_t planned_ns; /* asked to rest since */
	uint64_t gap_ns;     /* between the last two polls */
	bool rested;         /* slept since the last poll */
	bool stalled;        /* the last gap was a stall */
	bool trial;          /* ... that held a trial rest of a polling loop: tells nothing */
	uint32_t queue_count;
	uint32_t pending_count;
	uint32_t step;
	uint64_t step_ns;        /* begin of the newest step of the last second */
	uint64_t pkts;           /* since the start ... */
	uint64_t late_pkts_x256; /* ... and of them, those beyond the objective */
	struct lull_stall_watch watch;
	struct lull_wait_queue queues[LULL_IDLE_QUEUES_MAX];
	struct lull_wait_pending pending[LULL_IDLE_QUEUES_MAX];
	uint64_t window_ns; /* begin of the measurement window */
	struct lull_waits_mark window;
	struct lull_waits_mark steps[LULL_WAITS_STEPS];
	struct lull_arrival_curve curve;
	struct lull_arrival_windows windows[LULL_IDLE_QUEUES_MAX];
	struct lull_histogram histogram;
};

void lull_waits_init(struct lull_waits *waits, uint64_t now_ns);
/** A new measurement window. */
void lull_waits_mark(struct lull_waits *waits, uint64_t now_ns);
/** Stalls and late packets so far are of another class or governor; the window stays. */
void lull_waits_forget(struct lull_waits *waits, uint64_t now_ns);
/** An iteration begins: all queues are looked at, as of @p now_ns. */
static inline void lull_waits_poll(struct lull_waits *waits, uint64_t now_ns, uint32_t queue_count);
/**
 * What queue @p index gave in it; true when it is empty now: it gave less than @p emptied_pkts,
 * which is a burst, or 1 where a short burst may leave packets.
 */
static inline bool lull_waits_queue(struct lull_waits *waits, uint32_t index, uint32_t pkts,
				    uint32_t emptied_pkts);
/**
 * Before a poll: another thread has looked at queue @p index at @p empty_ns, which may be before
 * this one's last poll (of another queue), and found it empty. So nobody has waited for longer.
 */
void lull_waits_found_empty(struct lull_waits *waits, uint32_t index, uint64_t empty_ns);
/** The iteration has ended, and its packets have been served. */
static inline void lull_waits_settle(struct lull_waits *waits, uint64_t end_ns,
				     uint64_t latency_ns);
/** A rest has ended. */
void lull_waits_rested(struct lull_waits *waits, const struct lull_wake *wake);
/** Nothing had come before @p since_ns: a packet ended the rest. */
void lull_waits_woken(struct lull_waits *waits, uint64_t since_ns);
/**
 * Turns that nobody timed, up to @p now_ns, brought @p pkts.
 *
 * @param idle_ns  what these iterations take when nothing holds them up, 0: not known
 */
void lull_waits_polled(struct lull_waits *waits, uint64_t now_ns, uint64_t pkts, uint64_t idle_ns);
/**
 * Has the window shown, by its packets, that more than @p budget_ppm of them waited too long? Not
 * before it is a second old, and not by fewer than three of them. Or has the last second, with two
 * and a quarter times the budget?
 */
bool lull_waits_missed(const struct lull_waits *waits, uint64_t now_ns, uint32_t budget_ppm);
/** Packets of this window, and those of them that waited longer than the objective. */
struct lull_waits_mark lull_waits_window(const struct lull_waits *waits);

/* The slow parts of what follows. */
void lull_waits_note(struct lull_waits *waits);
void lull_waits_batch(struct lull_waits *waits, uint32_t index);
void lull_waits_late(struct lull_waits *waits, const struct lull_wait_pending *pending,
		     uint64_t gap_ns, uint64_t latency_ns);
void lull_waits_step(struct lull_waits *waits, uint64_t now_ns);

static inline void
lull_waits_poll(struct lull_waits *waits, uint64_t now_ns, uint32_t queue_count)
{
	waits->gap_ns = now_ns > waits->poll_ns ? now_ns - waits->poll_ns : 0;
	waits->poll_ns = now_ns;
	waits->queue_count = queue_count;
	waits->stalled = lull_stall_is(waits->gap_ns, waits->planned_ns);
	waits->trial = waits->rested && waits->watch.polling;
	if (waits->stalled || waits->trial)
		lull_waits_note(waits);
	else
		lull_stall_watch_fine(&waits->watch, waits->gap_ns, 0);
	waits->planned_ns = 0;
	waits->rested = false;
}

/* What the packets of this look have waited for: this gap, or the one whose backlog they are. */
static inline void
lull_waits_gap(const struct lull_waits *waits, struct lull_wait_queue *queue)
{
	uint64_t gap_ns = LULL_MIN(waits->gap_ns, waits->poll_ns - queue->empty_ns);

	if (gap_ns < queue->gap_ns && waits->poll_ns < queue->gap_end_ns)
		return;
	queue->gap_ns = gap_ns;
	queue->gap_end_ns = waits->poll_ns + LULL_WAITS_DRAIN_GAPS * gap_ns;
	queue->stalled = waits->stalled;
}

static inline bool
lull_waits_queue(struct lull_waits *waits, uint32_t index, uint32_t pkts, uint32_t emptied_pkts)
{
	struct lull_wait_queue *queue = &waits->queues[index];
	bool drained = pkts < emptied_pkts;

	if (pkts > 0) {
		lull_waits_gap(waits, queue);
		waits->pending[waits->pending_count++] =
			(struct lull_wait_pending){ queue->empty_ns, queue->gap_ns, pkts,
						    queue->stalled };
		queue->batch_pkts += pkts;
	}
	if (drained) {
		/*
		 * Not in parts: what is fetched of a backlog comes as fast as this loop serves it,
		 * which says nothing about how fast it had come.
		 */
		if (queue->batch_pkts > 0)
			lull_waits_batch(waits, index);
		queue->empty_ns = waits->poll_ns;
		queue->batch_ns = waits->poll_ns;
		queue->gap_ns = 0;
	}
	return drained;
}

static inline void
lull_waits_settle(struct lull_waits *waits, uint64_t end_ns, uint64_t latency_ns)
{
	uint64_t iteration_ns = end_ns > waits->poll_ns ? end_ns - waits->poll_ns : 0;

	for (uint32_t i = 0; i < waits->pending_count; i++) {
		const struct lull_wait_pending *pending = &waits->pending[i];
		uint64_t gap_ns = pending->gap_ns + iteration_ns;

		lull_histogram_add(&waits->histogram,
				   end_ns > pending->since_ns ? end_ns - pending->since_ns : 0,
				   pending->pkts);
		waits->pkts += pending->pkts;
		if (gap_ns > latency_ns || pending->stalled || waits->trial)
			lull_waits_late(waits, pending, gap_ns, latency_ns);
		else
			lull_stall_watch_fine(&waits->watch, 0, pending->pkts);
	}
	waits->pending_count = 0;
	if (end_ns >= waits->step_ns + LULL_WAITS_STEP_NS)
		lull_waits_step(waits, end_ns);
}

#endif
