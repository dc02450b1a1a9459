/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A channel under ThreadSanitizer: senders, receivers and streams on threads of their own, while
 * others look, change and take rails away; and a channel that several threads turn.
 */
#include "stand.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <lull/rest.h>

#define SENDERS 2
#define MESSAGES 150
#define BYTES 5000

struct party {
	struct stand *stand;
	int side;
	uint64_t number;
	atomic_bool *over;
	uint32_t ended;
};

/* Messages to the other side, and as many from there: each party has tags of its own. */
static void *
party_run(void *arg)
{
	struct party *party = arg;
	struct lull_channel *channel = party->stand->channels[party->side];
	uint32_t peer = party->stand->peers[party->side];
	static uint8_t in[2][SENDERS][BYTES], out[2][SENDERS][BYTES];
	uint8_t *buffer = in[party->side][party->number];
	const struct lull_channel_message message = { .data = out[party->side][party->number],
						      .len_bytes = BYTES,
						      .tag = party->number };
	const struct lull_channel_receive receive = {
		.source = peer, .tag = party->number, .buffer = buffer, .size_bytes = BYTES
	};

	for (uint32_t i = 0; i < MESSAGES; i++) {
		while (lull_channel_recv(channel, &receive, buffer) == -EAGAIN)
			usleep(100);
		while (lull_channel_send(channel, peer, &message, arg) == -EAGAIN)
			usleep(100);
	}
	return NULL;
}

/* Takes what ended, whoever began it. */
static void *
taker_run(void *arg)
{
	struct lull_channel_completion done[16];
	struct party *taker = arg;

	while (taker->ended < 2 * SENDERS * MESSAGES) {
		uint32_t count = lull_channel_done(taker->stand->channels[taker->side], done, 16,
						   LULL_NS_PER_S);

		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(done[i].error, 0);
		taker->ended += count;
	}
	return NULL;
}

/* Looks at everything, changes what may be changed. */
static void *
watcher_run(void *arg)
{
	struct lull_histogram histogram;
	struct party *watcher = arg;
	struct lull_channel *channel = watcher->stand->channels[watcher->side];
	struct lull_bundle_counters counters;
	struct lull_bundle_peer_look peer;
	struct lull_bundle_path_look path;
	struct lull_channel_rail_look rail;
	uint8_t address[LULL_CHANNEL_ADDRESS_SIZE];

	for (uint32_t i = 0; !atomic_load(watcher->over); i++) {
		lull_channel_counters(channel, &counters);
		lull_channel_peer_look(channel, watcher->stand->peers[watcher->side], &peer);
		lull_channel_path_look(channel, watcher->stand->peers[watcher->side], 0, &path);
		lull_channel_rail_look(channel, i % 3, &rail);
		lull_channel_histogram(channel, i % 2 != 0, &histogram);
		lull_channel_address(channel, address);
		lull_channel_fd(channel);
		lull_channel_wake(channel);
		lull_channel_change(channel, i % 2 != 0 ? "objective" : "phase",
				    (1 + i % 5) * 100 * LULL_NS_PER_US, NULL);
		usleep(500);
	}
	return NULL;
}

static void
all_at_once(bool own_loop, bool polled)
{
	struct stand stand = { .rail_count = 2, .own_loop = own_loop };
	struct party parties[2][SENDERS + 2];
	pthread_t threads[2][SENDERS + 2];
	atomic_bool over = false;

	if (polled)
		stand.rails[0][1] = stand.rails[1][1] = "kernel-busy:lo,port=0";
	stand_open(&stand);
	for (int side = 0; side < 2; side++)
		for (uint64_t i = 0; i < SENDERS + 2; i++) {
			parties[side][i] = (struct party){
				.stand = &stand, .side = side, .number = i, .over = &over
			};
			assert_int_equal(pthread_create(&threads[side][i], NULL,
							i < SENDERS  ? party_run :
							i == SENDERS ? taker_run :
								       watcher_run,
							&parties[side][i]),
					 0);
		}
	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < SENDERS; i++)
			pthread_join(threads[side][i], NULL);
	/* With own_loop one side turns on for what the other one waits for. */
	for (int side = 0; side < 2; side++)
		while (pthread_tryjoin_np(threads[side][SENDERS], NULL) != 0) {
			stand_turn(&stand);
			usleep(100);
		}
	atomic_store(&over, true);
	for (int side = 0; side < 2; side++) {
		pthread_join(threads[side][SENDERS + 1], NULL);
		assert_int_equal(parties[side][SENDERS].ended, 2 * SENDERS * MESSAGES);
	}
	stand_close(&stand);
}

TEST(channel__with_a_thread_that_blocks)
{
	all_at_once(false, false);
}

TEST(channel__with_a_thread_that_polls)
{
	all_at_once(false, true);
}

TEST(channel__turned_by_all)
{
	all_at_once(true, false);
}
