/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../case.h"
#include "base/prng.h"
#include "match/match.h"

#define ANY LULL_MATCH_ANY

static struct lull_match *match;

static int
set_up(void **state)
{
	(void)state;
	match = malloc(lull_match_size(64, 64));
	assert_non_null(match);
	memset(match, 0xa5, lull_match_size(64, 64)); /* whatever was there */
	lull_match_init(match, 64, 64);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	free(match);
	return 0;
}

#define MATCH_TEST(name) TEST_WITH(name, set_up, tear_down)

/* Contexts are numbers here. */
static void *
context_of(uintptr_t number)
{
	return (void *)number; /* NOLINT: compared only */
}

/* The handle of the message it takes; 0: it waits; or a negative errno. */
static int
post(uint32_t source, uint64_t tag, uint64_t ignore, uintptr_t context)
{
	struct lull_match_receive receive = {
		.source = source, .tag = tag, .ignore = ignore, .context = context_of(context)
	};
	struct lull_match_message message = { 0 };
	int result = lull_match_post(match, &receive, &message);

	return result == 1 ? (int)message.handle : result;
}

/* The context of the receive that takes it; 0: it waits; or a negative errno. */
static int
arrive(uint32_t source, uint64_t tag, uint32_t handle)
{
	struct lull_match_message message = { .source = source, .tag = tag, .handle = handle };
	struct lull_match_receive receive = { 0 };
	int result = lull_match_arrive(match, &message, &receive);

	return result == 1 ? (int)(uintptr_t)receive.context : result;
}

MATCH_TEST(match_arrive__finds_the_receive_of_its_source_and_tag)
{
	assert_int_equal(post(1, 10, 0, 1), 0);
	assert_int_equal(post(2, 10, 0, 2), 0);
	assert_int_equal(post(1, 11, 0, 3), 0);
	assert_int_equal(lull_match_receives(match), 3);
	assert_int_equal(arrive(1, 11, 1), 3);
	assert_int_equal(arrive(2, 10, 2), 2);
	assert_int_equal(arrive(2, 10, 3), 0);
	assert_int_equal(arrive(1, 10, 4), 1);
	assert_int_equal(lull_match_receives(match), 0);
	assert_int_equal(lull_match_messages(match), 1);
}

MATCH_TEST(match_arrive__first_posted_takes_it)
{
	assert_int_equal(post(1, 10, 0, 1), 0);
	assert_int_equal(post(ANY, 10, 0, 2), 0);
	assert_int_equal(post(1, 0, UINT64_MAX, 3), 0);
	assert_int_equal(post(1, 10, 0, 4), 0);
	assert_int_equal(post(ANY, 8, 7, 5), 0);
	for (int i = 1; i <= 5; i++)
		assert_int_equal(arrive(1, 10, 1), i);
	assert_int_equal(arrive(1, 10, 1), 0);
}

MATCH_TEST(match_arrive__looser_receives_may_be_older)
{
	assert_int_equal(post(ANY, 8, 7, 1), 0);
	assert_int_equal(post(ANY, 10, 0, 2), 0);
	assert_int_equal(post(1, 10, 0, 3), 0);
	for (int i = 1; i <= 3; i++)
		assert_int_equal(arrive(1, 10, 1), i);
}

MATCH_TEST(match_arrive__bits_that_count_must_be_equal)
{
	assert_int_equal(post(1, 0x1230, 0xf, 1), 0);
	assert_int_equal(arrive(1, 0x1240, 1), 0);
	assert_int_equal(arrive(2, 0x1234, 2), 0);
	assert_int_equal(arrive(1, 0x1234, 3), 1);
	assert_int_equal(post(1, 0x8000000000000000, 0, 2), 0);
	assert_int_equal(arrive(1, 0, 4), 0);
	assert_int_equal(arrive(1, 0x8000000000000000, 5), 2);
}

MATCH_TEST(match_post__first_message_is_taken)
{
	for (uint32_t i = 1; i <= 5; i++)
		assert_int_equal(arrive(i % 2, 10 + i % 3, i), 0);
	assert_int_equal(lull_match_messages(match), 5);
	assert_int_equal(post(ANY, 0, UINT64_MAX, 1), 1);
	assert_int_equal(post(0, 12, 0, 2), 2);
	assert_int_equal(post(0, 12, 0, 3), 0);
	assert_int_equal(post(ANY, 11, 0, 4), 4);
	assert_int_equal(post(1, 8, 7, 5), 3);
	assert_int_equal(lull_match_messages(match), 1);
}

MATCH_TEST(match_post__gives_all_of_a_message)
{
	struct lull_match_message message = { .source = 3,
					      .endpoint = 4,
					      .tag = 5,
					      .len_bytes = 6,
					      .user = 7,
					      .handle = 8,
					      .context = context_of(9) };
	struct lull_match_receive receive = { .source = 3,
					      .tag = 5,
					      .buffer = &receive,
					      .size_bytes = 10,
					      .context = context_of(11) };
	struct lull_match_message message_out = { 0 };
	struct lull_match_receive receive_out = { 0 };

	assert_int_equal(lull_match_arrive(match, &message, &receive_out), 0);
	assert_int_equal(lull_match_post(match, &receive, &message_out), 1);
	assert_int_equal(message_out.source, 3);
	assert_int_equal(message_out.endpoint, 4);
	assert_int_equal(message_out.tag, 5);
	assert_int_equal(message_out.len_bytes, 6);
	assert_int_equal(message_out.user, 7);
	assert_int_equal(message_out.handle, 8);
	assert_ptr_equal(message_out.context, context_of(9));
	assert_int_equal(lull_match_post(match, &receive, &message_out), 0);
	assert_int_equal(lull_match_arrive(match, &message, &receive_out), 1);
	assert_int_equal(receive_out.source, 3);
	assert_ptr_equal(receive_out.buffer, &receive);
	assert_int_equal(receive_out.size_bytes, 10);
	assert_ptr_equal(receive_out.context, context_of(11));
}

