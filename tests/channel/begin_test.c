/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that begin while their callers go on, and messages of a channel to itself. */
#include "stand.h"

#include <pthread.h>

#include <lull/rest.h>

#define SHORT_NS (150 * LULL_NS_PER_MS)
#define NAME_AT 3 /* of an address */
#define SMALL 300
#define LARGE 400000

static char context[8];

/* ---- begin ---- */

static void
begin(struct stand *stand, int side)
{
	struct lull_channel *channel = stand->channels[side], *other = stand->channels[1 - side];
	uint8_t address[LULL_CHANNEL_ADDRESS_SIZE];
	struct lull_error error = { "" };
	uint32_t bytes = lull_channel_address(other, address);

	if (lull_channel_connect_begin(channel, address, bytes, STAND_WAIT_NS, &stand->peers[side],
				       &error) != 0)
		fail_msg("%s", error.text);
}

/* As a caller does that goes on with what else it has to do. */
static void
send_again(struct stand *stand, int side, const void *data, uint64_t len_bytes, uint64_t tag)
{
	const struct lull_channel_message message = { .data = data,
						      .len_bytes = len_bytes,
						      .tag = tag };
	uint64_t end_ns = lull_clock_ns() + STAND_WAIT_NS;
	int rc;

	while ((rc = lull_channel_send(stand->channels[side], stand->peers[side], &message,
				       context)) == -EAGAIN) {
		stand_turn(stand);
		assert_true(lull_clock_ns() < end_ns);
	}
	assert_int_equal(rc, 0);
}

static struct lull_channel_completion
done_of(struct stand *stand, int side)
{
	struct lull_channel_completion done;
	uint64_t end_ns = lull_clock_ns() + STAND_WAIT_NS;

	while (lull_channel_done(stand->channels[side], &done, 1, 0) == 0) {
		stand_turn(stand);
		assert_true(lull_clock_ns() < end_ns);
	}
	return done;
}

/* Both begin at once: each message finds the receive that named its sender before it was there. */
TEST(begin__receives_can_name_who_is_not_there_yet)
{
	struct stand stand = { .own_loop = true, .rail_count = 2 };
	uint8_t in[2][SMALL], out[2][SMALL], any[2][SMALL];

	stand_start(&stand);
	for (int side = 0; side < 2; side++) {
		struct lull_channel_receive named = { .tag = 3,
						      .buffer = in[side],
						      .size_bytes = SMALL };

		begin(&stand, side);
		named.source = stand.peers[side];
		assert_int_equal(lull_channel_recv(stand.channels[side], &named, in[side]), 0);
		named.source = LULL_CHANNEL_ANY;
		named.buffer = any[side];
		assert_int_equal(lull_channel_recv(stand.channels[side], &named, any[side]), 0);
		stand_fill(out[side], SMALL, (uint64_t)side);
	}
	for (int side = 0; side < 2; side++)
		send_again(&stand, side, out[side], SMALL, 3);
	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < 2; i++) {
			struct lull_channel_completion done = done_of(&stand, side);

			assert_int_equal(done.error, 0);
			assert_int_equal(done.peer, stand.peers[side]);
			assert_ptr_equal(done.context, done.sent ? context : (char *)in[side]);
		}
		assert_true(stand_holds(in[side], SMALL, (uint64_t)(1 - side)));
	}
	stand_close(&stand);
}

TEST(begin__a_connection_that_exists_is_taken)
{
	struct stand stand = { .rail_count = 1 };
	uint32_t peer;

	stand_open(&stand);
	peer = stand.peers[0];
	begin(&stand, 0);
	assert_int_equal(stand.peers[0], peer);
	stand_carry(&stand, 0, LARGE, 1);
	stand_close(&stand);
}

