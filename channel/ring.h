/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ring: packets from one process to another through shared memory, one direction.
 *
 * Each side keeps its own index and only ever reads the other's, so what the other writes into its
 * memory can end the ring and do nothing else: an index or a length is read once and checked, and
 * packets are copied out before anybody looks at them.
 *
 * The sender rings, by whatever its user has for that, only when the receiver has said that it
 * rests: channel_ring_push() tells.
 *
 * Threads: one that sends and one that receives, in whichever processes; each has a struct of its
 *          own.
 * Memory:  the caller's, channel_ring_bytes() of it, aligned to LULL_CACHE_LINE, zeros at first.
 */
#ifndef LULL_CHANNEL_RING_H
#define LULL_CHANNEL_RING_H

#include <lull/bundle.h>

#define CHANNEL_RING_PKTS 1024u /* slots, a power of two */

struct channel_ring_shared;

/** What one side knows. */
struct channel_ring {
	struct channel_ring_shared *shared;
	uint32_t packet_bytes; /* longest packet */
	uint32_t at;           /* our own index: written, or read */
	bool rests;            /* we have said so */
};

/** Memory of a ring whose packets have at most so many bytes. */
size_t channel_ring_bytes(uint32_t packet_bytes);
/** Use @p memory, which is all zeros, or has just been set up so by the other side. */
void channel_ring_view(struct channel_ring *ring, void *memory, uint32_t packet_bytes);

/** Free slots; -EPROTO: the receiver's index cannot be. */
int channel_ring_room(const struct channel_ring *ring);
/** Write a packet into free slot @p slot, from 0. */
void channel_ring_put(struct channel_ring *ring, uint32_t slot,
		      const struct lull_bundle_address *address, const uint8_t *bytes,
		      uint32_t len_bytes);
/** Hand over the first @p count slots. True: the receiver rests, ring for it. */
bool channel_ring_push(struct channel_ring *ring, uint32_t count);

/** Packets to read; -EPROTO: the sender's index cannot be. */
int channel_ring_ready(const struct channel_ring *ring);
/**
 * Copy packet @p slot, from 0, into @p bytes, room for the longest one. Its length, or -EPROTO:
 * the lengths in it cannot be.
 */
int channel_ring_take(const struct channel_ring *ring, uint32_t slot,
		      struct lull_bundle_address *address, uint8_t *bytes);
/** Give back the first @p count slots. */
void channel_ring_pop(struct channel_ring *ring, uint32_t count);
/** About to rest: the sender shall ring. True: packets are here already, do not rest. */
bool channel_ring_rest(struct channel_ring *ring);
/** The rest is over. True: the sender has rung, or is about to. */
bool channel_ring_wake(struct channel_ring *ring);

#endif
