/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plain matcher beside the real one: two arrays in their order, gone through from the front. Both
 * take the same random steps and must say the same.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../case.h"
#include "base/prng.h"
#include "match/match.h"

#define MODEL_MAX 48
#define STEPS 2000
#define RUNS 200

struct model {
	struct lull_match_receive receives[MODEL_MAX];
	struct lull_match_message messages[MODEL_MAX];
	uint32_t receive_count, message_count;
};

static struct model model;
static struct lull_match *match;
static struct lull_prng prng;
static uint32_t receives_max, messages_max;
static uint64_t hits, misses, overflows;

static bool
model_fits(uint32_t source, uint64_t tag, uint64_t ignore, const struct lull_match_message *message)
{
	return (source == LULL_MATCH_ANY || source == message->source) &&
	       (tag | ignore) == (message->tag | ignore);
}

static void
model_take_receive(uint32_t index)
{
	memmove(&model.receives[index], &model.receives[index + 1],
		(--model.receive_count - index) * sizeof(model.receives[0]));
}

static void
model_take_message(uint32_t index)
{
	memmove(&model.messages[index], &model.messages[index + 1],
		(--model.message_count - index) * sizeof(model.messages[0]));
}

static uint32_t
model_message(uint32_t source, uint64_t tag, uint64_t ignore)
{
	uint32_t index = 0;

	while (index < model.message_count &&
	       !model_fits(source, tag, ignore, &model.messages[index]))
		index++;
	return index;
}

static uint32_t
random_below(uint32_t bound)
{
	return (uint32_t)lull_prng_below(&prng, bound);
}

/* Few tags, so that there is something to match; one bit is far up. */
static uint64_t
random_tag(void)
{
	return random_below(4) | (uint64_t)random_below(2) << 63;
}

static uint32_t
random_source(void)
{
	return random_below(4) == 0 ? LULL_MATCH_ANY : random_below(3);
}

static uint64_t
random_ignore(void)
{
	static const uint64_t masks[] = { 0, 0, 0, 1, 3, 1ULL << 63, UINT64_MAX };

	return masks[random_below(COUNT(masks))];
}

static void
step_post(uint32_t number)
{
	struct lull_match_receive receive = { .source = random_source(),
					      .tag = random_tag(),
					      .ignore = random_ignore(),
					      .size_bytes = number,
					      .context = &model.receives[number % 7] };
	struct lull_match_message message = { 0 };
	uint32_t index = model_message(receive.source, receive.tag, receive.ignore);
	int result = lull_match_post(match, &receive, &message);

	if (index < model.message_count) {
		assert_int_equal(result, 1);
		assert_int_equal(message.handle, model.messages[index].handle);
		model_take_message(index);
		hits++;
	} else if (model.receive_count == receives_max) {
		assert_int_equal(result, -ENOBUFS);
		overflows++;
	} else {
		assert_int_equal(result, 0);
		model.receives[model.receive_count++] = receive;
		misses++;
	}
}

static void
step_arrive(uint32_t number)
{
	struct lull_match_message message = { .source = random_below(3),
					      .tag = random_tag(),
					      .handle = number };
	struct lull_match_receive receive = { 0 };
	uint32_t index = 0;
	int result = lull_match_arrive(match, &message, &receive);

	while (index < model.receive_count &&
	       !model_fits(model.receives[index].source, model.receives[index].tag,
			   model.receives[index].ignore, &message))
		index++;
	if (index < model.receive_count) {
		assert_int_equal(result, 1);
		assert_int_equal(receive.size_bytes, model.receives[index].size_bytes);
		model_take_receive(index);
		hits++;
	} else if (model.message_count == messages_max) {
		assert_int_equal(result, -ENOBUFS);
		overflows++;
	} else {
		assert_int_equal(result, 0);
		model.messages[model.message_count++] = message;
		misses++;
	}
}

static void
step_claim(bool take)
{
	uint32_t source = random_source();
	uint64_t tag = random_tag(), ignore = random_ignore();
	struct lull_match_message message = { 0 };
	uint32_t index = model_message(source, tag, ignore);
	bool found = take ? lull_match_claim(match, source, tag, ignore, &message) :
			    lull_match_peek(match, source, tag, ignore, &message);

	assert_int_equal(found, index < model.message_count);
	if (!found)
		return;
	assert_int_equal(message.handle, model.messages[index].handle);
	if (take)
		model_take_message(index);
}

static void
step_cancel(void)
{
	const void *context = &model.receives[random_below(7)];
	struct lull_match_receive receive = { 0 };
	bool found = lull_match_cancel(match, context, &receive);
	uint32_t index = 0;

	while (index < model.receive_count && model.receives[index].context != context)
		index++;
	assert_int_equal(found, index < model.receive_count);
	if (!found)
		return;
	assert_int_equal(receive.size_bytes, model.receives[index].size_bytes);
	model_take_receive(index);
}

static void
step_drop(void)
{
	uint32_t source = random_below(3), index = 0;
	struct lull_match_receive receive = { 0 };
	struct lull_match_message message = { 0 };
	bool found = lull_match_drop_receive(match, source, &receive);

	while (index < model.receive_count && model.receives[index].source != source)
		index++;
	assert_int_equal(found, index < model.receive_count);
	if (found) {
		assert_int_equal(receive.size_bytes, model.receives[index].size_bytes);
		model_take_receive(index);
	}
	found = lull_match_drop_message(match, source, &message);
	index = 0;
	while (index < model.message_count && model.messages[index].source != source)
		index++;
	assert_int_equal(found, index < model.message_count);
	if (found) {
		assert_int_equal(message.handle, model.messages[index].handle);
		model_take_message(index);
	}
}

static void
step(uint32_t number, uint32_t receives_of_16)
{
	uint32_t what = random_below(20);

	if (what < 16 && what < receives_of_16)
		step_post(number);
	else if (what < 16)
		step_arrive(number);
	else if (what < 18)
		step_claim(what == 16);
	else if (what == 18)
		step_cancel();
	else
		step_drop();
	assert_int_equal(lull_match_receives(match), model.receive_count);
	assert_int_equal(lull_match_messages(match), model.message_count);
}

TEST(match__says_what_a_plain_one_says)
{
	uint64_t seed = 1700;

	printf("seed %llu\n", (unsigned long long)seed);
	for (uint32_t run = 0; run < RUNS; run++) {
		lull_prng_init(&prng, seed, run);
		receives_max = random_below(MODEL_MAX + 1);
		messages_max = random_below(MODEL_MAX + 1);
		memset(&model, 0, sizeof(model));
		match = malloc(lull_match_size(receives_max, messages_max));
		assert_non_null(match);
		lull_match_init(match, receives_max, messages_max);
		/* Now one side is ahead, now the other. */
		for (uint32_t number = 1; number <= STEPS; number++)
			step(number, number / 100 % 2 == 0 ? 6 : 10);
		free(match);
	}
	assert_true(hits > 50000);
	assert_true(misses > 50000);
	assert_true(overflows > 10000);
}
