/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of packets: order, room, rests, and what one side may do to the other. */
#include "stand.h"

#include "channel/ring.h"

#define PACKET_BYTES 600u

struct both {
	void *memory;
	struct channel_ring out, in; /* one ring, from both sides */
};

static void
both_open(struct both *both)
{
	both->memory = aligned_alloc(LULL_CACHE_LINE, channel_ring_bytes(PACKET_BYTES));
	assert_non_null(both->memory);
	memset(both->memory, 0, channel_ring_bytes(PACKET_BYTES));
	channel_ring_view(&both->out, both->memory, PACKET_BYTES);
	channel_ring_view(&both->in, both->memory, PACKET_BYTES);
}

/* Written by the other side's hand: head, tail, what it rests, first slot. */
static uint32_t *
both_head(const struct both *both)
{
	return both->memory;
}

static uint32_t *
both_tail(const struct both *both)
{
	return (uint32_t *)both->memory + LULL_CACHE_LINE / sizeof(uint32_t);
}

static uint32_t *
both_slot(const struct both *both)
{
	return (uint32_t *)both->memory + 2 * LULL_CACHE_LINE / sizeof(uint32_t);
}

static uint32_t
packet_bytes(uint32_t number)
{
	return 1 + number * 7 % PACKET_BYTES;
}

static void
both_put(struct both *both, uint32_t slot, uint32_t number)
{
	struct lull_bundle_address address = { .len_bytes = (uint8_t)(number % 21) };
	uint8_t bytes[PACKET_BYTES];

	memset(address.bytes, (int)number, sizeof(address.bytes));
	stand_fill(bytes, packet_bytes(number), number);
	channel_ring_put(&both->out, slot, &address, bytes, packet_bytes(number));
}

static void
both_take(struct both *both, uint32_t slot, uint32_t number)
{
	struct lull_bundle_address address;
	uint8_t bytes[PACKET_BYTES];

	assert_int_equal(channel_ring_take(&both->in, slot, &address, bytes), packet_bytes(number));
	assert_true(stand_holds(bytes, packet_bytes(number), number));
	assert_int_equal(address.len_bytes, number % 21);
	for (uint32_t i = 0; i < address.len_bytes; i++)
		assert_int_equal(address.bytes[i], (uint8_t)number);
}

/* In bursts of each length, many times around. */
TEST(ring__keeps_order_and_bytes)
{
	uint32_t sent = 0, taken = 0;
	struct both both;

	both_open(&both);
	for (uint32_t round = 0; round < 3000; round++) {
		uint32_t burst = round % 33;

		assert_true(channel_ring_room(&both.out) >= (int)burst);
		for (uint32_t i = 0; i < burst; i++)
			both_put(&both, i, sent + i);
		assert_int_equal(channel_ring_ready(&both.in), sent - taken);
		assert_false(channel_ring_push(&both.out, burst));
		sent += burst;
		assert_int_equal(channel_ring_ready(&both.in), sent - taken);
		burst = LULL_MIN(round % 34, sent - taken);
		for (uint32_t i = 0; i < burst; i++)
			both_take(&both, i, taken + i);
		channel_ring_pop(&both.in, burst);
		taken += burst;
	}
	assert_true(sent > 16 * CHANNEL_RING_PKTS);
	free(both.memory);
}

/* Indices wrap; a full ring has no room, and each packet that is read makes some. */
TEST(ring__is_full_and_wraps)
{
	struct both both;

	both_open(&both);
	*both_head(&both) = *both_tail(&both) = both.out.at = both.in.at = UINT32_MAX - 5;
	for (uint32_t i = 0; i < CHANNEL_RING_PKTS; i++) {
		assert_int_equal(channel_ring_room(&both.out), CHANNEL_RING_PKTS - i);
		both_put(&both, 0, i);
		channel_ring_push(&both.out, 1);
	}
	assert_int_equal(channel_ring_room(&both.out), 0);
	assert_int_equal(channel_ring_ready(&both.in), CHANNEL_RING_PKTS);
	for (uint32_t i = 0; i < CHANNEL_RING_PKTS; i++) {
		both_take(&both, 0, i);
		channel_ring_pop(&both.in, 1);
		assert_int_equal(channel_ring_room(&both.out), i + 1);
	}
	free(both.memory);
}