TEST(begin__nobody_answers)
{
	struct stand stand = { .own_loop = true, .rail_count = 1 };
	struct lull_channel_message message = { .data = context, .len_bytes = 1 };
	struct lull_channel_receive receive = { .buffer = context, .size_bytes = 1 };
	uint8_t address[LULL_CHANNEL_ADDRESS_SIZE];
	struct lull_channel_completion done;
	struct lull_error error;

	stand_start(&stand);
	lull_channel_address(stand.channels[1], address);
	address[NAME_AT] ^= 1; /* another name, at the same place */
	assert_int_equal(lull_channel_connect_begin(stand.channels[0], address, sizeof(address),
						    SHORT_NS, &receive.source, &error),
			 0);
	assert_int_equal(lull_channel_send(stand.channels[0], receive.source, &message, context),
			 -EAGAIN);
	assert_int_equal(lull_channel_recv(stand.channels[0], &receive, context), 0);
	done = done_of(&stand, 0);
	assert_int_equal(done.error, -ECONNRESET);
	assert_int_equal(lull_channel_send(stand.channels[0], receive.source, &message, context),
			 -ENOTCONN);
	assert_int_equal(lull_channel_recv(stand.channels[0], &receive, context), -ENOTCONN);
	stand_close(&stand);
}

TEST(begin__says_what_is_wrong)
{
	struct stand stand = { .own_loop = true, .rail_count = 1 };
	uint8_t address[LULL_CHANNEL_ADDRESS_SIZE];
	struct lull_error error;
	uint32_t peer, bytes;

	stand_start(&stand);
	bytes = lull_channel_address(stand.channels[0], address);
	assert_int_equal(lull_channel_connect_begin(stand.channels[0], address, bytes, SHORT_NS,
						    &peer, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "is this node itself"));
	assert_int_equal(lull_channel_connect_begin(stand.channels[0], address, bytes - 1, SHORT_NS,
						    &peer, &error),
			 -EINVAL);
	address[NAME_AT] ^= 1;
	address[NAME_AT + address[NAME_AT - 1]] = 99; /* a kind of rails that nobody has */
	assert_int_equal(lull_channel_connect_begin(stand.channels[0], address, bytes, SHORT_NS,
						    &peer, &error),
			 -EHOSTUNREACH);
	assert_non_null(strstr(error.text, "no rail here reaches"));
	stand_close(&stand);
}

/* Who comes when a peer has gone gets another number, until it is given back. */
TEST(begin__a_number_is_nobody_elses)
{
	struct stand stand = { .own_loop = true, .rail_count = 1 };
	struct lull_channel_config config = { .name = "third",
					      .rails = { "kernel:lo,port=0" },
					      .rail_count = 1,
					      .security = LULL_CHANNEL_OPEN,
					      .own_loop = true };
	struct lull_channel_receive named = { .tag = 1, .buffer = context, .size_bytes = 1 };
	struct lull_channel_completion done;
	struct lull_bundle_peer_look look;
	uint8_t address[LULL_CHANNEL_ADDRESS_SIZE];
	struct lull_channel *third;
	uint32_t gone, peer, bytes;

	stand.rails[0][0] = stand.rails[1][0] = "kernel:lo,port=0";
	stand_start(&stand);
	begin(&stand, 0);
	gone = stand.peers[0];
	send_again(&stand, 0, context, 1, 1);
	assert_int_equal(done_of(&stand, 0).error, 0);
	lull_channel_close(stand.channels[1], 0);
	named.source = gone;
	assert_int_equal(lull_channel_recv(stand.channels[0], &named, context), 0);
	while (lull_channel_recv(stand.channels[0], &named, context) == 0)
		lull_channel_poll(stand.channels[0]);
	done = done_of(&stand, 0);
	assert_int_equal(done.error, -ECONNRESET);
	assert_int_equal(done.peer, gone);
	assert_int_equal(lull_channel_peer_look(stand.channels[0], gone, &look), 0);
	assert_false(look.up);
	assert_int_equal(look.sent_messages, 1);

	assert_int_equal(lull_channel_open(&config, &third, NULL), 0);
	assert_int_equal(lull_channel_start(third, NULL), 0);
	bytes = lull_channel_address(stand.channels[0], address);
	assert_int_equal(
		lull_channel_connect_begin(third, address, bytes, STAND_WAIT_NS, &peer, NULL), 0);
	while (lull_channel_accept(stand.channels[0], 0, &peer) != 0) {
		lull_channel_poll(third);
		lull_channel_poll(stand.channels[0]);
	}
	assert_int_not_equal(peer, gone);
	assert_int_equal(lull_channel_recv(stand.channels[0], &named, context), -ENOTCONN);
	assert_int_equal(lull_channel_disconnect(stand.channels[0], gone, 0), 0);
	assert_int_equal(lull_channel_disconnect(stand.channels[0], gone, 0), -ENOTCONN);
	lull_channel_close(third, 0);
	lull_channel_close(stand.channels[0], 0);
}

