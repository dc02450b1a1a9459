/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait.h"

#include <errno.h>

#include "turn.h"

#define WAIT_NS_MAX LULL_NS_PER_S

struct channel_wait
channel_wait_begin(struct lull_channel *channel, uint64_t limit_ns)
{
	uint64_t now_ns = lull_clock_ns();

	return (struct channel_wait){
		.until_ns = limit_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + limit_ns,
		.wakes = channel->wakes,
	};
}

static void
wait_changed(struct lull_channel *channel, uint64_t limit_ns)
{
	uint64_t until_ns = lull_clock_ns() + limit_ns;
	const struct timespec until = { .tv_sec = (time_t)(until_ns / LULL_NS_PER_S),
					.tv_nsec = (long)(until_ns % LULL_NS_PER_S) };

	channel->waiting++;
	pthread_cond_timedwait(&channel->changed, &channel->lock, &until);
	channel->waiting--;
}

void
channel_wait_turn(struct lull_channel *channel, uint64_t now_ns, uint64_t until_ns)
{
	uint64_t changes = channel->changes, due_ns;
	struct channel_polls polls;

	channel_watched(channel, NULL);
	if (channel_turn(channel, now_ns) > 0 || changes != channel->changes)
		return;
	due_ns = LULL_MIN(channel_due_ns(channel, now_ns), until_ns);
	due_ns = LULL_MIN(due_ns,
			  now_ns + (channel->polled ? channel->max_latency_ns : WAIT_NS_MAX));
	if (due_ns <= now_ns)
		return;
	channel_watch(channel, &polls);
	channel->resting++;
	channel_unlock(channel);
	channel_rest(channel, &polls, due_ns - now_ns);
	channel_lock(channel);
	channel->resting--;
	channel->rested = true;
	if (channel->waiting > 0) /* for the rests to end */
		pthread_cond_broadcast(&channel->changed);
}

int
channel_wait(struct lull_channel *channel, const struct channel_wait *wait)
{
	uint64_t now_ns = lull_clock_ns();

	if (channel->wakes != wait->wakes)
		return -EINTR;
	if (now_ns >= wait->until_ns)
		return -ETIMEDOUT;
	if (channel->config.own_loop)
		channel_wait_turn(channel, now_ns, wait->until_ns);
	else
		wait_changed(channel, LULL_MIN(wait->until_ns - now_ns, WAIT_NS_MAX));
	return 0;
}

void
channel_wait_removed(struct lull_channel *channel, struct channel_rail *rail)
{
	channel->removing = true;
	channel->leaving = rail;
	if (!channel->thread_runs)
		channel_let_go(channel);
	while (channel->resting > 0 || channel->leaving != NULL) {
		channel_kick(channel);
		wait_changed(channel, LULL_NS_PER_MS);
	}
	channel->removing = false;
}
