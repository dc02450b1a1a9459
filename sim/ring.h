/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ring: an Rx ring with its descriptors, and the packets on their way to it.
 *
 * Packets are under way until their time; the thread that polls takes them in
 * when it looks, oldest first, and what finds the ring full then is lost. That
 * is exact, because nothing left the ring since it looked last.
 * Beside each packet stands when an ideal polling thread would have been done
 * with it: one that starts at once and pays the cheapest price per packet. The
 * difference is what resting added, too small by an iteration with one packet at most
 * (docs/simulator.md). It serves
 * the packets of all its rings as they arrive, so where a thread has several
 * they are reckoned on their way: rings are looked at one after the other.
 */
#ifndef LULL_SIM_RING_H
#define LULL_SIM_RING_H

#include <lull/base.h>

struct lull_sim_pkt {
	uint64_t arrive_ns;
	uint64_t ideal_ns; /* an ideal polling thread is done */
	uint32_t bytes;
};

/** What the ideal polling thread is at; one per thread, shared by its rings. */
struct lull_sim_ideal {
	uint64_t free_ns; /* done with all so far */
	uint64_t lone_ns; /* a packet that finds it free */
	uint64_t each_ns; /* one that finds it at work */
	uint64_t room_ns; /* of packets under way: with so much to do it loses some, too */
};

static inline uint64_t
lull_sim_ideal_serve(struct lull_sim_ideal *ideal, uint64_t arrive_ns)
{
	ideal->free_ns = arrive_ns > ideal->free_ns ? arrive_ns + ideal->lone_ns :
						      ideal->free_ns + ideal->each_ns;
	return ideal->free_ns;
}

struct lull_sim_feed;

struct lull_sim_ring {
	struct lull_sim_pkt *pkts;
	uint64_t mask;
	uint64_t head, tail;
	uint64_t room; /* descriptors that can hold a packet */
	struct lull_sim_ideal *ideal;
	uint64_t offered, lost;
	struct lull_sim_feed *feed; /* where packets come from */
	/* under way: a growing FIFO */
	struct lull_sim_pkt *way;
	uint64_t way_mask, way_head, way_tail;
};

/** 0 or -ENOMEM. */
int lull_sim_ring_init(struct lull_sim_ring *ring, uint32_t room, struct lull_sim_ideal *ideal);
void lull_sim_ring_done(struct lull_sim_ring *ring);
/** One more packet under way, not before the last one to any ring of its thread. 0 or -ENOMEM. */
int lull_sim_ring_send(struct lull_sim_ring *ring, uint64_t arrive_ns, uint32_t bytes);

static inline uint64_t
lull_sim_ring_count(const struct lull_sim_ring *ring)
{
	return ring->tail - ring->head;
}

/* A packet arrives: its place in the ring, NULL when it is lost. */
static inline struct lull_sim_pkt *
lull_sim_ring_place(struct lull_sim_ring *ring)
{
	ring->offered++;
	if (ring->tail - ring->head >= ring->room) {
		ring->lost++;
		return NULL;
	}
	return &ring->pkts[ring->tail++ & ring->mask];
}

/** A packet arrives at the only ring of its thread: it is in the ring, or lost. */
static inline void
lull_sim_ring_accept(struct lull_sim_ring *ring, uint64_t arrive_ns, uint32_t bytes)
{
	struct lull_sim_pkt *pkt = lull_sim_ring_place(ring);

	if (pkt == NULL)
		return;
	pkt->arrive_ns = arrive_ns;
	pkt->ideal_ns = lull_sim_ideal_serve(ring->ideal, arrive_ns);
	pkt->bytes = bytes;
}

/** One that was under way arrives. */
static inline void
lull_sim_ring_arrive(struct lull_sim_ring *ring, const struct lull_sim_pkt *way)
{
	struct lull_sim_pkt *pkt = lull_sim_ring_place(ring);

	if (pkt != NULL)
		*pkt = *way;
}

#endif
