/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait.h"

#include <errno.h>

#include "caller.h"
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

/* One iteration, and a rest when nothing came of it. */
static void
wait_turn(struct lull_channel *channel, uint64_t now_ns, uint64_t until_ns)
{
	uint64_t changes = channel->changes;

	if (channel_caller_turn(channel, now_ns) == 0 && changes == channel->changes)
		channel_caller_rest(channel, now_ns, until_ns);
	/* There may have been nothing to rest for. */
	if (atomic_load_explicit(&channel->callers, memory_order_relaxed) > 0) {
		channel_unlock(channel);
		channel_give_way(channel);
		channel_lock(channel);
	}
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
		wait_turn(channel, now_ns, wait->until_ns);
	else
		channel_caller_follow(channel, LULL_MIN(wait->until_ns - now_ns, WAIT_NS_MAX));
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
		channel_caller_follow(channel, LULL_NS_PER_MS);
	}
	channel->removing = false;
}
