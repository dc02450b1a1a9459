/* SPDX-License-Identifier: BSD-3-Clause */
#include "stand.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <lull/rest.h>

/* Loopback is everybody's: whoever else runs these tests has other names. */
const char *
stand_name(int side)
{
	static char names[2][LULL_CHANNEL_NAME_SIZE];

	snprintf(names[side], sizeof(names[side]), "%s-%d", side == 0 ? "here" : "there",
		 (int)getpid());
	return names[side];
}

void
stand_start(struct stand *stand)
{
	static char texts[STAND_RAILS_MAX][16];
	struct lull_error error = { "" };

	for (int side = 0; side < 2; side++) {
		struct lull_channel_config config = stand->config;

		config.name = stand_name(side);
		config.own_loop = stand->own_loop;
		config.rail_count = stand->rail_count = LULL_MAX(stand->rail_count, 1u);
		if (config.key_file == NULL)
			config.security = LULL_CHANNEL_OPEN;
		for (uint32_t i = 0; i < stand->rail_count; i++) {
			snprintf(texts[i], sizeof(texts[i]), "pair:%u", i);
			config.rails[i] =
				stand->rails[side][i] != NULL ? stand->rails[side][i] : texts[i];
		}
		if (lull_channel_open(&config, &stand->channels[side], &error) != 0 ||
		    lull_channel_start(stand->channels[side], &error) != 0)
			fail_msg("%s", error.text);
	}
}

void
stand_turn(struct stand *stand)
{
	for (int side = 0; side < 2; side++)
		lull_channel_poll(stand->channels[side]);
}

struct connecting {
	struct stand *stand;
	struct lull_error error;
	int rc;
	atomic_bool accepted;
};

static void *
connecting_run(void *arg)
{
	struct connecting *connecting = arg;
	struct stand *stand = connecting->stand;

	connecting->rc = lull_channel_connect(stand->channels[0], stand_name(1), STAND_WAIT_NS,
					      &stand->peers[0], &connecting->error);
	/* With own_loop nobody else moves the packets that the other side still waits for. */
	while (!atomic_load(&connecting->accepted)) {
		lull_channel_poll(stand->channels[0]);
		usleep(100);
	}
	return NULL;
}

void
stand_connect(struct stand *stand)
{
	struct connecting connecting = { .stand = stand };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, connecting_run, &connecting), 0);
	assert_int_equal(lull_channel_accept(stand->channels[1], STAND_WAIT_NS, &stand->peers[1]),
			 0);
	atomic_store(&connecting.accepted, true);
	while (pthread_tryjoin_np(thread, NULL) != 0) {
		lull_channel_poll(stand->channels[1]);
		usleep(100);
	}
	if (connecting.rc != 0)
		fail_msg("%s", connecting.error.text);
}

void
stand_open(struct stand *stand)
{
	stand_start(stand);
	stand_connect(stand);
}

void
stand_close(struct stand *stand)
{
	lull_channel_close(stand->channels[0], 0);
	lull_channel_close(stand->channels[1], 0);
}

/* ---- messages ---- */

static uint8_t
byte_of(uint64_t index, uint64_t seed)
{
	return (uint8_t)((index * 131 + (index >> 8) * 7 + seed * 29) ^ seed);
}

void
stand_fill(uint8_t *bytes, uint64_t count, uint64_t seed)
{
	for (uint64_t i = 0; i < count; i++)
		bytes[i] = byte_of(i, seed);
}

bool
stand_holds(const uint8_t *bytes, uint64_t count, uint64_t seed)
{
	for (uint64_t i = 0; i < count; i++)
		if (bytes[i] != byte_of(i, seed))
			return false;
	return true;
}

void
stand_send(struct stand *stand, int side, const void *data, uint64_t len_bytes, uint64_t tag,
	   void *context)
{
	const struct lull_channel_message message = { .data = data,
						      .len_bytes = len_bytes,
						      .tag = tag,
						      .user = tag + 1,
						      .endpoint = stand->config.endpoint };

	assert_int_equal(
		lull_channel_send(stand->channels[side], stand->peers[side], &message, context), 0);
}

void
stand_recv(struct stand *stand, int side, uint64_t tag, void *buffer, uint64_t size_bytes,
	   void *context)
{
	const struct lull_channel_receive receive = {
		.source = stand->peers[side], .tag = tag, .buffer = buffer, .size_bytes = size_bytes
	};

	assert_int_equal(lull_channel_recv(stand->channels[side], &receive, context), 0);
}

struct lull_channel_completion
stand_done(struct stand *stand, int side)
{
	uint64_t begin_ns = lull_clock_ns();
	struct lull_channel_completion done;

	while (lull_channel_done(stand->channels[side], &done, 1,
				 stand->own_loop ? 0 : LULL_NS_PER_S) == 0) {
		if (lull_clock_ns() - begin_ns > STAND_WAIT_NS)
			fail_msg("nothing ended");
		if (stand->own_loop)
			stand_turn(stand);
	}
	return done;
}

void
stand_carry(struct stand *stand, int side, uint64_t len_bytes, uint64_t tag)
{
	uint8_t *sent = malloc(len_bytes + 1), *received = calloc(1, len_bytes + 1);
	struct lull_channel_completion done;

	assert_non_null(sent);
	assert_non_null(received);
	stand_fill(sent, len_bytes, tag);
	stand_recv(stand, 1 - side, tag, received, len_bytes, received);
	stand_send(stand, side, sent, len_bytes, tag, sent);
	done = stand_done(stand, 1 - side);
	assert_ptr_equal(done.context, received);
	assert_false(done.sent);
	assert_int_equal(done.error, 0);
	assert_int_equal(done.peer, stand->peers[1 - side]);
	assert_int_equal(done.len_bytes, len_bytes);
	assert_int_equal(done.tag, tag);
	assert_int_equal(done.user, tag + 1);
	assert_int_equal(done.endpoint, stand->config.endpoint);
	assert_true(stand_holds(received, len_bytes, tag));
	done = stand_done(stand, side);
	assert_ptr_equal(done.context, sent);
	assert_true(done.sent);
	assert_int_equal(done.error, 0);
	assert_int_equal(done.len_bytes, len_bytes);
	free(sent);
	free(received);
}
