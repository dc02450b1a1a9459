/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WAY_FIRST 256

static uint64_t
ring_power_of_two(uint64_t least)
{
	uint64_t size = 1;

	while (size < least)
		size *= 2;
	return size;
}

int
lull_sim_ring_init(struct lull_sim_ring *ring, uint32_t room, struct lull_sim_ideal *ideal)
{
	uint64_t size = ring_power_of_two(room);

	memset(ring, 0, sizeof(*ring));
	ring->pkts = calloc(size, sizeof(*ring->pkts));
	if (ring->pkts == NULL)
		return -ENOMEM;
	ring->mask = size - 1;
	ring->room = room;
	ring->ideal = ideal;
	return 0;
}

void
lull_sim_ring_done(struct lull_sim_ring *ring)
{
	free(ring->pkts);
	free(ring->way);
}

static int
ring_grow(struct lull_sim_ring *ring)
{
	uint64_t count = ring->way_tail - ring->way_head, i;
	uint64_t size = ring->way == NULL ? WAY_FIRST : 2 * (ring->way_mask + 1);
	struct lull_sim_pkt *way = malloc(size * sizeof(*way));

	if (way == NULL)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		way[i] = ring->way[(ring->way_head + i) & ring->way_mask];
	free(ring->way);
	ring->way = way;
	ring->way_mask = size - 1;
	ring->way_head = 0;
	ring->way_tail = count;
	return 0;
}

int
lull_sim_ring_send(struct lull_sim_ring *ring, uint64_t arrive_ns, uint32_t bytes)
{
	struct lull_sim_ideal *ideal = ring->ideal;
	uint64_t ideal_ns = ideal->free_ns;
	int rc;

	if (ring->way == NULL || ring->way_tail - ring->way_head > ring->way_mask) {
		rc = ring_grow(ring);
		if (rc != 0)
			return rc;
	}
	if (ideal_ns <= arrive_ns + ideal->room_ns)
		ideal_ns = lull_sim_ideal_serve(ideal, arrive_ns);
	ring->way[ring->way_tail++ & ring->way_mask] = (struct lull_sim_pkt){
		.arrive_ns = arrive_ns, .ideal_ns = ideal_ns, .bytes = bytes
	};
	return 0;
}
