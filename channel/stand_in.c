/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With own_loop a channel is silent while its callers compute, or wait for something else: nothing
 * is acknowledged, and whoever waits for that waits as long. This thread looks now and then whether
 * somebody turned the channel. If nobody did, it turns it, and rests as callers do until somebody
 * is back. While callers turn or rest it does nothing: none of them shares a packet with it.
 */
#include "stand_in.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "caller.h"
#include "event.h"
#include "host/error.h"
#include "turn.h"

#define STAND_IN_NS (2 * LULL_NS_PER_MS)      /* between looks, and without a turn by a caller */
#define STAND_IN_MAX_NS (16 * LULL_NS_PER_MS) /* between looks, while callers wait in vain */
#define STAND_IN_REST_NS LULL_NS_PER_S

static bool
stand_in_ends(const struct lull_channel *channel)
{
	return atomic_load_explicit(&channel->stand_in_ends, memory_order_acquire);
}

/* Under the lock. A turn of its own does not count as one of a caller. */
static void
stand_in_turn(struct lull_channel *channel, uint64_t now_ns)
{
	uint64_t turned_ns = channel->turned_ns;
	uint32_t pkts = channel_caller_turn(channel, now_ns);

	channel->turned_ns = turned_ns;
	if (pkts > 0)
		return;
	channel->stand_in_rests = true;
	channel_caller_rest(channel, now_ns, now_ns + STAND_IN_REST_NS);
	channel->stand_in_rests = false;
}

/* What it saw at its last look, and how long it slept after it. */
struct stand_in_look {
	uint64_t rests, changes, sleep_ns;
};

/*
 * Under the lock, which is given up meanwhile. A caller that only rested since the last look waits
 * for something: the looks become rare, and what it waited for ends the sleep, as the caller may
 * leave with it.
 */
static void
stand_in_sleep(struct lull_channel *channel, struct stand_in_look *look)
{
	bool vain = channel->counters.rests != look->rests && channel->changes == look->changes;
	uint64_t until_ns;

	look->sleep_ns = vain ? LULL_MIN(2 * look->sleep_ns, STAND_IN_MAX_NS) : STAND_IN_NS;
	look->rests = channel->counters.rests;
	look->changes = channel->changes;
	until_ns = lull_clock_ns() + look->sleep_ns;
	channel->stand_in_sleeps = look->sleep_ns > STAND_IN_NS;
	pthread_cond_timedwait(&channel->stand_in_wake, &channel->lock,
			       &(struct timespec){ .tv_sec = (time_t)(until_ns / LULL_NS_PER_S),
						   .tv_nsec = (long)(until_ns % LULL_NS_PER_S) });
	channel->stand_in_sleeps = false;
}

static void *
stand_in_run(void *arg)
{
	struct lull_channel *channel = arg;
	struct stand_in_look look = { .sleep_ns = STAND_IN_NS };

	while (!stand_in_ends(channel)) {
		uint64_t now_ns;
		bool away, changed;

		channel_lock(channel);
		now_ns = lull_clock_ns();
		away = channel->resting == 0 && now_ns - channel->turned_ns >= STAND_IN_NS &&
		       now_ns > channel->turned_ns;
		if (away)
			stand_in_turn(channel, now_ns);
		changed = away && channel_changes_new(channel);
		if (!away)
			stand_in_sleep(channel, &look);
		channel_unlock(channel);
		if (changed)
			channel->config.changed(channel->config.changed_context);
	}
	return NULL;
}

int
channel_stand_in_start(struct lull_channel *channel, struct lull_error *error)
{
	pthread_condattr_t wake;
	int rc;

	if (!channel->config.stand_in || !channel->config.own_loop)
		return 0;
	pthread_condattr_init(&wake);
	pthread_condattr_setclock(&wake, CLOCK_MONOTONIC);
	pthread_cond_init(&channel->stand_in_wake, &wake);
	pthread_condattr_destroy(&wake);
	rc = -pthread_create(&channel->stand_in, NULL, stand_in_run, channel);
	channel->stand_in_runs = rc == 0;
	if (rc == 0)
		pthread_setname_np(channel->stand_in, "lull-stand-in");
	return rc == 0 ? 0 : lull_error_set(error, rc, "no thread: %s", strerror(-rc));
}

void
channel_stand_in_stop(struct lull_channel *channel)
{
	if (!channel->stand_in_runs)
		return;
	atomic_store_explicit(&channel->stand_in_ends, true, memory_order_release);
	channel_lock(channel);
	pthread_cond_signal(&channel->stand_in_wake);
	channel_unlock(channel);
	channel_kick(channel);
	pthread_join(channel->stand_in, NULL);
	channel->stand_in_runs = false;
	pthread_cond_destroy(&channel->stand_in_wake);
}