/* ---- stand-in ---- */

/* There never polls: it is connected and acknowledges what comes all the same. */
TEST(stand_in__answers_while_callers_are_away)
{
	struct stand stand = { .own_loop = true, .rail_count = 2, .config = { .stand_in = true } };
	static uint8_t out[LARGE], in[LARGE];
	struct lull_channel_receive posted = {
		.source = LULL_CHANNEL_ANY, .tag = 2, .buffer = in, .size_bytes = LARGE
	};
	struct lull_channel_message message = { .data = out, .len_bytes = SMALL, .tag = 1 };
	struct lull_channel_completion done;
	struct lull_error error;

	stand_start(&stand);
	stand_fill(out, LARGE, 5);
	assert_int_equal(lull_channel_recv(stand.channels[1], &posted, in), 0);
	assert_int_equal(lull_channel_connect(stand.channels[0], stand_name(1), STAND_WAIT_NS,
					      &stand.peers[0], &error),
			 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			lull_channel_send(stand.channels[0], stand.peers[0], &message, context), 0);
		assert_int_equal(lull_channel_done(stand.channels[0], &done, 1, STAND_WAIT_NS), 1);
		assert_int_equal(done.error, 0);
		message.tag = 2;
		message.len_bytes = LARGE;
	}
	assert_true(stand_holds(in, LARGE, 5));
	stand_close(&stand);
}

struct told {
	pthread_mutex_t lock;
	struct stand *stand;
	const uint8_t *out;
	uint32_t sent;
};

/* It sends what had to wait for the connection. Threads of both channels call it. */
static void
told_changed(void *of)
{
	struct lull_channel_message message = { .len_bytes = SMALL, .tag = 3 };
	struct told *told = of;

	message.data = told->out;
	pthread_mutex_lock(&told->lock);
	if (told->sent == 0)
		told->sent = lull_channel_send(told->stand->channels[0], told->stand->peers[0],
					       &message, of) == 0;
	pthread_mutex_unlock(&told->lock);
}

/* The first channel's caller begins to connect, and never calls again. */
static void
sends_by_itself(bool own_loop)
{
	struct stand stand = { .own_loop = own_loop,
			       .rail_count = 1,
			       .config = { .stand_in = true, .changed = told_changed } };
	uint8_t in[SMALL], out[SMALL];
	struct lull_channel_receive posted = {
		.source = LULL_CHANNEL_ANY, .tag = 3, .buffer = in, .size_bytes = SMALL
	};
	struct told told = { .lock = PTHREAD_MUTEX_INITIALIZER, .stand = &stand, .out = out };
	struct lull_channel_completion done;

	stand.config.changed_context = &told;
	stand_fill(out, SMALL, 9);
	stand_start(&stand);
	assert_int_equal(lull_channel_recv(stand.channels[1], &posted, in), 0);
	begin(&stand, 0);
	assert_int_equal(lull_channel_done(stand.channels[1], &done, 1, STAND_WAIT_NS), 1);
	assert_int_equal(done.error, 0);
	assert_true(stand_holds(in, SMALL, 9));
	stand_close(&stand);
	assert_int_equal(told.sent, 1);
}

TEST(changed__is_called_by_the_thread_that_stands_in)
{
	sends_by_itself(true);
}

TEST(changed__is_called_by_the_channels_own_thread)
{
	sends_by_itself(false);
}

/* ---- self ---- */

static int
self_send(struct stand *stand, const void *data, uint64_t len_bytes, uint64_t tag, void *of)
{
	const struct lull_channel_message message = { .data = data,
						      .len_bytes = len_bytes,
						      .tag = tag,
						      .user = tag * 2,
						      .endpoint = stand->config.endpoint };

	return lull_channel_send(stand->channels[0], LULL_CHANNEL_SELF, &message, of);
}

static int
self_recv(struct stand *stand, uint32_t source, void *buffer, uint64_t size_bytes, uint64_t tag,
	  void *of)
{
	const struct lull_channel_receive receive = {
		.source = source, .tag = tag, .buffer = buffer, .size_bytes = size_bytes
	};

	return lull_channel_recv(stand->channels[0], &receive, of);
}

