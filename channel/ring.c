/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define RING_SLOT_HEAD 32u /* of a slot, before the bytes of the packet */

struct channel_ring_shared {
	_Alignas(LULL_CACHE_LINE) atomic_uint head; /* packets written, by the sender */
	_Alignas(LULL_CACHE_LINE) atomic_uint tail; /* packets read, by the receiver */
	atomic_uint rests;                          /* set by the receiver, cleared by either */
	_Alignas(LULL_CACHE_LINE) uint8_t slots[];
};

struct ring_slot {
	uint32_t len_bytes;
	struct lull_bundle_address address;
};

_Static_assert(sizeof(struct ring_slot) <= RING_SLOT_HEAD, "the head fits");
_Static_assert((CHANNEL_RING_PKTS & (CHANNEL_RING_PKTS - 1)) == 0, "indices wrap");

static size_t
ring_slot_bytes(uint32_t packet_bytes)
{
	return (RING_SLOT_HEAD + (size_t)packet_bytes + LULL_CACHE_LINE - 1) &
	       ~(size_t)(LULL_CACHE_LINE - 1);
}

static uint8_t *
ring_slot(const struct channel_ring *ring, uint32_t slot)
{
	return ring->shared->slots +
	       (ring->at + slot) % CHANNEL_RING_PKTS * ring_slot_bytes(ring->packet_bytes);
}

size_t
channel_ring_bytes(uint32_t packet_bytes)
{
	return sizeof(struct channel_ring_shared) +
	       CHANNEL_RING_PKTS * ring_slot_bytes(packet_bytes);
}

void
channel_ring_view(struct channel_ring *ring, void *memory, uint32_t packet_bytes)
{
	*ring = (struct channel_ring){ .shared = memory, .packet_bytes = packet_bytes };
}

/* ---- sender ---- */

int
channel_ring_room(const struct channel_ring *ring)
{
	uint32_t used = ring->at - atomic_load_explicit(&ring->shared->tail, memory_order_acquire);

	return used <= CHANNEL_RING_PKTS ? (int)(CHANNEL_RING_PKTS - used) : -EPROTO;
}

void
channel_ring_put(struct channel_ring *ring, uint32_t slot,
		 const struct lull_bundle_address *address, const uint8_t *bytes,
		 uint32_t len_bytes)
{
	const struct ring_slot head = { .len_bytes = len_bytes, .address = *address };
	uint8_t *at = ring_slot(ring, slot);

	memcpy(at, &head, sizeof(head));
	memcpy(at + RING_SLOT_HEAD, bytes, len_bytes);
}

bool
channel_ring_push(struct channel_ring *ring, uint32_t count)
{
	struct channel_ring_shared *shared = ring->shared;

	ring->at += count;
	/* Either we see that it rests, or it sees the packets when it looks once more. */
	atomic_store_explicit(&shared->head, ring->at, memory_order_seq_cst);
	return atomic_load_explicit(&shared->rests, memory_order_seq_cst) != 0 &&
	       atomic_exchange(&shared->rests, 0) != 0;
}

/* ---- receiver ---- */

int
channel_ring_ready(const struct channel_ring *ring)
{
	uint32_t ready = atomic_load_explicit(&ring->shared->head, memory_order_seq_cst) - ring->at;

	return ready <= CHANNEL_RING_PKTS ? (int)ready : -EPROTO;
}

int
channel_ring_take(const struct channel_ring *ring, uint32_t slot,
		  struct lull_bundle_address *address, uint8_t *bytes)
{
	const uint8_t *at = ring_slot(ring, slot);
	struct ring_slot head;

	memcpy(&head, at, sizeof(head)); /* from here on it may change without harm */
	__asm__ volatile("" : : "r"(&head) : "memory");
	if (head.len_bytes == 0 || head.len_bytes > ring->packet_bytes ||
	    head.address.len_bytes > LULL_BUNDLE_ADDRESS_SIZE)
		return -EPROTO;
	*address = head.address;
	memcpy(bytes, at + RING_SLOT_HEAD, head.len_bytes);
	return (int)head.len_bytes;
}

void
channel_ring_pop(struct channel_ring *ring, uint32_t count)
{
	ring->at += count;
	atomic_store_explicit(&ring->shared->tail, ring->at, memory_order_release);
}

bool
channel_ring_rest(struct channel_ring *ring)
{
	atomic_store_explicit(&ring->shared->rests, 1, memory_order_seq_cst);
	ring->rests = true;
	return channel_ring_ready(ring) != 0;
}

bool
channel_ring_wake(struct channel_ring *ring)
{
	if (!ring->rests)
		return false;
	ring->rests = false;
	return atomic_exchange(&ring->shared->rests, 0) == 0;
}
