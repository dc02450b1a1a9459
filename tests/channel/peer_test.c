/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers over pair: rails: who connects to whom, by name and by address, and how that ends. */
#include "stand.h"

#include <pthread.h>
#include <unistd.h>

#include <lull/rest.h>

#define SHORT_NS (150 * LULL_NS_PER_MS)
#define LARGE 2000000

static char context[8];

static void
address_of(struct lull_channel *channel, uint8_t *address, uint32_t *bytes)
{
	*bytes = lull_channel_address(channel, address);
	assert_in_range(*bytes, 4, LULL_CHANNEL_ADDRESS_SIZE);
}

/* ---- connect ---- */

TEST(connect__finds_who_is_there)
{
	struct stand stand = { .rail_count = 2 };
	struct lull_error error;
	uint32_t peer;

	stand_open(&stand);
	/* Again, and from the other side: the same peer, at once. */
	assert_int_equal(lull_channel_connect(stand.channels[0], stand_name(1), 0, &peer, &error),
			 0);
	assert_int_equal(peer, stand.peers[0]);
	assert_int_equal(lull_channel_connect(stand.channels[1], stand_name(0), 0, &peer, &error),
			 0);
	assert_int_equal(peer, stand.peers[1]);
	assert_int_equal(lull_channel_accept(stand.channels[1], 0, &peer), -ETIMEDOUT);
	assert_int_equal(lull_channel_accept(stand.channels[0], 0, &peer), -ETIMEDOUT);
	stand_close(&stand);
}

