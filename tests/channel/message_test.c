/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages over pair: rails: what is sent, received, matched, cut, cancelled and refused. */
#include "stand.h"

#include <poll.h>

#include <lull/rest.h>

#define SMALL 100
#define LARGE 3000000

static char context[64]; /* whose places are contexts */

/* ---- whole messages ---- */

static void
carry(bool own_loop)
{
	static const uint64_t sizes[] = { 0,    1,     7,     8,      64,      1400,
					  1500, 10000, 65536, 100001, 1 << 20, 5000003 };
	struct stand stand = { .own_loop = own_loop, .rail_count = 2, .config = { .endpoint = 7 } };

	stand_open(&stand);
	for (uint32_t i = 0; i < COUNT(sizes); i++) {
		stand_carry(&stand, 0, sizes[i], 100 + i);
		stand_carry(&stand, 1, sizes[i], 200 + i);
	}
	stand_close(&stand);
}

TEST(message__of_each_size)
{
	carry(false);
}

TEST(message__of_each_size_in_the_callers_loop)
{
	carry(true);
}

/* Many under way, in both directions: each ends once, in its buffer. */
TEST(message__many_at_once)
{
	enum { COUNT_ = 200, BYTES = 20000 };
	static uint8_t in[2][COUNT_][BYTES], out[2][COUNT_][BYTES];
	struct stand stand = { .rail_count = 3 };
	bool ended[2][2][COUNT_] = { { { false } } };

	stand_open(&stand);
	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < COUNT_; i++) {
			stand_recv(&stand, side, i, in[side][i], BYTES, in[side][i]);
			stand_fill(out[side][i], BYTES, i + 1000 * (unsigned int)side);
		}
	for (uint32_t i = 0; i < COUNT_; i++)
		for (int side = 0; side < 2; side++)
			stand_send(&stand, side, out[side][i], BYTES, i, out[side][i]);
	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < 2 * COUNT_; i++) {
			struct lull_channel_completion done = stand_done(&stand, side);

			assert_int_equal(done.error, 0);
			assert_false(ended[side][done.sent][done.tag]);
			ended[side][done.sent][done.tag] = true;
			if (!done.sent)
				assert_true(stand_holds(in[side][done.tag], BYTES,
							done.tag + 1000 * (uint64_t)(1 - side)));
		}
	stand_close(&stand);
}

/* ---- matching ---- */

/* The first that waits and matches, in the order of the sends. */
TEST(message__waits_for_its_receive)
{
	static const uint64_t tags[] = { 5, 6, 5, 0x100 };
	uint8_t bytes[COUNT(tags)][SMALL], buffer[SMALL];
	struct lull_channel_completion found;
	struct stand stand = { .rail_count = 1 };
	struct lull_channel_receive wanted = { .source = LULL_CHANNEL_ANY,
					       .tag = 0x1ff,
					       .ignore = 0xff };
	uint64_t claim;

	stand_open(&stand);
	assert_int_equal(lull_channel_peek(stand.channels[1], &wanted, &found), -ENOMSG);
	assert_int_equal(lull_channel_claim(stand.channels[1], &wanted, &found, &claim), -ENOMSG);
	for (uint32_t i = 0; i < COUNT(tags); i++) {
		stand_fill(bytes[i], SMALL, i);
		stand_send(&stand, 0, bytes[i], SMALL, tags[i], bytes[i]);
		assert_int_equal(stand_done(&stand, 0).error, 0);
	}
	/* The bits that do not count. */
	while (lull_channel_peek(stand.channels[1], &wanted, &found) == -ENOMSG)
		;
	assert_int_equal(found.tag, 0x100);
	assert_int_equal(found.user, 0x101);
	assert_int_equal(found.len_bytes, SMALL);
	assert_int_equal(found.peer, stand.peers[1]);
	/* 5 before 5, and both before what is kept. */
	stand_recv(&stand, 1, 5, buffer, SMALL, context);
	assert_int_equal(stand_done(&stand, 1).error, 0);
	assert_true(stand_holds(buffer, SMALL, 0));
	stand_recv(&stand, 1, 5, buffer, SMALL, context);
	assert_int_equal(stand_done(&stand, 1).error, 0);
	assert_true(stand_holds(buffer, SMALL, 2));
	stand_close(&stand);
}

