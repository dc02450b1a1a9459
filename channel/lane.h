/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Lane: packets in both directions between two processes, by two rings in one piece of shared
 * memory and a bell.
 *
 * The bell is a pair of connected sockets, one end for each process. A byte in it ends the rest of
 * the other side; it hangs up when that process dies. An eventfd would be one open file of both
 * sides: whoever has it could let the other's read or write wait for good.
 *
 * The memory begins with struct channel_lane_shared; then ring 0, which side 0 writes, and ring 1,
 * which side 1 writes. Nobody can make it shorter.
 *
 * Threads: one for each side. Nothing here waits.
 */
#ifndef LULL_CHANNEL_LANE_H
#define LULL_CHANNEL_LANE_H

#include <stdatomic.h>

#include "rail.h"
#include "ring.h"

/** What goes to the other process, in this order. */
enum channel_lane_fd { CHANNEL_LANE_MEMORY, CHANNEL_LANE_BELL, CHANNEL_LANE_FDS };

/** What each side tells the other in memory. */
struct channel_lane_shared {
	atomic_uint here[2];   /* by side: it looks at its ring, so the other may write */
	atomic_uint missed[2]; /* by side: packets it did not put, as there was no room */
	/** What the node's program says of the rail, in the lane from it to a process. */
	atomic_uint mtu_bytes, mbps, up;
};

/** One side of a lane. All zeros but for bell_fd, -1: it is closed. */
struct channel_lane {
	struct channel_lane_shared *shared;
	size_t bytes; /* of the memory */
	struct channel_ring out, in;
	uint32_t side;   /* ours: 0 or 1 */
	uint32_t room;   /* slots that are known to be free */
	uint32_t pushed; /* packets that were put, and not handed over yet */
	bool met;        /* the other side was here once */
	int bell_fd;
};

/** Memory of a lane. */
size_t channel_lane_bytes(uint32_t packet_bytes);

/**
 * Make a lane. @p fds of both sides are the caller's; the memory is the same one, in two
 * descriptors. 0 or a negative errno, and nothing is open.
 */
int channel_lane_make(uint32_t packet_bytes, int fds[2][CHANNEL_LANE_FDS]);
/**
 * Take one side of it. Both descriptors are the lane's from now on, also when this fails.
 * @return 0, or -EPROTO: they are not what they should be
 */
int channel_lane_open(struct channel_lane *lane, const int fds[CHANNEL_LANE_FDS], uint32_t side,
		      uint32_t packet_bytes);
/** Does nothing to a lane that is closed. */
void channel_lane_close(struct channel_lane *lane);
static inline bool
channel_lane_is_open(const struct channel_lane *lane)
{
	return lane->shared != NULL;
}

/** Has the other side begun to look? */
static inline bool
channel_lane_met(struct channel_lane *lane)
{
	if (!lane->met)
		lane->met = atomic_load_explicit(&lane->shared->here[1 - lane->side],
						 memory_order_relaxed) != 0;
	return lane->met;
}

/**
 * Write a packet, which goes with the next push. 0, -ENOSPC: there is no room; -EPROTO: the other
 * side's index cannot be.
 */
int channel_lane_put(struct channel_lane *lane, const struct lull_bundle_address *address,
		     const uint8_t *bytes, uint32_t len_bytes);
/** Count a packet that found no room. */
static inline void
channel_lane_miss(struct channel_lane *lane)
{
	atomic_fetch_add_explicit(&lane->shared->missed[lane->side], 1, memory_order_relaxed);
}

/** Packets that found no room on their way to us, as the other side says. */
static inline uint32_t
channel_lane_missed(const struct channel_lane *lane)
{
	return atomic_load_explicit(&lane->shared->missed[1 - lane->side], memory_order_relaxed);
}

/** Hand over what was put, and end the other side's rest. */
void channel_lane_push(struct channel_lane *lane);
/**
 * Copy at most @p count packets out, each to @p bytes and @p stride behind that. How many, or
 * -EPROTO: the other side wrote what cannot be.
 */
int channel_lane_take(struct channel_lane *lane, struct channel_packet *packets, uint8_t *bytes,
		      uint32_t stride, uint32_t count);

/** Ring the bell of the other side. */
void channel_lane_ring(const struct channel_lane *lane);
/** Be silent again. 0, or -ECONNRESET: the other side hung up. */
int channel_lane_hear(const struct channel_lane *lane);
/** Hang up: both sides hear it. What else there is goes on until the lane is closed. */
void channel_lane_hang_up(const struct channel_lane *lane);
/** About to rest. True: packets are here already, do not rest. */
bool channel_lane_rest(struct channel_lane *lane);
/** The rest is over. 0 or -ECONNRESET. */
int channel_lane_wake(struct channel_lane *lane);

/** Memory of @p size bytes, zeros, that nobody can make shorter; its descriptor. */
int channel_lane_memory(size_t size);
/** Map it; @p size is checked, and that it cannot shrink. NULL: it is not what it should be. */
void *channel_lane_map(int fd, size_t size);

#endif