TEST(connect__by_address)
{
	struct stand stand = { .rail_count = 2 };
	uint8_t address[LULL_CHANNEL_ADDRESS_SIZE];
	struct lull_bundle_peer_look look;
	struct lull_error error = { "" };
	uint32_t bytes;

	stand_start(&stand);
	address_of(stand.channels[1], address, &bytes);
	if (lull_channel_connect_address(stand.channels[0], address, bytes, STAND_WAIT_NS,
					 &stand.peers[0], &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(lull_channel_accept(stand.channels[1], STAND_WAIT_NS, &stand.peers[1]), 0);
	assert_int_equal(lull_channel_peer_look(stand.channels[0], stand.peers[0], &look), 0);
	assert_string_equal(look.name, stand_name(1));
	stand_carry(&stand, 0, 5000, 1);
	stand_carry(&stand, 1, 5000, 2);
	stand_close(&stand);
}

TEST(connect__says_why_not)
{
	uint8_t address[LULL_CHANNEL_ADDRESS_SIZE] = { 0 },
		other[] = { 1, 1, 1, 'x', 2, 3, 9, 9, 9 };
	struct stand stand = { .rail_count = 1 };
	struct lull_error error;
	uint32_t peer, bytes;

	stand_start(&stand);
	assert_int_equal(lull_channel_connect(stand.channels[0], "nobody", SHORT_NS, &peer, &error),
			 -ETIMEDOUT);
	assert_non_null(strstr(error.text, "nobody did not answer within 150 ms"));
	assert_non_null(strstr(error.text, "another key"));
	assert_int_equal(lull_channel_connect(stand.channels[0], "", SHORT_NS, &peer, &error),
			 -EINVAL);
	assert_int_equal(lull_channel_connect(stand.channels[0], NULL, SHORT_NS, &peer, &error),
			 -EINVAL);
	assert_int_equal(lull_channel_connect(stand.channels[0],
					      "a-name-that-is-longer-than-thirty-one", SHORT_NS,
					      &peer, &error),
			 -EINVAL);
	assert_int_equal(
		lull_channel_connect(stand.channels[0], stand_name(0), SHORT_NS, &peer, &error),
		-EINVAL);
	/* No rail of that kind. */
	assert_int_equal(lull_channel_connect_address(stand.channels[0], other, sizeof(other),
						      SHORT_NS, &peer, &error),
			 -EHOSTUNREACH);
	assert_non_null(strstr(error.text, "other kinds"));
	/* Every cut of an address, and what is none. */
	address_of(stand.channels[1], address, &bytes);
	for (uint32_t cut = 0; cut < bytes; cut++)
		assert_int_equal(lull_channel_connect_address(stand.channels[0], address, cut,
							      SHORT_NS, &peer, &error),
				 -EINVAL);
	for (uint32_t at = 0; at < 2; at++) {
		uint8_t wrong[LULL_CHANNEL_ADDRESS_SIZE];

		memcpy(wrong, address, sizeof(wrong));
		wrong[at] = at == 0 ? 2 : 200;
		assert_int_equal(lull_channel_connect_address(stand.channels[0], wrong, bytes,
							      SHORT_NS, &peer, &error),
				 -EINVAL);
	}
	stand_close(&stand);
}

TEST(connect__takes_no_more_than_peers_max)
{
	struct stand stand = { .rail_count = 1, .config = { .peers_max = 1 } };
	struct lull_error error;
	uint32_t peer;

	stand_open(&stand);
	assert_int_equal(lull_channel_connect(stand.channels[0], "nobody", SHORT_NS, &peer, &error),
			 -ENOBUFS);
	assert_non_null(strstr(error.text, "peers_max"));
	stand_close(&stand);
}

TEST(connect__needs_a_channel_that_runs)
{
	const struct lull_channel_config config = { .name = "alone",
						    .rails = { "pair:0" },
						    .rail_count = 1,
						    .security = LULL_CHANNEL_OPEN };
	struct lull_channel_message message = { .len_bytes = 0 };
	struct lull_channel *channel;
	struct lull_error error;
	uint32_t peer;

	assert_int_equal(lull_channel_open(&config, &channel, &error), 0);
	assert_int_equal(lull_channel_connect(channel, stand_name(1), SHORT_NS, &peer, &error),
			 -EINVAL);
	assert_int_equal(lull_channel_accept(channel, SHORT_NS, &peer), -EINVAL);
	assert_int_equal(lull_channel_send(channel, 0, &message, NULL), -ENOTCONN);
	assert_int_equal(lull_channel_disconnect(channel, 0, 0), -ENOTCONN);
	assert_int_equal(lull_channel_start(channel, &error), 0);
	assert_int_equal(lull_channel_start(channel, &error), -EINVAL);
	lull_channel_close(channel, 0);
}

/* ---- wake ---- */

struct waiting {
	struct lull_channel *channel;
	int (*wait)(struct lull_channel *channel);
	int rc;
};

static void *
waiting_run(void *arg)
{
	struct waiting *waiting = arg;

	waiting->rc = waiting->wait(waiting->channel);
	return NULL;
}

static int
wait_done(struct lull_channel *channel)
{
	struct lull_channel_completion done;

	return (int)lull_channel_done(channel, &done, 1, LULL_CHANNEL_FOREVER);
}

static int
wait_accept(struct lull_channel *channel)
{
	uint32_t peer;

	return lull_channel_accept(channel, LULL_CHANNEL_FOREVER, &peer);
}

static int
wait_connect(struct lull_channel *channel)
{
	uint32_t peer;

	return lull_channel_connect(channel, "nobody", LULL_CHANNEL_FOREVER, &peer, NULL);
}

/* Who waits for ever comes back. */
static void
wake(bool own_loop)
{
	static int (*const waits[])(struct lull_channel *) = { wait_done, wait_accept,
							       wait_connect };
	static const int codes[] = { 0, -EINTR, -EINTR };
	struct stand stand = { .rail_count = 1, .own_loop = own_loop };

	stand_open(&stand);
	for (uint32_t i = 0; i < COUNT(waits); i++) {
		struct waiting waiting = { .channel = stand.channels[0], .wait = waits[i] };
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, waiting_run, &waiting), 0);
		/* One that came before the wait began would say nothing to it. */
		do {
			usleep(5000);
			lull_channel_wake(stand.channels[0]);
		} while (pthread_tryjoin_np(thread, NULL) != 0);
		assert_int_equal(waiting.rc, codes[i]);
	}
	stand_close(&stand);
}