/* Both completions of a message, by their contexts. */
static void
self_ends(struct stand *stand, void *sent, void *received, int error, uint64_t len_bytes)
{
	bool seen[2] = { false, false };

	for (int i = 0; i < 2; i++) {
		struct lull_channel_completion done = done_of(stand, 0);

		assert_ptr_equal(done.context, done.sent ? sent : received);
		assert_int_equal(done.error, done.sent ? 0 : error);
		assert_int_equal(done.peer, LULL_CHANNEL_SELF);
		assert_int_equal(done.len_bytes, len_bytes);
		assert_int_equal(done.user, done.tag * 2);
		assert_int_equal(done.endpoint, stand->config.endpoint);
		assert_false(seen[done.sent]);
		seen[done.sent] = true;
	}
}

TEST(self__a_message_meets_its_receive_in_either_order)
{
	struct stand stand = { .own_loop = true, .rail_count = 1, .config = { .endpoint = 9 } };
	static uint8_t out[LARGE], in[LARGE];

	stand_start(&stand);
	stand_fill(out, LARGE, 1);
	assert_int_equal(self_recv(&stand, LULL_CHANNEL_SELF, in, LARGE, 1, in), 0);
	assert_int_equal(self_send(&stand, out, LARGE, 1, out), 0);
	self_ends(&stand, out, in, 0, LARGE);
	assert_true(stand_holds(in, LARGE, 1));
	memset(in, 0, LARGE);
	assert_int_equal(self_send(&stand, out, LARGE, 2, out), 0);
	assert_int_equal(self_recv(&stand, LULL_CHANNEL_ANY, in, LARGE, 2, in), 0);
	self_ends(&stand, out, in, 0, LARGE);
	assert_true(stand_holds(in, LARGE, 1));
	/* Too short a buffer, and none at all. */
	memset(in, 0xee, LARGE);
	assert_int_equal(self_recv(&stand, LULL_CHANNEL_SELF, in, SMALL, 3, in), 0);
	assert_int_equal(self_send(&stand, out, LARGE, 3, out), 0);
	self_ends(&stand, out, in, -EMSGSIZE, LARGE);
	assert_true(stand_holds(in, SMALL, 1));
	assert_int_equal(in[SMALL], 0xee);
	assert_int_equal(self_send(&stand, NULL, 0, 4, out), 0);
	assert_int_equal(self_recv(&stand, LULL_CHANNEL_SELF, NULL, 0, 4, in), 0);
	self_ends(&stand, out, in, 0, 0);
	stand_close(&stand);
}

TEST(self__a_message_can_be_peeked_at_and_claimed)
{
	struct stand stand = { .own_loop = true, .rail_count = 1 };
	struct lull_channel_receive wanted = { .source = LULL_CHANNEL_ANY, .tag = 5 };
	struct lull_channel_completion found;
	uint8_t out[SMALL], in[SMALL];
	uint64_t claim;

	stand_start(&stand);
	stand_fill(out, SMALL, 2);
	assert_int_equal(self_send(&stand, out, SMALL, 5, out), 0);
	assert_int_equal(lull_channel_peek(stand.channels[0], &wanted, &found), 0);
	assert_int_equal(found.peer, LULL_CHANNEL_SELF);
	assert_int_equal(found.len_bytes, SMALL);
	assert_int_equal(lull_channel_cancel(stand.channels[0], out), -ENOENT);
	assert_int_equal(lull_channel_claim(stand.channels[0], &wanted, &found, &claim), 0);
	assert_int_equal(lull_channel_peek(stand.channels[0], &wanted, &found), -ENOMSG);
	assert_int_equal(lull_channel_claimed(stand.channels[0], claim, in, SMALL, in), 0);
	self_ends(&stand, out, in, 0, SMALL);
	assert_true(stand_holds(in, SMALL, 2));
	stand_close(&stand);
}

TEST(self__another_endpoint_is_not_here)
{
	struct stand stand = { .own_loop = true, .rail_count = 1 };
	const struct lull_channel_message message = { .data = context,
						      .len_bytes = 1,
						      .endpoint = 3 };

	stand_start(&stand);
	assert_int_equal(lull_channel_send(stand.channels[0], LULL_CHANNEL_SELF, &message, context),
			 0);
	assert_int_equal(done_of(&stand, 0).error, -ECONNREFUSED);
	stand_close(&stand);
}
