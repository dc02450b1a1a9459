/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams over pair: rails: bytes in their order, room that runs out, half a close, and ends. */
#include "stand.h"

#include <pthread.h>
#include <unistd.h>

#include <lull/rest.h>

#define BYTES 3000001
#define PIECE (64u << 10)

struct writing {
	struct stand *stand;
	int side;
	const uint8_t *bytes;
	bool shut;
	int64_t rc;
};

/* In writes of all sizes, each by itself waiting for room. */
static void *
writing_run(void *arg)
{
	struct writing *writing = arg;
	struct lull_channel *channel = writing->stand->channels[writing->side];
	uint32_t peer = writing->stand->peers[writing->side];
	uint64_t at = 0, size = 1;

	while (at < BYTES) {
		uint64_t count = LULL_MIN(size, BYTES - at);

		writing->rc = lull_channel_write(channel, peer, writing->bytes + at, count,
						 STAND_WAIT_NS);
		if (writing->rc != (int64_t)count)
			return NULL;
		at += count;
		size = size * 7 % 300007;
	}
	writing->rc = writing->shut ? lull_channel_shut(channel, peer, STAND_WAIT_NS) : 0;
	return NULL;
}

static void
read_all(struct stand *stand, int side, const uint8_t *expected)
{
	static uint8_t buffer[100000];
	uint64_t at = 0, size = 1;
	int64_t count;

	for (;;) {
		count = lull_channel_read(stand->channels[side], stand->peers[side], buffer, size,
					  STAND_WAIT_NS);
		assert_true(count >= 0);
		if (count == 0)
			break;
		assert_true((uint64_t)count <= size);
		assert_true(at + (uint64_t)count <= BYTES);
		assert_memory_equal(buffer, expected + at, (size_t)count);
		at += (uint64_t)count;
		size = size * 3 % 99991;
	}
	assert_int_equal(at, BYTES);
	/* And so it stays. */
	assert_int_equal(lull_channel_read(stand->channels[side], stand->peers[side], buffer, 1,
					   STAND_WAIT_NS),
			 0);
}

static void
carry(bool own_loop)
{
	struct stand stand = { .rail_count = 2, .own_loop = own_loop };
	uint8_t *bytes = malloc(BYTES);
	struct writing writing = { .stand = &stand, .bytes = bytes, .shut = true };
	pthread_t thread;

	assert_non_null(bytes);
	stand_fill(bytes, BYTES, 3);
	stand_open(&stand);
	for (writing.side = 0; writing.side < 2; writing.side++) {
		assert_int_equal(pthread_create(&thread, NULL, writing_run, &writing), 0);
		read_all(&stand, 1 - writing.side, bytes);
		if (own_loop) /* so that the last bytes are acknowledged */
			while (pthread_tryjoin_np(thread, NULL) != 0)
				lull_channel_poll(stand.channels[1 - writing.side]);
		else
			pthread_join(thread, NULL);
		assert_int_equal(writing.rc, 0);
		assert_int_equal(lull_channel_write(stand.channels[writing.side],
						    stand.peers[writing.side], "x", 1, 0),
				 -EPIPE);
		assert_int_equal(lull_channel_shut(stand.channels[writing.side],
						   stand.peers[writing.side], 0),
				 0);
	}
	stand_close(&stand);
	free(bytes);
}

TEST(stream__in_both_directions)
{
	carry(false);
}

TEST(stream__in_the_callers_loop)
{
	carry(true);
}