TEST(wake__ends_a_wait)
{
	wake(false);
}

TEST(wake__ends_a_wait_in_the_callers_loop)
{
	wake(true);
}

/* ---- the end of a connection ---- */

/* Every pending operation of the peer ends once; what is for anyone stays. */
TEST(disconnect__ends_what_is_pending)
{
	enum { POSTED, SENDING, ANYONE, CLAIMED };
	static uint8_t bytes[LARGE], buffer[LARGE];
	struct lull_channel_receive receive = {
		.source = LULL_CHANNEL_ANY, .tag = 77, .buffer = buffer, .size_bytes = 8
	};
	struct stand stand = { .rail_count = 1 };
	struct lull_channel_completion done, found;
	bool ended[4] = { false };
	uint64_t claim;
	uint32_t peer;

	stand_open(&stand);
	stand_send(&stand, 1, "claimed", 7, 3, context);
	receive.tag = 3;
	while (lull_channel_claim(stand.channels[0], &receive, &found, &claim) == -ENOMSG)
		;
	stand_send(&stand, 1, "left", 4, 4, context);
	receive.tag = 4;
	while (lull_channel_peek(stand.channels[0], &receive, &found) == -ENOMSG)
		;
	stand_recv(&stand, 0, 1, buffer, 8, &context[POSTED]);
	receive.tag = 77;
	assert_int_equal(lull_channel_recv(stand.channels[0], &receive, &context[ANYONE]), 0);
	stand_send(&stand, 0, bytes, LARGE, 2, &context[SENDING]); /* nobody receives it */
	assert_int_equal(lull_channel_disconnect(stand.channels[1], stand.peers[1], 0), 0);
	for (uint32_t i = 0; i < 2; i++) {
		done = stand_done(&stand, 0);
		assert_int_equal(done.error, -ECONNRESET);
		assert_int_equal(done.peer, done.sent ? stand.peers[0] : 0);
		assert_false(ended[(char *)done.context - context]);
		ended[(char *)done.context - context] = true;
	}
	assert_true(ended[POSTED] && ended[SENDING]);
	assert_int_equal(lull_channel_done(stand.channels[0], &done, 1, 20 * LULL_NS_PER_MS), 0);
	assert_int_equal(lull_channel_claimed(stand.channels[0], claim, buffer, 8, context),
			 -ENOENT);
	receive.tag = 4;
	assert_int_equal(lull_channel_peek(stand.channels[0], &receive, &found), -ENOMSG);
	assert_int_equal(lull_channel_disconnect(stand.channels[0], stand.peers[0], 0), -ENOTCONN);
	/* It begins anew, and the receive from anyone still waits. */
	while (stand_done(&stand, 1).sent != true)
		;
	peer = stand.peers[0];
	stand_connect(&stand);
	assert_int_equal(stand.peers[0], peer);
	stand_send(&stand, 1, "again", 5, 77, context);
	done = stand_done(&stand, 0);
	assert_ptr_equal(done.context, &context[ANYONE]);
	assert_int_equal(done.error, 0);
	assert_memory_equal(buffer, "again", 5);
	stand_close(&stand);
}

/* One that came and went before anybody accepted it is not told of, those behind it are. */
TEST(accept__tells_of_who_is_there)
{
	struct stand stand = { .rail_count = 1 };
	struct lull_channel_completion done;
	struct lull_error error;
	uint32_t peer;

	stand_start(&stand);
	for (uint32_t round = 0; round < 2; round++) {
		assert_int_equal(lull_channel_connect(stand.channels[0], stand_name(1),
						      STAND_WAIT_NS, &stand.peers[0], &error),
				 0);
		/* Its end is known there as soon as this receive has ended. */
		stand.peers[1] = 0;
		while (lull_channel_recv(stand.channels[1],
					 &(struct lull_channel_receive){ .source = 0, .tag = 1 },
					 context) == -ENOTCONN)
			usleep(1000);
		assert_int_equal(lull_channel_disconnect(stand.channels[0], stand.peers[0], 0), 0);
		done = stand_done(&stand, 1);
		assert_int_equal(done.error, -ECONNRESET);
	}
	assert_int_equal(lull_channel_accept(stand.channels[1], 0, &peer), -ETIMEDOUT);
	stand_connect(&stand);
	stand_carry(&stand, 0, 1000, 1);
	stand_close(&stand);
}

