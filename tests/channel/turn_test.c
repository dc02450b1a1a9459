/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rail is asked to do: no packet is dropped while it is full, its thread begins and ends. */
#include "stand.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "channel/state.h"

#define BYTES 400000
#define LARGE (48u << 20)
#define AWAY_TURNS 24

/* A rail of a pair, with some functions between it and the channel. */
static struct channel_way between;
static const struct channel_way *behind;
static atomic_uint sends, refusals, begins, ends;

/* Every other time it has room for nothing, then for three. */
static uint32_t
send_slowly(void *state, const struct lull_bundle_packet *packets, uint32_t count)
{
	if (atomic_fetch_add(&sends, 1) % 2 == 0) {
		atomic_fetch_add(&refusals, 1);
		return 0;
	}
	return behind->send(state, packets, LULL_MIN(count, 3u));
}

static void
thread_count(void *state, bool begin)
{
	(void)state;
	atomic_fetch_add(begin ? &begins : &ends, 1);
}

static void
put_between(struct lull_channel *channel, uint32_t rail)
{
	behind = channel->rails[rail]->way;
	between = *behind;
	between.send = send_slowly;
	between.thread = thread_count;
	channel->rails[rail]->way = &between;
	atomic_store(&sends, 0);
	atomic_store(&refusals, 0);
	atomic_store(&begins, 0);
	atomic_store(&ends, 0);
}

/* Everything that the bundle counts as sent leaves, in time: nothing is lost or sent again. */
static void
full(bool own_loop)
{
	struct stand stand = { .rail_count = 1, .own_loop = own_loop };
	struct lull_bundle_path_look path;
	struct lull_channel_rail_look rail;

	stand_open(&stand);
	channel_lock(stand.channels[0]);
	put_between(stand.channels[0], 0);
	channel_unlock(stand.channels[0]);
	stand_carry(&stand, 0, BYTES, 1);
	assert_true(atomic_load(&refusals) > 10);
	assert_int_equal(lull_channel_path_look(stand.channels[0], stand.peers[0], 0, &path), 0);
	assert_int_equal(path.counters.lost_pkts, 0);
	assert_int_equal(lull_channel_rail_look(stand.channels[1], 0, &rail), 0);
	assert_int_equal(rail.missed_pkts, 0);
	stand_close(&stand);
}

TEST(turn__waits_for_a_rail_that_is_full)
{
	full(false);
}

TEST(turn__waits_for_a_rail_that_is_full_in_the_callers_loop)
{
	full(true);
}

/* The thread that moves packets begins with each rail, and ends with it. */
TEST(thread__begins_and_ends_with_its_rails)
{
	struct lull_channel_config config = { .name = "alone",
					      .rails = { "pair:0", "pair:1" },
					      .rail_count = 2,
					      .security = LULL_CHANNEL_OPEN };
	struct lull_channel *channel;
	struct lull_error error;

	for (uint32_t own_loop = 0; own_loop < 2; own_loop++) {
		config.own_loop = own_loop != 0;
		assert_int_equal(lull_channel_open(&config, &channel, &error), 0);
		put_between(channel, 1);
		assert_int_equal(lull_channel_start(channel, &error), 0);
		do {
			lull_channel_poll(channel);
			usleep(1000);
		} while (atomic_load(&begins) == 0);
		assert_int_equal(lull_channel_rail_remove(channel, 1, &error), 0);
		assert_int_equal(atomic_load(&begins), 1);
		assert_int_equal(atomic_load(&ends), 1);
		lull_channel_close(channel, 0);
		assert_int_equal(atomic_load(&ends), 1);
	}
	config.own_loop = false;
	assert_int_equal(lull_channel_open(&config, &channel, &error), 0);
	put_between(channel, 1);
	assert_int_equal(lull_channel_start(channel, &error), 0);
	while (atomic_load(&begins) == 0)
		usleep(1000);
	lull_channel_close(channel, 0);
	assert_int_equal(atomic_load(&ends), 1);
}

/*
 * A thread that blocks is told of what is due earlier than it knew: a HELLO goes again and again,
 * not just when the thread would have looked anyway, after a second.
 */
TEST(turn__ends_a_rest_that_is_too_long)
{
	struct stand stand = { .rail_count = 1 };
	struct lull_bundle_counters counters;
	uint32_t peer;

	stand_start(&stand);
	lull_channel_close(stand.channels[1], 0);
	usleep(50000); /* by now it rests */
	assert_int_equal(lull_channel_connect(stand.channels[0], "nobody", LULL_NS_PER_S * 7 / 10,
					      &peer, NULL),
			 -ETIMEDOUT);
	lull_channel_counters(stand.channels[0], &counters);
	assert_true(counters.tx_pkts >= 3);
	lull_channel_close(stand.channels[0], 0);
}

/*
 * A thread that was away finds several hundred packets. Each of its acknowledgements names 128, so
 * one for all of them would let their sender take the others for lost.
 */
TEST(turn__acknowledges_all_that_waited)
{
	struct stand stand = { .rail_count = 1, .own_loop = true };
	uint8_t *from = malloc(LARGE), *to = calloc(1, LARGE);
	uint32_t pkts, pkts_most = 0;
	struct lull_bundle_path_look look;
	struct lull_channel_completion done;

	assert_non_null(from);
	assert_non_null(to);
	stand_fill(from, LARGE, 1);
	stand_open(&stand);
	stand_recv(&stand, 1, 1, to, LARGE, to);
	stand_send(&stand, 0, from, LARGE, 1, from);
	while (lull_channel_done(stand.channels[1], &done, 1, 0) == 0) {
		for (uint32_t i = 0; i < AWAY_TURNS; i++)
			lull_channel_poll(stand.channels[0]);
		pkts = lull_channel_poll(stand.channels[1]);
		pkts_most = pkts > pkts_most ? pkts : pkts_most;
	}
	assert_int_equal(done.error, 0);
	assert_true(stand_holds(to, LARGE, 1));
	assert_int_equal(lull_channel_path_look(stand.channels[0], stand.peers[0], 0, &look), 0);
	assert_true(pkts_most > 128);
	assert_int_equal(look.counters.lost_pkts, 0);
	stand_close(&stand);
	free(from);
	free(to);
}