/* The sender rings once for a rest, and never without one. */
TEST(ring__rings_who_rests)
{
	struct both both;

	both_open(&both);
	both_put(&both, 0, 1);
	assert_false(channel_ring_push(&both.out, 1));
	assert_true(channel_ring_rest(&both.in)); /* there is something: no rest */
	assert_false(channel_ring_wake(&both.in));
	channel_ring_pop(&both.in, 1);
	assert_false(channel_ring_rest(&both.in));
	both_put(&both, 0, 2);
	assert_true(channel_ring_push(&both.out, 1));
	both_put(&both, 0, 3);
	assert_false(channel_ring_push(&both.out, 1));
	assert_true(channel_ring_wake(&both.in));
	assert_false(channel_ring_wake(&both.in));
	both_take(&both, 0, 2);
	both_take(&both, 1, 3);
	free(both.memory);
}

/* Whatever the other side does not get to, ours goes on; it is as if the cable were pulled. */
TEST(ring__outlives_the_other_side_at_each_step)
{
	struct both both;

	/* The sender dies before it hands over: nothing is there. */
	both_open(&both);
	both_put(&both, 0, 1);
	assert_int_equal(channel_ring_ready(&both.in), 0);
	assert_false(channel_ring_rest(&both.in));
	/* After that, and before it rings: who looks by himself finds the packet. */
	assert_true(channel_ring_push(&both.out, 1));
	assert_int_equal(channel_ring_ready(&both.in), 1);
	both_take(&both, 0, 1);
	/* The receiver dies before it gives a slot back: the others have room, then none. */
	for (uint32_t i = 1; i < CHANNEL_RING_PKTS; i++) {
		assert_int_equal(channel_ring_room(&both.out), CHANNEL_RING_PKTS - i);
		both_put(&both, 0, i);
		channel_ring_push(&both.out, 1);
	}
	assert_int_equal(channel_ring_room(&both.out), 0);
	/* It dies resting: who rings rings once. */
	channel_ring_pop(&both.in, CHANNEL_RING_PKTS);
	assert_false(channel_ring_rest(&both.in));
	both_put(&both, 0, 1);
	assert_true(channel_ring_push(&both.out, 1));
	assert_false(channel_ring_push(&both.out, 0));
	free(both.memory);
}

/* Indices and lengths that cannot be are found, and nothing is touched by them. */
TEST(ring__finds_nonsense)
{
	static const uint32_t lengths[] = { 0, PACKET_BYTES + 1, 1 << 30, UINT32_MAX };
	static const uint32_t indices[] = { CHANNEL_RING_PKTS + 1, 1u << 31, UINT32_MAX };
	struct lull_bundle_address address;
	uint8_t *bytes = malloc(PACKET_BYTES);
	struct both both;

	assert_non_null(bytes);
	both_open(&both);
	both_put(&both, 0, 1);
	channel_ring_push(&both.out, 1);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		both_slot(&both)[0] = lengths[i];
		assert_int_equal(channel_ring_take(&both.in, 0, &address, bytes), -EPROTO);
	}
	both_slot(&both)[0] = PACKET_BYTES;
	assert_int_equal(channel_ring_take(&both.in, 0, &address, bytes), PACKET_BYTES);
	*(uint8_t *)&both_slot(&both)[1] = LULL_BUNDLE_ADDRESS_SIZE + 1;
	assert_int_equal(channel_ring_take(&both.in, 0, &address, bytes), -EPROTO);
	for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
		*both_head(&both) = indices[i];
		assert_int_equal(channel_ring_ready(&both.in), -EPROTO);
		*both_tail(&both) = both.out.at - indices[i];
		assert_int_equal(channel_ring_room(&both.out), -EPROTO);
	}
	free(bytes);
	free(both.memory);
}
