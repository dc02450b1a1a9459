/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Turn: one iteration, what leaves now, and when something is due. All under the lock.
 */
#ifndef LULL_CHANNEL_TURN_H
#define LULL_CHANNEL_TURN_H

#include "state.h"

/** Receive from all rails, let timers run, take events, send. Returns the packets received. */
uint32_t channel_turn(struct lull_channel *channel, uint64_t now_ns);
/**
 * When the next iteration has to be at the latest: @p now_ns: at once; UINT64_MAX: after a packet
 * or a call. Tells peers how long the thread may rest.
 */
uint64_t channel_due_ns(struct lull_channel *channel, uint64_t now_ns);
/** A caller changed something: events, packets, and an end of a rest that is too long now. */
void channel_act(struct lull_channel *channel, uint64_t now_ns);

/** Descriptors for a rest from here on. */
void channel_watch(struct lull_channel *channel, struct channel_polls *polls);
/** Rest without the lock: until a packet, a kick or @p limit_ns. */
enum lull_wake_reason channel_rest(struct lull_channel *channel, struct channel_polls *polls,
				   uint64_t limit_ns);
/** What poll() said; NULL: ask all rails. */
void channel_watched(struct lull_channel *channel, const struct channel_polls *polls);
/** Who waits for the lock gets it first. Without the lock. */
void channel_give_way(const struct lull_channel *channel);
/** The calling thread lets go of a rail that is being removed. */
void channel_let_go(struct lull_channel *channel);
/** Rails have changed. */
void channel_rails_changed(struct lull_channel *channel);

#endif
