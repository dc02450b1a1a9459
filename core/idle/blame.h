/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Blame: may a rest have made an Rx ring overflow?
 *
 * A ring that overflowed while the loop rested was full when the loop woke. So the loop then
 * fetches at least a ring full of packets before its queues run short. A rest with less behind it
 * lost nothing. What was in the rings at the wake-up has been fetched after as many poll iterations
 * as a ring has bursts; what is lost later is lost to a loop that polls, and resting less would not
 * help.
 *
 * Half a ring is taken for a full one, as drivers keep some of it and do not always tell how large
 * it is. Packets of all queues count together, as if one ring had held them.
 *
 * Threads: belongs to one loop. Memory: one plain struct, zeros to begin with.
 */
#ifndef LULL_BLAME_H
#define LULL_BLAME_H

#include <lull/idle.h>

#include "loss_audit.h"

struct lull_blame {
	uint32_t room_pkts;      /* of a ring; 0: not known, so each rest is suspect */
	uint32_t iterations_max; /* so many poll iterations fetch a ring */
	uint64_t suspect_ns;     /* the last time at which a ring may have been full from a rest */
	uint64_t rest_ns; /* begin of the rest whose backlog is being fetched; 0: there is none */
	uint64_t pkts;    /* fetched since it ended */
	uint32_t iterations; /* poll iterations since it ended */
};

/** Of the tightest ring; @p limits with defaults, @p ring_pkts as its user stated it. */
static inline void
lull_blame_size(struct lull_blame *blame, uint32_t ring_pkts, const struct lull_idle_limits *limits)
{
	blame->room_pkts = ring_pkts == 0 ? 0 : limits->ring_pkts - limits->held_pkts;
	blame->iterations_max = limits->ring_pkts / limits->burst_pkts + 1;
}

/** A rest that began at @p begin_ns has ended. */
static inline void
lull_blame_rested(struct lull_blame *blame, uint64_t begin_ns)
{
	/* One with a backlog from the rest before: it counts on. */
	if (blame->rest_ns == 0) {
		blame->rest_ns = begin_ns;
		blame->pkts = 0;
	}
	blame->iterations = 0;
}

/** A poll iteration fetched @p pkts. @p drained: all queues have run short. */
static inline void
lull_blame_iterate(struct lull_blame *blame, uint64_t now_ns, uint64_t pkts, bool drained)
{
	if (blame->rest_ns == 0)
		return;
	blame->pkts += pkts;
	blame->iterations++;
	if (2 * blame->pkts >= blame->room_pkts)
		blame->suspect_ns = now_ns;
	if (drained || blame->iterations > blame->iterations_max)
		blame->rest_ns = 0;
}

/** Another thread fetches what came during the rest, and is the one to be asked. */
static inline void
lull_blame_pass(struct lull_blame *blame)
{
	blame->rest_ns = 0;
}

/** May a packet that was lost between these times have been lost for a rest? */
static inline bool
lull_blame_suspects(const struct lull_blame *blame, uint64_t begin_ns, uint64_t end_ns)
{
	/* Of the rest that ended last it is not known yet. */
	if (blame->rest_ns != 0 && blame->rest_ns <= end_ns)
		return true;
	return blame->suspect_ns != 0 && blame->suspect_ns >= begin_ns;
}

/** Is it still being found out what the last rest may have lost? Some poll iterations at most. */
bool lull_idle_undecided(const struct lull_idle *idle);
/** lull_blame_suspects() for a loop; in idle.c. */
bool lull_idle_suspects(const struct lull_idle *idle, uint64_t begin_ns, uint64_t end_ns);
/**
 * Packets were lost that this loop is charged with. Its governor hears of those that its rests may
 * have lost. In idle.c.
 */
void lull_idle_charge(struct lull_idle *idle, uint64_t now_ns,
		      const struct lull_loss_charge *charge);

#endif
