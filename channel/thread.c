/* SPDX-License-Identifier: BSD-3-Clause */
#include "thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "host/error.h"
#include "host/loop_run.h"
#include "host/loop_thread.h"
#include "turn.h"

static atomic_uint thread_count; /* for their names */

/* ---- source ---- */

/*
 * The lock is held until the iteration of the stage ends. A loop that polls gives it up for a
 * moment only, so callers go first.
 */
static void
source_receive(struct lull_loop *loop, struct lull_iteration *iteration)
{
	struct lull_channel *channel = loop->stage_state;
	uint32_t pkts;

	channel_give_way(channel);
	pthread_mutex_lock(&channel->lock);
	if (channel->thread_rests)
		channel->resting--;
	channel->thread_rests = false;
	if (channel->waiting > 0 && channel->removing)
		pthread_cond_broadcast(&channel->changed);
	if (channel->polled)
		channel_watched(channel, NULL);
	else if (channel->polls_said)
		channel_watched(channel, &channel->polls);
	channel->rested = channel->polls_said;
	channel->polls_said = false;
	pkts = channel_turn(channel, iteration->now_ns);
	loop->queue_pkts[0] = (uint16_t)LULL_MIN(pkts, (uint32_t)UINT16_MAX);
}

static uint64_t
thread_missed(struct lull_channel *channel)
{
	uint64_t missed = 0;

	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++)
		if (channel->rails[i] != NULL)
			missed += channel->rails[i]->way->missed(channel->rails[i]->state);
	return missed;
}

static void
source_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf)
{
	struct lull_channel *channel = loop->stage_state;

	(void)nombuf;
	channel_lock(channel);
	*missed = thread_missed(channel);
	channel_unlock(channel);
}

static void
source_audit(struct lull_loop *loop, bool last, struct lull_loss_charge *charge)
{
	struct lull_channel *channel = loop->stage_state;
	uint64_t now_ns = lull_clock_ns(), missed, risen;

	(void)last; /* nobody shares the rails */
	channel_lock(channel);
	missed = thread_missed(channel);
	channel_unlock(channel);
	/* Less than before: a rail was removed. */
	risen = missed > channel->missed_seen ? missed - channel->missed_seen : 0;
	if (lull_idle_suspects(loop->idle, channel->missed_seen_ns, now_ns))
		charge->rests += risen;
	else
		charge->others += risen;
	channel->missed_seen = missed;
	channel->missed_seen_ns = now_ns;
}

static void
source_end(struct lull_loop *loop)
{
	struct lull_channel *channel = loop->stage_state;

	channel_lock(channel);
	if (channel->thread_rests)
		channel->resting--;
	channel->thread_rests = false;
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		struct channel_rail *rail = channel->rails[i];

		if (rail != NULL && rail->begun && rail->way->thread != NULL)
			rail->way->thread(rail->state, false);
	}
	channel_unlock(channel);
}

static void
source_kick(struct lull_loop *loop)
{
	channel_kick(loop->stage_state);
}

static const struct lull_loop_source thread_source = {
	.receive = source_receive,
	.end = source_end,
	.audit = source_audit,
	.missed = source_missed,
	.kick = source_kick,
};

/* ---- stage ---- */

static uint64_t
stage_iterate(void *state, uint64_t now_ns)
{
	struct lull_channel *channel = state;
	uint64_t due_ns;

	if (channel_changes_new(channel)) {
		channel_unlock(channel);
		channel->config.changed(channel->config.changed_context);
		return now_ns;
	}
	due_ns = channel_due_ns(channel, now_ns);
	if (!channel->removing) {
		channel_watch(channel, &channel->polls);
		channel->resting++;
		channel->thread_rests = true;
	}
	channel_unlock(channel);
	return due_ns == UINT64_MAX ? 0 : due_ns;
}

#define ROW(member, member_unit, text)                                                             \
	LULL_COUNTER_ROW(struct channel_counters, member, member_unit, text)
static const struct lull_counter_info stage_counters[] = {
	ROW(sends, "1", "messages sent"),
	ROW(send_bytes, "bytes", "bytes of these"),
	ROW(receives, "1", "messages received"),
	ROW(receive_bytes, "bytes", "bytes of these"),
	ROW(failures, "1", "sends and receives that ended with an error"),
	{ .name = NULL },
};

static const struct lull_stage thread_stage = {
	.name = "channel",
	.summary = "packets of all rails to messages, messages to packets",
	.iterate = stage_iterate,
	.counters = stage_counters,
	.counters_offset = offsetof(struct lull_channel, counters),
};

/* ---- ways to rest ---- */

static int
rest_probe(void *context)
{
	(void)context;
	return 0;
}

