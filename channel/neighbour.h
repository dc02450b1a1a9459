/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Neighbours: processes of this node that have the same rail, and a lane to each of them.
 *
 * What is sent to the port of a neighbour goes through its lane, and the node's program has no part
 * in it. Where a packet comes from is known from the lane, whatever stands in it. A neighbour that
 * hangs up, dies, or writes what cannot be, is dropped: packets to its port go to the node's
 * program again.
 *
 * Threads: under the lock of the channel, but for the counters.
 */
#ifndef LULL_CHANNEL_NEIGHBOUR_H
#define LULL_CHANNEL_NEIGHBOUR_H

#include "attach.h"

#define CHANNEL_NEIGHBOURS_MAX 64

struct channel_neighbour {
	uint32_t port;
	bool gone; /* it hung up; what it sent before is still taken */
	struct lull_bundle_address address;
	struct channel_lane lane;
};

struct channel_neighbours {
	int watch_fd; /* readable when one of them has rung or hung up; -1: not open */
	uint32_t count, turn;
	struct channel_neighbour *last; /* whom a packet went to; may be any place */
	struct channel_neighbour *all;  /* CHANNEL_NEIGHBOURS_MAX */

	/* for other threads */
	uint64_t count_now, rx_pkts, tx_pkts;
	uint64_t missed_pkts; /* of those that are gone */
};

/** 0 or a negative errno. */
int channel_neighbours_open(struct channel_neighbours *neighbours);
/** Drop them all. */
void channel_neighbours_clear(struct channel_neighbours *neighbours);
void channel_neighbours_close(struct channel_neighbours *neighbours);

/**
 * Take one in; the lane to one with the same port ends. The descriptors are the neighbours' from
 * now on.
 * @param rail  ours: its address ends with our port
 * @return 0, -ENOSPC or -EPROTO: it is not taken
 */
int channel_neighbours_meet(struct channel_neighbours *neighbours,
			    const struct lull_bundle_rail *rail,
			    const struct channel_attach_meeting *meeting,
			    const int fds[CHANNEL_LANE_FDS]);

/** Send a packet. False: it is for no neighbour. Where there is no room it is lost. */
bool channel_neighbours_put(struct channel_neighbours *neighbours,
			    const struct lull_bundle_packet *packet);
/** Hand over what was put. */
void channel_neighbours_push(struct channel_neighbours *neighbours);
/** Copy at most @p count packets, as channel_lane_take(). */
uint32_t channel_neighbours_take(struct channel_neighbours *neighbours,
				 struct channel_packet *packets, uint8_t *bytes, uint32_t stride,
				 uint32_t count);

/** About to rest. True: packets are here already. */
bool channel_neighbours_rest(struct channel_neighbours *neighbours);
/** The rest is over. */
void channel_neighbours_wake(struct channel_neighbours *neighbours);
/** Hear who has rung; drop who has hung up. */
void channel_neighbours_hear(struct channel_neighbours *neighbours);
/** Packets that found no room on their way to us. */
uint32_t channel_neighbours_missed(const struct channel_neighbours *neighbours);

#endif
