/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring between two threads: each rests when it has nothing to do, and nobody sleeps for good. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "case.h"

#include "channel/ring.h"

#define PACKET_BYTES 600u
#define PACKETS 200000u
#define PAUSE 10000u  /* packets from one rest of the receiver to the next, at most */
#define WAIT_MS 20000 /* a wake-up that was lost */

struct world {
	void *memory;
	int ring_fd;
	atomic_uint rests; /* of the receiver */
};

static uint32_t
packet_bytes(uint32_t number)
{
	return 4 + number * 7 % (PACKET_BYTES - 4);
}

/* Until the receiver has rested once more than it had before the last packets. */
static void
world_pause(struct world *world, unsigned int rests)
{
	while (atomic_load(&world->rests) == rests)
		sched_yield();
}

static void *
world_send(void *arg)
{
	struct world *world = arg;
	const struct lull_bundle_address nowhere = { .len_bytes = 0 };
	uint8_t bytes[PACKET_BYTES];
	struct channel_ring ring;
	const uint64_t one = 1;
	uint32_t pause = PAUSE;

	channel_ring_view(&ring, world->memory, PACKET_BYTES);
	for (uint32_t number = 0; number < PACKETS;) {
		uint32_t burst = 1 + number % 17;
		uint32_t count = (uint32_t)channel_ring_room(&ring);
		unsigned int rests = atomic_load(&world->rests);

		count = LULL_MIN(LULL_MIN(count, burst), PACKETS - number);
		for (uint32_t i = 0; i < count; i++) {
			memset(bytes, (int)(number + i), sizeof(bytes));
			memcpy(bytes, &(uint32_t){ number + i }, sizeof(number));
			channel_ring_put(&ring, i, &nowhere, bytes, packet_bytes(number + i));
		}
		number += count;
		if (count > 0 && channel_ring_push(&ring, count))
			(void)!write(world->ring_fd, &one, sizeof(one));
		if (number % 31 == 0)
			sched_yield();
		if (number >= pause && number < PACKETS) {
			world_pause(world, rests);
			pause += PAUSE;
		}
	}
	return NULL;
}

static void
world_take(const struct channel_ring *ring, uint32_t slot, uint32_t number)
{
	struct lull_bundle_address address;
	uint8_t bytes[PACKET_BYTES];
	uint32_t seen;

	assert_int_equal(channel_ring_take(ring, slot, &address, bytes), packet_bytes(number));
	memcpy(&seen, bytes, sizeof(seen));
	assert_int_equal(seen, number);
	for (uint32_t i = sizeof(seen); i < packet_bytes(number); i++)
		if (bytes[i] != (uint8_t)number)
			fail_msg("packet %u has another byte at %u", number, i);
}

TEST(ring__loses_no_packet_and_no_wake_up)
{
	struct world world = { .ring_fd = eventfd(0, EFD_NONBLOCK) };
	struct pollfd polls = { .fd = world.ring_fd, .events = POLLIN };
	uint32_t number = 0;
	struct channel_ring ring;
	pthread_t thread;
	uint64_t rings;

	world.memory = aligned_alloc(LULL_CACHE_LINE, channel_ring_bytes(PACKET_BYTES));
	assert_non_null(world.memory);
	memset(world.memory, 0, channel_ring_bytes(PACKET_BYTES));
	channel_ring_view(&ring, world.memory, PACKET_BYTES);
	assert_int_equal(pthread_create(&thread, NULL, world_send, &world), 0);
	while (number < PACKETS) {
		int ready = channel_ring_ready(&ring);

		assert_true(ready >= 0);
		for (int i = 0; i < ready; i++)
			world_take(&ring, (uint32_t)i, number++);
		channel_ring_pop(&ring, (uint32_t)ready);
		if (ready > 0 || channel_ring_rest(&ring))
			continue;
		atomic_fetch_add(&world.rests, 1);
		assert_int_equal(poll(&polls, 1, WAIT_MS), 1);
		if (channel_ring_wake(&ring))
			(void)!read(world.ring_fd, &rings, sizeof(rings));
	}
	assert_true(atomic_load(&world.rests) >= PACKETS / PAUSE - 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(world.ring_fd);
	free(world.memory);
}
