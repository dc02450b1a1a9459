/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Feed: where the packets of one or more rings come from.
 *
 * A source (an arrival process, or the times of a capture; bursts at line rate
 * may come in between) behind a link, spread over rings by a random hash as
 * RSS would, evenly or by weights; or nothing of its own, when a thread sends to
 * the rings. A burst at line rate is one flow: all of it goes to one ring, drawn
 * anew each time. A closed feed is a producer that waits while its ring is full.
 */
#ifndef LULL_SIM_FEED_H
#define LULL_SIM_FEED_H

#include <lull/traffic.h>

#include "base/prng.h"
#include "link.h"
#include "ring.h"

/** Packets of a capture, times from 0 on and never going back. */
struct lull_sim_trace {
	uint64_t count;
	const uint64_t *times_ns;
	const uint16_t *bytes;
};

struct lull_sim_feed {
	uint64_t next_ns; /* arrival of the next packet, UINT64_MAX: none */
	uint32_t next_bytes;
	struct lull_arrival *arrival; /* or */
	struct lull_sim_trace trace;
	uint64_t trace_index;
	struct lull_arrival *bursts; /* line bursts, NULL: none */
	uint32_t burst_pkts;         /* of each */
	uint32_t burst_left;         /* packets that the present one still has */
	uint32_t burst_ring;         /* where they go */
	bool next_in_burst;          /* the next packet is one of them */
	struct lull_sim_link link;
	uint64_t delay_ns; /* closed: how far its producer is behind by waiting */
	bool closed;
	uint32_t ring_count;
	struct lull_sim_ring **rings;
	const uint32_t *weights; /* of the rings, all of them 0: even; borrowed */
	uint64_t weight_sum;
	struct lull_prng spread;
};

/**
 * Start from @p now_ns. @p arrival, when not NULL, and @p bursts are borrowed and already begun;
 * the feed moves them on.
 */
void lull_sim_feed_init(struct lull_sim_feed *feed, uint64_t seed);
/** After the members are set: look up the first packet. */
void lull_sim_feed_begin(struct lull_sim_feed *feed);
/** Take in what has arrived at @p ring up to @p now_ns. 0 or -ENOMEM. */
int lull_sim_feed_fill(struct lull_sim_feed *feed, struct lull_sim_ring *ring, uint64_t now_ns);
/** Arrival of the next packet at @p ring after a fill, at most @p limit_ns. 0 or -ENOMEM. */
int lull_sim_feed_next(struct lull_sim_feed *feed, struct lull_sim_ring *ring, uint64_t limit_ns,
		       uint64_t *next_ns);

#endif