/* Nobody reads: 8 pieces are there, 8 are on their way, and no more is taken. */
TEST(stream__has_no_more_room_than_it_says)
{
	struct stand stand = { .rail_count = 1 };
	uint8_t *bytes = calloc(17, PIECE), *buffer = malloc(PIECE);
	int64_t taken;
	uint64_t got = 0;

	assert_non_null(bytes);
	assert_non_null(buffer);
	stand_fill(bytes, 17 * PIECE, 4);
	stand_open(&stand);
	taken = lull_channel_write(stand.channels[0], stand.peers[0], bytes, 17 * PIECE,
				   300 * LULL_NS_PER_MS);
	assert_int_equal(taken, 16 * PIECE);
	assert_int_equal(lull_channel_write(stand.channels[0], stand.peers[0], bytes, 1, 0), 0);
	assert_int_equal(lull_channel_shut(stand.channels[0], stand.peers[0], 10 * LULL_NS_PER_MS),
			 -ETIMEDOUT);
	/* Read, it goes on. */
	while (got < 16 * PIECE) {
		int64_t count = lull_channel_read(stand.channels[1], stand.peers[1], buffer, PIECE,
						  STAND_WAIT_NS);

		assert_true(count > 0);
		assert_memory_equal(buffer, bytes + got, (size_t)count);
		got += (uint64_t)count;
	}
	assert_int_equal(lull_channel_shut(stand.channels[0], stand.peers[0], STAND_WAIT_NS), 0);
	assert_int_equal(
		lull_channel_read(stand.channels[1], stand.peers[1], buffer, 1, STAND_WAIT_NS), 0);
	stand_close(&stand);
	free(bytes);
	free(buffer);
}

/* Half a close: the other half goes on. Messages go beside. */
TEST(stream__is_shut_on_one_side)
{
	struct stand stand = { .rail_count = 1 };
	char buffer[8];

	stand_open(&stand);
	assert_int_equal(lull_channel_shut(stand.channels[0], stand.peers[0], STAND_WAIT_NS), 0);
	assert_int_equal(
		lull_channel_read(stand.channels[1], stand.peers[1], buffer, 8, STAND_WAIT_NS), 0);
	assert_int_equal(
		lull_channel_write(stand.channels[1], stand.peers[1], "back", 4, STAND_WAIT_NS), 4);
	assert_int_equal(
		lull_channel_read(stand.channels[0], stand.peers[0], buffer, 8, STAND_WAIT_NS), 4);
	assert_memory_equal(buffer, "back", 4);
	stand_carry(&stand, 0, 1000, 1);
	stand_close(&stand);
}

TEST(stream__tells_what_became_of_its_peer)
{
	struct stand stand = { .rail_count = 1 };
	char buffer[8];

	stand_open(&stand);
	assert_int_equal(lull_channel_read(stand.channels[0], stand.peers[0], buffer, 8,
					   10 * LULL_NS_PER_MS),
			 -ETIMEDOUT);
	assert_int_equal(lull_channel_read(stand.channels[0], 63, buffer, 8, 0), -ENOTCONN);
	assert_int_equal(lull_channel_write(stand.channels[0], 63, buffer, 8, 0), -ENOTCONN);
	assert_int_equal(lull_channel_shut(stand.channels[0], 6300, 0), -ENOTCONN);
	assert_int_equal(
		lull_channel_write(stand.channels[0], stand.peers[0], "left", 4, STAND_WAIT_NS), 4);
	assert_int_equal(lull_channel_disconnect(stand.channels[0], stand.peers[0], STAND_WAIT_NS),
			 0);
	/* What has come stays readable, and then it says why there is no more. */
	assert_int_equal(
		lull_channel_read(stand.channels[1], stand.peers[1], buffer, 8, STAND_WAIT_NS), 4);
	assert_memory_equal(buffer, "left", 4);
	assert_int_equal(
		lull_channel_read(stand.channels[1], stand.peers[1], buffer, 8, STAND_WAIT_NS),
		-ECONNRESET);
	assert_int_equal(
		lull_channel_write(stand.channels[1], stand.peers[1], "x", 1, STAND_WAIT_NS),
		-ECONNRESET);
	assert_int_equal(lull_channel_shut(stand.channels[1], stand.peers[1], STAND_WAIT_NS),
			 -ECONNRESET);
	stand_close(&stand);
}