static enum lull_wake_reason
rest_run(void *context, uint64_t limit_ns)
{
	struct lull_channel *channel = context;
	enum lull_wake_reason reason = channel_rest(channel, &channel->polls, limit_ns);

	channel->polls_said = true;
	return reason;
}

static const struct lull_rest_way thread_sleep = {
	.idle_state = LULL_IDLE_SLEEP,
	.summary = "the thread sleeps on a timer, which a call may end",
	.probe = rest_probe,
	.run = rest_run,
};
static const struct lull_rest_way thread_block = {
	.idle_state = LULL_IDLE_INTERRUPT,
	.summary = "the thread sleeps in the kernel until packets come",
	.probe = rest_probe,
	.run = rest_run,
};
static const struct lull_rest_way *const thread_ways[] = { &lull_rest_pause, &thread_sleep,
							   &thread_block, NULL };

/* ---- limits ---- */

static const struct lull_idle_governor *
thread_governor(const struct lull_channel *channel)
{
	return channel->polled ? lull_idle_governor_find(channel->governor) : &lull_loop_blocking;
}

struct lull_idle_limits
channel_thread_limits(const struct lull_channel *channel)
{
	struct lull_idle_limits limits = { .latency_ns = channel->max_latency_ns,
					   .rest_ns_max = channel->max_latency_ns,
					   /* rail credit spares the rings: a rest of any
					    * length overflows none */
					   .loss = LULL_LOSS_TOLERATE,
					   .burst_pkts = CHANNEL_BURST };

	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++)
		if (channel->rails[i] != NULL && channel->rails[i]->way->watch == NULL)
			limits.ring_pkts = limits.ring_pkts == 0 ?
						   channel->rails[i]->bundle.ring_pkts :
						   LULL_MIN(limits.ring_pkts,
							    channel->rails[i]->bundle.ring_pkts);
	limits.idle_states =
		LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) | LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP);
	if (!channel->polled) {
		/* Packets end the rest, and there is no other. */
		limits.rest_ns_max = LULL_NS_PER_S;
		limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT);
	}
	return limits;
}

int
channel_thread_change(struct lull_channel *channel)
{
	struct lull_idle_limits limits;
	const struct lull_idle_governor *governor;

	if (!channel->looped)
		return 0;
	channel_lock(channel);
	limits = channel_thread_limits(channel);
	governor = thread_governor(channel);
	channel_unlock(channel);
	return lull_loop_post_change(&channel->loop, governor, &limits);
}

/* ---- start and stop ---- */

static void *
thread_run(void *arg)
{
	struct lull_channel *channel = arg;

	lull_loop_run(&channel->loop, &thread_source);
	return NULL;
}

static int
thread_loop(struct lull_channel *channel, struct lull_error *error)
{
	char name[LULL_NAME_SIZE];
	const struct lull_loop_parts parts = {
		.name = name,
		.kind = "channel",
		.thread = "lull-channel",
		.cpu = channel->config.cpu - 1,
		.burst_pkts = CHANNEL_BURST,
		.source = &thread_source,
		.stage = &thread_stage,
		.stage_state = channel,
		.ways = thread_ways,
		.way_context = channel,
		.governor = thread_governor(channel),
		.limits = channel_thread_limits(channel),
		.idle_memory = channel->idle_memory,
		/*
		 * It rests for moments while it works as much as it can. In a real-time class it
		 * would keep the kernel's own threads from the packets it waits for.
		 */
		.no_class = true,
	};
	int rc;

	snprintf(name, sizeof(name), "channel%u", atomic_fetch_add(&thread_count, 1));
	rc = lull_loop_init(&channel->loop, &parts);
	channel->looped = true;
	return rc == 0 ? 0 :
			 lull_error_set(error, rc, "cannot make the loop of the channel: %s",
					strerror(-rc));
}

int
channel_thread_start(struct lull_channel *channel, struct lull_error *error)
{
	int rc;

	channel->idle_memory = lull_loop_memory();
	if (channel->idle_memory == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the thread");
	rc = thread_loop(channel, error);
	if (rc == 0)
		rc = lull_loop_thread_create(&channel->thread, &channel->loop, thread_run, channel,
					     error);
	channel->thread_runs = rc == 0;
	if (rc != 0)
		channel_thread_free(channel);
	return rc;
}

void
channel_thread_stop(struct lull_channel *channel)
{
	if (!channel->thread_runs)
		return;
	lull_loop_end(&channel->loop);
	pthread_join(channel->thread, NULL);
	channel->thread_runs = false;
}

void
channel_thread_free(struct lull_channel *channel)
{
	if (channel->looped)
		lull_loop_fini(&channel->loop);
	channel->looped = false;
	free(channel->idle_memory);
	channel->idle_memory = NULL;
}