MATCH_TEST(match_post__full)
{
	for (uintptr_t i = 1; i <= 64; i++)
		assert_int_equal(post(1, i, 0, i), 0);
	assert_int_equal(post(1, 65, 0, 65), -ENOBUFS);
	assert_int_equal(arrive(1, 64, 1), 64);
	assert_int_equal(post(1, 65, 0, 65), 0);
	assert_int_equal(lull_match_receives(match), 64);
	for (uint32_t i = 1; i <= 64; i++)
		assert_int_equal(arrive(2, i, i), 0);
	assert_int_equal(arrive(2, 1, 65), -ENOBUFS);
	assert_int_equal(arrive(1, 65, 65), 65); /* what is waited for needs no room */
	assert_int_equal(post(2, 7, 0, 1), 7);
	assert_int_equal(lull_match_messages(match), 63);
}

MATCH_TEST(match_post__no_room_at_all)
{
	lull_match_init(match, 0, 0);
	assert_int_equal(post(1, 2, 0, 3), -ENOBUFS);
	assert_int_equal(post(1, 2, 1, 3), -ENOBUFS);
	assert_int_equal(arrive(1, 2, 3), -ENOBUFS);
}

MATCH_TEST(match_peek__leaves_the_message)
{
	struct lull_match_message message = { 0 };

	assert_int_equal(arrive(1, 10, 7), 0);
	assert_int_equal(arrive(1, 10, 8), 0);
	assert_false(lull_match_peek(match, 2, 10, 0, &message));
	assert_false(lull_match_peek(match, ANY, 12, 1, &message));
	for (int i = 0; i < 2; i++) {
		assert_true(lull_match_peek(match, ANY, 11, 1, &message));
		assert_int_equal(message.handle, 7);
	}
	assert_true(lull_match_claim(match, 1, 10, 0, &message));
	assert_int_equal(message.handle, 7);
	assert_true(lull_match_claim(match, ANY, 10, 0, &message));
	assert_int_equal(message.handle, 8);
	assert_false(lull_match_claim(match, ANY, 0, UINT64_MAX, &message));
}

MATCH_TEST(match_cancel__takes_the_receive_out)
{
	struct lull_match_receive receive = { 0 };

	assert_int_equal(post(1, 10, 0, 1), 0);
	assert_int_equal(post(ANY, 0, UINT64_MAX, 2), 0);
	assert_int_equal(post(1, 10, 0, 3), 0);
	assert_true(lull_match_cancel(match, context_of(2), &receive));
	assert_int_equal(receive.source, ANY);
	assert_false(lull_match_cancel(match, context_of(2), &receive));
	assert_true(lull_match_cancel(match, context_of(1), &receive));
	assert_int_equal(receive.source, 1);
	assert_int_equal(arrive(1, 10, 1), 3);
	assert_int_equal(arrive(1, 10, 2), 0);
}

MATCH_TEST(match_drop__takes_what_one_source_has)
{
	struct lull_match_receive receive = { 0 };
	struct lull_match_message message = { 0 };

	assert_int_equal(post(ANY, 1, 0, 1), 0);
	assert_int_equal(post(5, 2, 0, 2), 0);
	assert_int_equal(post(6, 2, 0, 3), 0);
	assert_int_equal(post(5, 2, 4, 4), 0);
	assert_int_equal(arrive(5, 7, 1), 0);
	assert_int_equal(arrive(6, 7, 2), 0);
	assert_int_equal(arrive(5, 7, 3), 0);
	assert_false(lull_match_drop_receive(match, ANY, &receive));
	assert_true(lull_match_drop_receive(match, 5, &receive));
	assert_ptr_equal(receive.context, context_of(2));
	assert_true(lull_match_drop_receive(match, 5, &receive));
	assert_ptr_equal(receive.context, context_of(4));
	assert_false(lull_match_drop_receive(match, 5, &receive));
	assert_true(lull_match_drop_message(match, 5, &message));
	assert_int_equal(message.handle, 1);
	assert_true(lull_match_drop_message(match, 5, &message));
	assert_int_equal(message.handle, 3);
	assert_false(lull_match_drop_message(match, 5, &message));
	assert_int_equal(lull_match_receives(match), 2);
	assert_int_equal(lull_match_messages(match), 1);
}

TEST(match_size__grows_with_both)
{
	assert_true(lull_match_size(100, 64) > lull_match_size(64, 64));
	assert_true(lull_match_size(64, 100) > lull_match_size(64, 64));
	assert_true(lull_match_size(4096, 4096) < 2 << 20);
}

/* Gone through one by one, this takes longer than any test may. */
TEST(match__is_as_fast_with_many)
{
	const uint32_t count = 200000;

	match = malloc(lull_match_size(count, count));
	assert_non_null(match);
	lull_match_init(match, count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(post(i % 3 == 0 ? ANY : i % 16, i, 0, i + 1), 0);
	for (uint32_t i = count; i-- > 0;)
		assert_int_equal(arrive(i % 16, i, i), i + 1);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(arrive(i % 16, (uint64_t)i << 32, i), 0);
	for (uint32_t i = count; i-- > 1;)
		assert_int_equal(post(i % 16, (uint64_t)i << 32, 0, i), i);
	free(match);
}