/* What was accepted for sending arrives before the end. */
TEST(disconnect__lingers_for_what_was_sent)
{
	static uint8_t bytes[LARGE], buffer[LARGE];
	struct stand stand = { .rail_count = 2 };
	struct lull_channel_completion done;

	stand_open(&stand);
	stand_fill(bytes, LARGE, 5);
	stand_recv(&stand, 1, 5, buffer, LARGE, context);
	stand_send(&stand, 0, bytes, LARGE, 5, context);
	assert_int_equal(lull_channel_disconnect(stand.channels[0], stand.peers[0], STAND_WAIT_NS),
			 0);
	done = stand_done(&stand, 1);
	assert_int_equal(done.error, 0);
	assert_true(stand_holds(buffer, LARGE, 5));
	assert_int_equal(stand_done(&stand, 0).error, 0);
	stand_close(&stand);
}

TEST(close__lingers_for_what_was_sent)
{
	static uint8_t bytes[LARGE], buffer[LARGE];
	struct stand stand = { .rail_count = 2 };

	stand_open(&stand);
	stand_fill(bytes, LARGE, 6);
	stand_recv(&stand, 1, 6, buffer, LARGE, context);
	stand_send(&stand, 0, bytes, LARGE, 6, context);
	lull_channel_close(stand.channels[0], STAND_WAIT_NS);
	assert_int_equal(stand_done(&stand, 1).error, 0);
	assert_true(stand_holds(buffer, LARGE, 6));
	lull_channel_close(stand.channels[1], 0);
	lull_channel_close(NULL, 0);
}

/* Who connects while the last connection still ends gets the next one. */
TEST(connect__waits_for_the_end_of_the_one_before)
{
	static uint8_t bytes[LARGE], buffer[LARGE];
	struct stand stand = { .rail_count = 1 };
	struct lull_channel_completion done;

	stand_open(&stand);
	stand_recv(&stand, 1, 5, buffer, LARGE, context);
	stand_send(&stand, 0, bytes, LARGE, 5, context);
	assert_int_equal(lull_channel_disconnect(stand.channels[0], stand.peers[0], STAND_WAIT_NS),
			 0);
	stand_connect(&stand);
	assert_int_equal(lull_channel_done(stand.channels[1], &done, 1, 0), 1);
	assert_int_equal(done.error, 0); /* all of it came before the end */
	assert_int_equal(stand_done(&stand, 0).error, 0);
	stand_carry(&stand, 0, 1000, 1);
	stand_close(&stand);
}

/* A peer that is gone without a word is found out, by its silence. */
TEST(peer__that_falls_silent_is_gone)
{
	struct stand stand = { .rail_count = 1,
			       .own_loop = true,
			       .config = { .peer_timeout_ns = 100 * LULL_NS_PER_MS } };
	uint64_t begin_ns = lull_clock_ns();
	struct lull_channel_completion done;

	stand_open(&stand);
	stand_send(&stand, 0, "x", 1, 1, context);
	stand_done(&stand, 0);
	stand_recv(&stand, 0, 2, context, 1, context);
	/* The other one does not turn any more. */
	while (lull_channel_done(stand.channels[0], &done, 1, LULL_NS_PER_S) == 0)
		assert_true(lull_clock_ns() - begin_ns < STAND_WAIT_NS);
	assert_int_equal(done.error, -ECONNRESET);
	stand_close(&stand);
}