TEST(message__is_claimed_once)
{
	uint8_t bytes[SMALL], buffer[SMALL];
	struct lull_channel_completion found, done;
	struct stand stand = { .rail_count = 1 };
	struct lull_channel_receive wanted = { .source = LULL_CHANNEL_ANY, .tag = 9 };
	uint64_t claim, older;

	stand_open(&stand);
	for (uint32_t round = 0; round < 2; round++) {
		stand_fill(bytes, SMALL, round);
		stand_send(&stand, 0, bytes, SMALL, 9, bytes);
		stand_done(&stand, 0);
		older = claim;
		while (lull_channel_claim(stand.channels[1], &wanted, &found, &claim) == -ENOMSG)
			;
		assert_int_equal(found.len_bytes, SMALL);
		assert_int_equal(lull_channel_peek(stand.channels[1], &wanted, &found), -ENOMSG);
		if (round == 1) /* of the same place */
			assert_int_equal(lull_channel_claimed(stand.channels[1], older, buffer,
							      SMALL, context),
					 -ENOENT);
		assert_int_equal(lull_channel_claimed(stand.channels[1], claim, buffer, SMALL,
						      &context[round]),
				 0);
		done = stand_done(&stand, 1);
		assert_ptr_equal(done.context, &context[round]);
		assert_int_equal(done.error, 0);
		assert_int_equal(done.tag, 9);
		assert_true(stand_holds(buffer, SMALL, round));
		assert_int_equal(
			lull_channel_claimed(stand.channels[1], claim, buffer, SMALL, context),
			-ENOENT);
	}
	assert_int_equal(
		lull_channel_claimed(stand.channels[1], UINT64_MAX, buffer, SMALL, context),
		-ENOENT);
	stand_close(&stand);
}

/* `matched` says that a receive has it, not that it is there. */
TEST(message__is_complete_when_it_is_matched)
{
	const struct lull_channel_message message = {
		.data = "x", .len_bytes = 1, .tag = 3, .matched = true
	};
	struct lull_channel_receive wanted = { .source = LULL_CHANNEL_ANY, .tag = 3 };
	struct stand stand = { .rail_count = 1 };
	struct lull_channel_completion done;
	char buffer;

	stand_open(&stand);
	assert_int_equal(lull_channel_send(stand.channels[0], stand.peers[0], &message, context),
			 0);
	while (lull_channel_peek(stand.channels[1], &wanted, &done) == -ENOMSG)
		;
	assert_int_equal(lull_channel_done(stand.channels[0], &done, 1, 30 * LULL_NS_PER_MS), 0);
	stand_recv(&stand, 1, 3, &buffer, 1, context);
	assert_int_equal(stand_done(&stand, 0).error, 0);
	assert_int_equal(stand_done(&stand, 1).error, 0);
	stand_close(&stand);
}

/* ---- what does not fit, is not there, comes too late ---- */

static void
truncate_to(uint64_t size_bytes, bool before)
{
	static uint8_t bytes[LARGE], buffer[LARGE];
	struct stand stand = { .rail_count = 2 };
	struct lull_channel_completion done;

	stand_open(&stand);
	stand_fill(bytes, LARGE, 1);
	memset(buffer, 0xee, sizeof(buffer));
	if (before)
		stand_recv(&stand, 1, 1, buffer, size_bytes, context);
	stand_send(&stand, 0, bytes, LARGE, 1, bytes);
	if (!before)
		stand_recv(&stand, 1, 1, buffer, size_bytes, context);
	done = stand_done(&stand, 1);
	assert_int_equal(done.error, -EMSGSIZE);
	assert_int_equal(done.len_bytes, LARGE);
	assert_true(stand_holds(buffer, size_bytes, 1));
	for (uint64_t i = size_bytes; i < LARGE; i++)
		assert_int_equal(buffer[i], 0xee);
	assert_int_equal(stand_done(&stand, 0).error, 0);
	stand_carry(&stand, 0, SMALL, 2);
	stand_close(&stand);
}

