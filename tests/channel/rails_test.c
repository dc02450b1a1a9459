/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails that come and go while messages are under way. */
#include "stand.h"

#include <unistd.h>

#include <lull/rest.h>

#include "channel/rail.h"
#include "channel/state.h"

#define BYTES 30000

static uint32_t
rail_add(struct lull_channel *channel, const char *text)
{
	struct lull_error error = { "" };
	int number = lull_channel_rail_add(channel, text, &error);

	if (number < 0)
		fail_msg("%s", error.text);
	return (uint32_t)number;
}

/* Until as many paths are up. */
static void
await_paths(struct stand *stand, uint32_t wanted)
{
	uint64_t begin_ns = lull_clock_ns();
	struct lull_bundle_path_look look;
	uint32_t up;

	do {
		up = 0;
		for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX; i++)
			up += lull_channel_path_look(stand->channels[0], stand->peers[0], i,
						     &look) == 0 &&
			      look.state == LULL_BUNDLE_PATH_UP;
		if (lull_clock_ns() - begin_ns > STAND_WAIT_NS)
			fail_msg("%u of %u paths are up", up, wanted);
		usleep(1000);
	} while (up != wanted);
}

/* What was sent to who was there before is for nobody, and wakes nobody. */
TEST(pair__begins_empty)
{
	const struct channel_rail_config config = { .program = "test" };
	uint8_t bytes[] = "old";
	const struct lull_bundle_packet packet = { .bytes = bytes, .len_bytes = sizeof(bytes) };
	struct channel_packet packets[CHANNEL_BURST];
	struct channel_rail *here, *there;
	struct pollfd polls[CHANNEL_WATCH_MAX];

	assert_int_equal(channel_rail_open(&config, "pair:old", &here, NULL), 0);
	assert_int_equal(channel_rail_open(&config, "pair:old", &there, NULL), 0);
	assert_int_equal(here->way->send(here->state, &packet, 1), 1);
	assert_int_equal(there->way->watch(there->state, polls), 1);
	assert_int_equal(poll(polls, 1, 0), 1);
	channel_rail_close(there);
	assert_int_equal(here->way->send(here->state, &packet, 1), 1); /* to nobody */
	assert_int_equal(channel_rail_open(&config, "pair:old", &there, NULL), 0);
	assert_int_equal(there->way->watch(there->state, polls), 1);
	assert_int_equal(poll(polls, 1, 0), 0);
	assert_int_equal(there->way->receive(there->state, packets), 0);
	/* As many as there is room for; the others are missed. */
	for (uint32_t i = 0; i < 600; i++)
		assert_int_equal(here->way->send(here->state, &packet, 1), 1);
	assert_int_equal(there->way->missed(there->state), 600 - there->bundle.ring_pkts);
	assert_int_equal(poll(polls, 1, 0), 1);
	assert_int_equal(there->way->receive(there->state, packets), CHANNEL_BURST);
	assert_memory_equal(packets[CHANNEL_BURST - 1].bytes, bytes, sizeof(bytes));
	while (there->way->receive(there->state, packets) > 0)
		;
	assert_int_equal(poll(polls, 1, 0), 0);
	channel_rail_close(here);
	channel_rail_close(there);
}

/* Another rail is used as soon as both ends have it, and one that is gone costs no message. */
static void
come_and_go(bool own_loop)
{
	struct stand stand = { .rail_count = 2, .own_loop = own_loop };
	struct lull_error error;
	uint32_t number;

	stand_open(&stand);
	stand_carry(&stand, 0, BYTES, 1);
	for (uint32_t round = 0; round < 3; round++) {
		for (int side = 0; side < 2; side++) {
			number = rail_add(stand.channels[side], "pair:more");
			assert_int_equal(number, 2);
		}
		for (uint32_t i = 0; i < 20; i++)
			stand_carry(&stand, (int)(i % 2), BYTES, 100 + i);
		if (!own_loop)
			await_paths(&stand, 3);
		for (int side = 0; side < 2; side++)
			assert_int_equal(
				lull_channel_rail_remove(stand.channels[side], number, &error), 0);
		stand_carry(&stand, 1, BYTES, 2);
	}
	assert_int_equal(lull_channel_rail_remove(stand.channels[0], 2, &error), -ENODEV);
	assert_string_equal(error.text, "there is no rail 2");
	assert_int_equal(lull_channel_rail_remove(stand.channels[0], 16, &error), -ENODEV);
	assert_int_equal(lull_channel_rail_add(stand.channels[0], "pair:0", &error), -EBUSY);
	assert_int_equal(lull_channel_rail_add(stand.channels[0], "nothing", &error), -EINVAL);
	stand_carry(&stand, 0, BYTES, 3);
	stand_close(&stand);
}

