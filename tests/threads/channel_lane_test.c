/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two neighbours on two threads: both send and receive and rest, no packet is lost and nobody
 * sleeps for good. Then one dies at some moment, and the other goes on.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"

#include "channel/neighbour.h"

#define PACKET_BYTES 200u
#define PACKETS 60000u
#define BURST 16u
#define ROUNDS 40u
#define WAIT_MS 20000 /* a wake-up that was lost */

struct side {
	uint32_t number;  /* 0 or 1 */
	uint32_t packets; /* to send; after that many it is done, or dies */
	uint32_t wanted;  /* to receive; 0: until the other is gone */
	struct lull_bundle_address to;
	struct channel_neighbours neighbours;
	uint32_t sent, received;
	const struct side *awaits; /* sends half until this one has rested; NULL: does not wait */
	atomic_uint rests;
};

static uint32_t
packet_bytes(uint32_t number)
{
	return 4 + number * 7 % (PACKET_BYTES - 4);
}

static void
side_send(struct side *side)
{
	uint8_t bytes[PACKET_BYTES];
	uint32_t burst = 1 + side->sent % BURST;

	if (side->awaits != NULL && side->sent >= side->packets / 2 &&
	    atomic_load(&side->awaits->rests) == 0)
		burst = 0;
	for (uint32_t i = 0; i < burst && side->sent < side->packets; i++) {
		struct channel_lane *lane = &side->neighbours.all[0].lane;
		const struct lull_bundle_packet packet = { .bytes = bytes,
							   .len_bytes = packet_bytes(side->sent),
							   .to = side->to };

		/* Where there is no room, the packet would be lost. */
		if (side->neighbours.count == 0 ||
		    channel_ring_room(&lane->out) <= (int)lane->pushed)
			break;
		memset(bytes, (int)side->sent, sizeof(bytes));
		memcpy(bytes, &side->sent, sizeof(side->sent));
		if (!channel_neighbours_put(&side->neighbours, &packet))
			break; /* the other has not begun, or is gone */
		side->sent++;
	}
	channel_neighbours_push(&side->neighbours);
}

static uint32_t
side_receive(struct side *side)
{
	uint8_t bytes[CHANNEL_BURST * PACKET_BYTES];
	struct channel_packet packets[CHANNEL_BURST];
	uint32_t count;

	channel_neighbours_wake(&side->neighbours);
	count = channel_neighbours_take(&side->neighbours, packets, bytes, PACKET_BYTES,
					CHANNEL_BURST);
	for (uint32_t i = 0; i < count; i++, side->received++) {
		uint32_t seen;

		assert_int_equal(packets[i].len_bytes, packet_bytes(side->received));
		memcpy(&seen, packets[i].bytes, sizeof(seen));
		assert_int_equal(seen, side->received);
		for (uint32_t k = sizeof(seen); k < packets[i].len_bytes; k++)
			if (packets[i].bytes[k] != (uint8_t)seen)
				fail_msg("packet %u has another byte at %u", seen, k);
	}
	return count;
}

static void
side_rest(struct side *side)
{
	struct pollfd polls = { .fd = side->neighbours.watch_fd, .events = POLLIN };

	if (channel_neighbours_rest(&side->neighbours))
		return;
	atomic_fetch_add(&side->rests, 1);
	assert_int_equal(poll(&polls, 1, WAIT_MS), 1);
	channel_neighbours_hear(&side->neighbours);
}

static bool
side_done(const struct side *side)
{
	if (side->neighbours.count == 0)
		return true;
	return side->wanted > 0 && side->sent == side->packets && side->received >= side->wanted;
}

static void *
side_run(void *arg)
{
	struct side *side = arg;

	while (!side_done(side)) {
		uint32_t sent = side->sent;

		side_send(side);
		/* A ring that is full is emptied by who is awake: nobody rings for that. */
		if (side_receive(side) == 0 && side->sent == sent) {
			if (side->sent == side->packets) {
				side_rest(side);
			} else { /* as a rail does from time to time */
				channel_neighbours_hear(&side->neighbours);
				sched_yield();
			}
		}
	}
	channel_neighbours_close(&side->neighbours);
	return NULL;
}

static void
sides_open(struct side sides[2])
{
	int fds[2][CHANNEL_LANE_FDS];

	assert_int_equal(channel_lane_make(PACKET_BYTES, fds), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct lull_bundle_rail rail = { .packet_bytes = PACKET_BYTES,
						 .address = { .len_bytes = 3,
							      .bytes = { 9, (uint8_t)(i + 1) } } };
		const struct channel_attach_meeting meeting = { .port = 2 - i, .side = i };

		sides[i].number = i;
		assert_int_equal(channel_neighbours_open(&sides[i].neighbours), 0);
		assert_int_equal(
			channel_neighbours_meet(&sides[i].neighbours, &rail, &meeting, fds[i]), 0);
		sides[1 - i].to = rail.address;
	}
}

static void
sides_run(struct side sides[2])
{
	pthread_t threads[2];

	sides_open(sides);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, side_run, &sides[i]), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* One sends nothing for as long as the other sends: it rests again and again. */
TEST(neighbours__lose_no_packet_and_no_wake_up)
{
	static struct side sides[2];

	for (uint32_t i = 0; i < 2; i++)
		sides[i] = (struct side){ .packets = PACKETS, .wanted = PACKETS };
	sides_run(sides);
	sides[0] = (struct side){ .packets = PACKETS, .wanted = 1, .awaits = &sides[1] };
	sides[1] = (struct side){ .packets = 1, .wanted = PACKETS };
	sides_run(sides);
	assert_true(atomic_load(&sides[1].rests) > 0);
	assert_int_equal(sides[1].received, PACKETS);
}

/* After any number of packets; the other takes what was sent, and hears of it. */
TEST(neighbours__outlive_each_other)
{
	for (uint32_t round = 0; round < ROUNDS; round++) {
		static struct side sides[2];
		uint32_t dies = round % 2;

		sides[dies] = (struct side){ .packets = 1 + round * 53, .wanted = 1 + round };
		sides[1 - dies] = (struct side){ .packets = PACKETS };
		sides_run(sides);
		assert_int_equal(sides[1 - dies].received, sides[dies].sent);
		assert_int_equal(sides[dies].sent, 1 + round * 53);
	}
}