TEST(message__longer_than_its_buffer_is_cut)
{
	truncate_to(0, true);
	truncate_to(1000, false);
	truncate_to(LARGE - 1, true);
}

TEST(message__to_no_endpoint_is_refused)
{
	struct lull_channel_message message = { .data = "x", .len_bytes = 1, .endpoint = 99 };
	struct stand stand = { .rail_count = 1 };
	struct lull_channel_completion done;

	stand_open(&stand);
	assert_int_equal(lull_channel_send(stand.channels[0], stand.peers[0], &message, context),
			 0);
	done = stand_done(&stand, 0);
	assert_int_equal(done.error, -ECONNREFUSED);
	assert_ptr_equal(done.context, context);
	message.endpoint = UINT16_MAX; /* of streams */
	assert_int_equal(lull_channel_send(stand.channels[0], stand.peers[0], &message, context),
			 -EINVAL);
	stand_close(&stand);
}

TEST(message__needs_a_peer_and_room)
{
	const struct lull_channel_message message = { .data = "x", .len_bytes = 1 };
	const struct lull_channel_message long_one = { .data = "x",
						       .len_bytes = (32ULL << 30) + 1 };
	struct lull_channel_receive receive = { .source = LULL_CHANNEL_ANY, .tag = 1 };
	struct stand stand = { .rail_count = 1, .config = { .operations_max = 16 } };
	struct lull_channel_completion done[32];

	stand_open(&stand);
	assert_int_equal(lull_channel_send(stand.channels[0], stand.peers[0] + 1, &message, NULL),
			 -ENOTCONN);
	assert_int_equal(lull_channel_send(stand.channels[0], 100000, &message, NULL), -ENOTCONN);
	assert_int_equal(lull_channel_send(stand.channels[0], stand.peers[0], &long_one, NULL),
			 -EMSGSIZE);
	receive.source = stand.peers[0] + 1;
	assert_int_equal(lull_channel_recv(stand.channels[0], &receive, NULL), -ENOTCONN);
	receive.source = LULL_CHANNEL_ANY;
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(lull_channel_recv(stand.channels[0], &receive, &context[i]), 0);
	assert_int_equal(lull_channel_recv(stand.channels[0], &receive, context), -EAGAIN);
	assert_int_equal(lull_channel_send(stand.channels[0], stand.peers[0], &message, NULL),
			 -EAGAIN);
	/* What has ended has its place until it is taken. */
	assert_int_equal(lull_channel_cancel(stand.channels[0], &context[3]), 0);
	assert_int_equal(lull_channel_recv(stand.channels[0], &receive, context), -EAGAIN);
	assert_int_equal(lull_channel_done(stand.channels[0], done, COUNT(done), 0), 1);
	assert_int_equal(done[0].error, -ECANCELED);
	assert_ptr_equal(done[0].context, &context[3]);
	assert_false(done[0].sent);
	assert_int_equal(lull_channel_recv(stand.channels[0], &receive, &context[3]), 0);
	stand_close(&stand);
}

TEST(message__is_cancelled_or_not)
{
	static uint8_t bytes[LARGE];
	struct stand stand = { .rail_count = 1, .own_loop = true };
	struct lull_channel_completion done;
	uint8_t buffer[SMALL];

	stand_open(&stand);
	assert_int_equal(lull_channel_cancel(stand.channels[0], context), -ENOENT);
	stand_recv(&stand, 0, 1, buffer, SMALL, context);
	assert_int_equal(lull_channel_cancel(stand.channels[0], context), 0);
	assert_int_equal(lull_channel_cancel(stand.channels[0], context), -ENOENT);
	assert_int_equal(stand_done(&stand, 0).error, -ECANCELED);
	/* So many that some have to wait: the last of them has not begun to leave. */
	for (uint32_t i = 0; i < 30; i++)
		stand_send(&stand, 0, bytes, LARGE, i, &context[i]);
	assert_int_equal(lull_channel_cancel(stand.channels[0], &context[29]), 0);
	done = stand_done(&stand, 0);
	assert_int_equal(done.error, -ECANCELED);
	assert_true(done.sent);
	assert_ptr_equal(done.context, &context[29]);
	assert_int_equal(lull_channel_cancel(stand.channels[0], &context[0]), -ENOENT);
	stand_close(&stand);
}

