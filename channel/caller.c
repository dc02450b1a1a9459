/* SPDX-License-Identifier: BSD-3-Clause */
#include "caller.h"

#include <errno.h>
#include <stdlib.h>

#include "host/error.h"
#include "host/loop_thread.h"
#include "thread.h"
#include "turn.h"

#define CALLER_REST_NS LULL_NS_PER_S  /* of rails whose packets end a rest */
#define CALLER_SPIN_NS LULL_NS_PER_MS /* a governor that rests may poll for so long */

/* ---- governor ---- */

int
channel_caller_open(struct lull_channel *channel, struct lull_error *error)
{
	struct channel_callers *callers = &channel->callers_rest;
	struct lull_idle_limits limits;
	int rc;

	callers->memory = lull_loop_memory();
	if (callers->memory == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the governor");
	limits = channel_thread_limits(channel);
	rc = lull_idle_init(callers->memory, lull_idle_governor_find(channel->governor), &limits,
			    lull_clock_ns(), &callers->idle);
	return rc == 0 ? 0 : lull_error_set(error, rc, "the governor refuses the limits");
}

void
channel_caller_close(struct lull_channel *channel)
{
	free(channel->callers_rest.memory);
	channel->callers_rest.memory = NULL;
}

/* What others have polled meanwhile; the iteration that is planned now is not among it. */
static struct lull_rest
caller_plan(struct lull_channel *channel, uint64_t now_ns, uint64_t due_ns)
{
	struct channel_callers *callers = &channel->callers_rest;
	const uint16_t pkts = 0;
	const struct lull_iteration iteration = {
		.now_ns = now_ns, .deadline_ns = due_ns, .queue_pkts = &pkts, .queue_count = 1
	};

	if (callers->old) {
		struct lull_idle_limits limits = channel_thread_limits(channel);

		(void)lull_idle_change(callers->idle, lull_idle_governor_find(channel->governor),
				       &limits);
	}
	callers->old = false;
	lull_idle_polled(callers->idle, now_ns, callers->turns - 1, callers->turns_empty - 1,
			 callers->pkts);
	callers->turns = callers->turns_empty = callers->pkts = 0;
	return lull_idle_plan(callers->idle, &iteration);
}

/* ---- iterations ---- */

uint32_t
channel_caller_turn(struct lull_channel *channel, uint64_t now_ns)
{
	uint32_t pkts;

	channel_watched(channel, NULL);
	pkts = channel_turn(channel, now_ns);
	channel->callers_rest.turns++;
	channel->callers_rest.turns_empty += pkts == 0;
	channel->callers_rest.pkts += pkts;
	return pkts;
}

/* ---- rests ---- */

struct caller_rest {
	struct lull_channel *channel;
	struct channel_polls polls;
};

static int
rest_probe(void *context)
{
	(void)context;
	return 0;
}

static enum lull_wake_reason
rest_run(void *context, uint64_t limit_ns)
{
	struct caller_rest *rest = context;

	return channel_rest(rest->channel, &rest->polls, limit_ns);
}

static const struct lull_rest_way rest_sleep = {
	.idle_state = LULL_IDLE_SLEEP,
	.summary = "the thread sleeps on a timer, which a packet or a call may end",
	.probe = rest_probe,
	.run = rest_run,
};

static void
caller_rest(struct lull_channel *channel, const struct lull_rest *planned, struct lull_wake *wake)
{
	const struct lull_rest_way *way =
		planned->idle_state == LULL_IDLE_PAUSE ? &lull_rest_pause : &rest_sleep;
	struct caller_rest rest = { .channel = channel };

	channel_watch(channel, &rest.polls);
	channel->resting++;
	channel_unlock(channel);
	lull_rest_run(way, &rest, planned, wake);
	channel_lock(channel);
	channel->resting--;
	channel->rested = true;
	LULL_COUNTER_ADD(channel->counters.rests, 1);
	LULL_COUNTER_ADD(channel->counters.rest_ns, wake->end_ns - wake->begin_ns);
	if (channel->waiting > 0) /* for the rests to end */
		pthread_cond_broadcast(&channel->changed);
}

/*
 * A governor gives up its rests where threads are woken late too often. Callers are many on few
 * CPUs, and late for that reason: they would take the CPU from those they wait for.
 */
static bool
caller_polls(const struct lull_channel *channel, uint64_t now_ns)
{
	return lull_idle_governor(channel->callers_rest.idle) == lull_idle_governor_find("spin") ||
	       now_ns - channel->idle_ns < CALLER_SPIN_NS;
}

void
channel_caller_follow(struct lull_channel *channel, uint64_t limit_ns)
{
	uint64_t until_ns = lull_clock_ns() + limit_ns;
	const struct timespec until = { .tv_sec = (time_t)(until_ns / LULL_NS_PER_S),
					.tv_nsec = (long)(until_ns % LULL_NS_PER_S) };

	channel->waiting++;
	pthread_cond_timedwait(&channel->changed, &channel->lock, &until);
	channel->waiting--;
}

void
channel_caller_rest(struct lull_channel *channel, uint64_t now_ns, uint64_t until_ns)
{
	uint64_t due_ns = LULL_MIN(channel_due_ns(channel, now_ns), until_ns);
	struct lull_rest rest = { .idle_state = LULL_IDLE_NONE };
	struct lull_wake wake;
	bool planned;

	due_ns = LULL_MIN(due_ns,
			  now_ns + (channel->polled ? channel->max_latency_ns : CALLER_REST_NS));
	if (due_ns <= now_ns)
		return;
	if (channel->resting > 0) {
		if (channel->stand_in_rests) /* not for a caller that is back */
			channel_kick(channel);
		channel_caller_follow(channel, due_ns - now_ns);
		return;
	}
	if (channel->polled)
		rest = caller_plan(channel, now_ns, due_ns);
	planned = rest.idle_state != LULL_IDLE_NONE;
	if (!planned && channel->polled && caller_polls(channel, now_ns))
		return;
	if (!planned)
		rest = (struct lull_rest){ .idle_state = LULL_IDLE_SLEEP,
					   .limit_ns = due_ns - now_ns };
	caller_rest(channel, &rest, &wake);
	if (planned)
		lull_idle_wake(channel->callers_rest.idle, &wake);
}