TEST(rails__come_and_go)
{
	come_and_go(false);
}

TEST(rails__come_and_go_in_the_callers_loop)
{
	come_and_go(true);
}

/* One end takes a rail away while much is under way there: all arrives over the other. */
TEST(rails__taken_away_lose_nothing)
{
	enum { LARGE = 8000000 };
	uint8_t *bytes = malloc(LARGE), *buffer = malloc(LARGE);
	struct stand stand = { .rail_count = 2 };
	struct lull_error error;

	assert_non_null(bytes);
	assert_non_null(buffer);
	stand_fill(bytes, LARGE, 1);
	stand_open(&stand);
	stand_recv(&stand, 1, 1, buffer, LARGE, buffer);
	stand_send(&stand, 0, bytes, LARGE, 1, bytes);
	assert_int_equal(lull_channel_rail_remove(stand.channels[0], 0, &error), 0);
	assert_int_equal(stand_done(&stand, 1).error, 0);
	assert_int_equal(stand_done(&stand, 0).error, 0);
	assert_true(stand_holds(buffer, LARGE, 1));
	stand_close(&stand);
	free(bytes);
	free(buffer);
}

/* The thread blocks in the kernel; with a rail that is polled it has a governor, and back. */
TEST(rails__of_another_way_to_rest)
{
	struct stand stand = { .rail_count = 1 };
	struct lull_error error;

	stand_open(&stand);
	for (uint32_t round = 0; round < 2; round++) {
		uint32_t numbers[2];

		for (int side = 0; side < 2; side++)
			numbers[side] = rail_add(stand.channels[side], "kernel-busy:lo,port=0");
		for (uint32_t i = 0; i < 10; i++)
			stand_carry(&stand, (int)(i % 2), BYTES, i);
		for (int side = 0; side < 2; side++)
			assert_int_equal(lull_channel_rail_remove(stand.channels[side],
								  numbers[side], &error),
					 0);
		stand_carry(&stand, 0, BYTES, 1);
	}
	stand_close(&stand);
}

/*
 * Where packets come fast, a governor that had to spare the ring would not rest between bursts.
 * What may be under way towards a rail fits into its ring.
 */
TEST(rails__that_are_polled_are_spared_by_credit)
{
	struct stand stand = { .rail_count = 1 };
	const struct lull_channel *channel;

	stand_open(&stand);
	channel = stand.channels[0];
	rail_add(stand.channels[0], "kernel-busy:lo,port=0");
	stand_carry(&stand, 1, BYTES, 1);
	channel_lock(stand.channels[0]);
	assert_int_equal(lull_idle_limits(channel->loop.idle)->loss, LULL_LOSS_TOLERATE);
	channel_unlock(stand.channels[0]);
	stand_close(&stand);
}

TEST(rails__are_sixteen_at_most)
{
	struct stand stand = { .rail_count = 1 };
	struct lull_error error;
	char text[16];

	stand_open(&stand);
	for (uint32_t i = 1; i < LULL_CHANNEL_RAILS_MAX; i++) {
		snprintf(text, sizeof(text), "pair:%u", i);
		assert_int_equal(rail_add(stand.channels[0], text), i);
	}
	assert_int_equal(lull_channel_rail_add(stand.channels[0], "pair:16", &error), -ENOSPC);
	assert_non_null(strstr(error.text, "there are 16 rails already"));
	stand_carry(&stand, 0, BYTES, 1);
	stand_close(&stand);
}