/* ---- waiting ---- */

TEST(done__waits_or_not)
{
	struct stand stand = { .rail_count = 1 };
	struct lull_channel_completion done;
	uint64_t begin_ns;

	stand_open(&stand);
	assert_int_equal(lull_channel_done(stand.channels[0], &done, 1, 0), 0);
	begin_ns = lull_clock_ns();
	assert_int_equal(lull_channel_done(stand.channels[0], &done, 1, 20 * LULL_NS_PER_MS), 0);
	assert_true(lull_clock_ns() - begin_ns >= 20 * LULL_NS_PER_MS);
	assert_int_equal(lull_channel_done(stand.channels[0], &done, 0, LULL_CHANNEL_FOREVER), 0);
	assert_int_equal(lull_channel_poll(stand.channels[0]), 0); /* it has a thread */
	stand_close(&stand);
}

/* With own_loop it moves packets, also when it is told not to wait. */
TEST(done__turns_in_the_callers_loop)
{
	struct stand stand = { .rail_count = 1, .own_loop = true };
	struct lull_channel_completion done[2];
	uint32_t ended[2] = { 0, 0 };
	char buffer;

	stand_open(&stand);
	stand_recv(&stand, 1, 1, &buffer, 1, context);
	stand_send(&stand, 0, "x", 1, 1, context);
	for (uint64_t begin_ns = lull_clock_ns(); ended[0] + ended[1] < 2;) {
		for (int side = 0; side < 2; side++)
			ended[side] += lull_channel_done(stand.channels[side], done, 2, 0);
		assert_true(lull_clock_ns() - begin_ns < STAND_WAIT_NS);
	}
	assert_int_equal(buffer, 'x');
	stand_close(&stand);
}

/* Readable exactly while something has ended that nobody took. */
TEST(fd__tells_of_completions)
{
	struct stand stand = { .rail_count = 1 };
	struct lull_channel_completion done[4];
	struct pollfd poll_of = { .events = POLLIN };
	char buffer;

	stand_open(&stand);
	stand_recv(&stand, 1, 1, &buffer, 1, context);
	stand_send(&stand, 0, "x", 1, 1, context);
	/* Asked for late: what is there already counts. */
	assert_int_equal(stand_done(&stand, 0).error, 0);
	while (lull_channel_done(stand.channels[1], done, 0, 0) != 0)
		;
	poll_of.fd = lull_channel_fd(stand.channels[1]);
	assert_true(poll_of.fd >= 0);
	assert_int_equal(poll(&poll_of, 1, 20000), 1);
	assert_int_equal(lull_channel_done(stand.channels[1], done, 4, 0), 1);
	assert_int_equal(poll(&poll_of, 1, 0), 0);
	stand_recv(&stand, 1, 3, &buffer, 1, context);
	stand_send(&stand, 0, "z", 1, 3, context);
	assert_int_equal(poll(&poll_of, 1, 20000), 1);
	assert_int_equal(stand_done(&stand, 1).error, 0);
	assert_int_equal(poll(&poll_of, 1, 0), 0);
	for (uint32_t i = 0; i < 2; i++)
		stand_recv(&stand, 1, 2, &buffer, 1, context);
	for (uint32_t i = 0; i < 2; i++)
		stand_send(&stand, 0, "y", 1, 2, context);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(poll(&poll_of, 1, 20000), 1);
		assert_int_equal(stand_done(&stand, 1).error, 0);
	}
	assert_int_equal(poll(&poll_of, 1, 0), 0);
	stand_close(&stand);
	stand = (struct stand){ .rail_count = 1, .own_loop = true };
	stand_open(&stand);
	assert_int_equal(lull_channel_fd(stand.channels[0]), -ENOSYS);
	stand_close(&stand);
}
