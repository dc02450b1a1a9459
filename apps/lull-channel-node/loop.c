/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lull/rest.h>

#include "host/error.h"
#include "host/loop_run.h"
#include "host/loop_thread.h"
#include "node.h"

#define LOOP_YIELDS_MAX 1000                /* to callers, in front of an iteration */
#define LOOP_FULL_NS (100 * LULL_NS_PER_US) /* until a wire that was full is tried again */

/* ---- source ---- */

static void
loop_watched(struct node_loop *loop)
{
	const struct pollfd *at = loop->polls;

	for (uint32_t i = 0; i < loop->to.rail_count; i++) {
		const struct channel_rail *rail = loop->to.rails[i].rail;
		struct pollfd own[CHANNEL_WATCH_MAX];

		if (rail->way->watched == NULL)
			continue;
		rail->way->watched(rail->state, loop->polled ? NULL : at);
		if (!loop->polled)
			at += rail->way->watch(rail->state, own);
	}
}

/* The lock is held until the iteration of the stage ends. */
static void
source_receive(struct lull_loop *base, struct lull_iteration *iteration)
{
	struct node_loop *loop = base->stage_state;
	uint32_t pkts;

	(void)iteration;
	for (uint32_t i = 0; i < LOOP_YIELDS_MAX; i++) {
		if (atomic_load_explicit(&loop->to.callers, memory_order_relaxed) == 0)
			break;
		sched_yield();
	}
	pthread_mutex_lock(&loop->to.lock);
	if (loop->polled || loop->said)
		loop_watched(loop);
	loop->said = false;
	pkts = node_switch_turn(&loop->to);
	base->queue_pkts[0] = (uint16_t)LULL_MIN(pkts, (uint32_t)UINT16_MAX);
}

static void
loop_threads(struct node_loop *loop, bool begins)
{
	for (uint32_t i = 0; i < loop->to.rail_count; i++) {
		const struct channel_rail *rail = loop->to.rails[i].rail;

		if (rail->way->thread != NULL)
			rail->way->thread(rail->state, begins);
	}
}

static void
source_begin(struct lull_loop *base)
{
	loop_threads(base->stage_state, true);
}

static void
source_end(struct lull_loop *base)
{
	loop_threads(base->stage_state, false);
}

static uint64_t
loop_missed(const struct node_loop *loop)
{
	uint64_t missed = 0;

	for (uint32_t i = 0; i < loop->to.rail_count; i++) {
		const struct channel_rail *rail = loop->to.rails[i].rail;

		missed += rail->way->missed(rail->state);
	}
	return missed;
}

static void
source_missed(const struct lull_loop *base, uint64_t *missed, uint64_t *nombuf)
{
	(void)nombuf;
	*missed = loop_missed(base->stage_state);
}

static void
source_audit(struct lull_loop *base, bool last, struct lull_loss_charge *charge)
{
	struct node_loop *loop = base->stage_state;
	uint64_t now_ns = lull_clock_ns(), missed = loop_missed(loop);

	(void)last; /* nobody shares the rails */
	if (lull_idle_suspects(base->idle, loop->missed_ns, now_ns))
		charge->rests += missed - loop->missed;
	else
		charge->others += missed - loop->missed;
	loop->missed = missed;
	loop->missed_ns = now_ns;
}

static void
source_kick(struct lull_loop *base)
{
	node_loop_kick(base->stage_state);
}

static const struct lull_loop_source loop_source = {
	.receive = source_receive,
	.begin = source_begin,
	.end = source_end,
	.audit = source_audit,
	.missed = source_missed,
	.kick = source_kick,
};

/* ---- stage ---- */

static uint64_t
stage_iterate(void *state, uint64_t now_ns)
{
	struct node_loop *loop = state;
	bool waits = node_switch_waits(&loop->to), tell = loop->to.tell;
	const uint64_t one = 1;

	loop->to.tell = false;
	node_switch_unlock(&loop->to);
	if (tell)
		(void)!write(loop->told_fd, &one, sizeof(one));
	return waits ? now_ns + LOOP_FULL_NS : 0;
}

static const struct lull_stage loop_stage = {
	.name = "node",
	.summary = "packets from rails to processes, from processes to rails and to each other",
	.iterate = stage_iterate,
	.counters = node_counter_table,
	.counters_offset = offsetof(struct node_loop, to.counters),
};

/* ---- ways to rest ---- */

static int
rest_probe(void *context)
{
	(void)context;
	return 0;
}

/* Tell all who send that we rest. False: somebody has sent. */
static bool
rest_begin(struct node_loop *loop)
{
	bool quiet = true;

	node_switch_lock(&loop->to);
	loop->count = 0;
	for (uint32_t i = 0; i < loop->to.rail_count; i++) {
		const struct channel_rail *rail = loop->to.rails[i].rail;

		if (rail->way->watch != NULL)
			loop->count += rail->way->watch(rail->state, &loop->polls[loop->count]);
	}
	loop->rail_polls = loop->count;
	for (uint32_t i = 0; i < loop->to.port_high; i++) {
		struct node_port *port = loop->to.ports[i];

		if (port == NULL || port->broken)
			continue;
		quiet = quiet && !channel_lane_rest(&port->lane);
		loop->ports[loop->count - loop->rail_polls] = port;
		loop->polls[loop->count++] =
			(struct pollfd){ .fd = port->lane.bell_fd, .events = POLLIN };
	}
	loop->polls[loop->count] = (struct pollfd){ .fd = loop->kick_fd, .events = POLLIN };
	loop->epoch = loop->to.epoch;
	node_switch_unlock(&loop->to);
	return quiet;
}

/* Who rings without need is heard no more than once. */
static void
rest_end(struct node_loop *loop)
{
	node_switch_lock(&loop->to);
	if (loop->epoch == loop->to.epoch)
		for (uint32_t i = loop->rail_polls; i < loop->count; i++) {
			struct node_port *port = loop->ports[i - loop->rail_polls];

			if (loop->polls[i].revents == 0)
				continue;
			(void)channel_ring_wake(&port->lane.in); /* it is heard here */
			if (channel_lane_hear(&port->lane) != 0)
				node_switch_gone(&loop->to, port);
		}
	node_switch_unlock(&loop->to);
}

static enum lull_wake_reason
rest_run(void *context, uint64_t limit_ns)
{
	const struct timespec limit = { .tv_sec = (time_t)(limit_ns / LULL_NS_PER_S),
					.tv_nsec = (long)(limit_ns % LULL_NS_PER_S) };
	struct node_loop *loop = context;
	uint64_t kicks;
	int ready;

	if (!rest_begin(loop))
		return LULL_WAKE_PACKET;
	ready = ppoll(loop->polls, loop->count + 1, &limit, NULL);
	if (ready <= 0)
		return LULL_WAKE_TIMER;
	loop->said = true;
	rest_end(loop);
	if (loop->polls[loop->count].revents == 0)
		return LULL_WAKE_PACKET;
	(void)!read(loop->kick_fd, &kicks, sizeof(kicks));
	return LULL_WAKE_KICK;
}

static const struct lull_rest_way loop_sleep = {
	.idle_state = LULL_IDLE_SLEEP,
	.summary = "the thread sleeps on a timer, which a process that sends may end",
	.probe = rest_probe,
	.run = rest_run,
};
static const struct lull_rest_way loop_block = {
	.idle_state = LULL_IDLE_INTERRUPT,
	.summary = "the thread sleeps in the kernel until packets come",
	.probe = rest_probe,
	.run = rest_run,
};
static const struct lull_rest_way *const loop_ways[] = { &lull_rest_pause, &loop_sleep, &loop_block,
							 NULL };

/* ---- limits ---- */

static const struct lull_idle_governor *
loop_governor(const struct node_loop *loop, const struct node_settings *settings)
{
	return loop->polled ?
		       lull_idle_governor_find(lull_resting_governor_name(settings->governor)) :
		       &lull_loop_blocking;
}

static struct lull_idle_limits
loop_limits(const struct node_loop *loop, const struct node_settings *settings)
{
	struct lull_idle_limits limits = {
		.latency_ns = settings->max_latency_ns,
		.rest_ns_max = settings->max_latency_ns,
		.burst_pkts = CHANNEL_BURST,
		.ring_pkts = CHANNEL_RING_PKTS,
		.idle_states =
			LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) | LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP),
	};

	for (uint32_t i = 0; i < loop->to.rail_count; i++) {
		const struct channel_rail *rail = loop->to.rails[i].rail;

		if (rail->way->watch == NULL)
			limits.ring_pkts = LULL_MIN(limits.ring_pkts, rail->bundle.ring_pkts);
	}
	if (!loop->polled) {
		/* Packets end the rest, and there is no other. */
		limits.rest_ns_max = LULL_NS_PER_S;
		limits.ring_pkts = 0;
		limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT);
	}
	return limits;
}

int
node_loop_change(struct node_loop *loop, const struct node_settings *settings,
		 struct lull_error *error)
{
	const struct lull_idle_limits limits = loop_limits(loop, settings);
	int rc = lull_loop_post_change(&loop->loop, loop_governor(loop, settings), &limits);

	return rc == 0 ? 0 :
			 lull_error_set(error, rc,
					"the thread has not taken the last changes yet; try again");
}

void
node_loop_kick(const struct node_loop *loop)
{
	const uint64_t one = 1;

	(void)!write(loop->kick_fd, &one, sizeof(one));
}

/* ---- start and stop ---- */

static void *
loop_run(void *arg)
{
	struct node_loop *loop = arg;

	lull_loop_run(&loop->loop, &loop_source);
	return NULL;
}

static int
loop_init(struct node_loop *loop, const struct node_settings *settings)
{
	const struct lull_loop_parts parts = {
		.name = "node",
		.kind = "node",
		.thread = "lull-node",
		.cpu = settings->cpu.count > 0 ? (int)settings->cpu.cpus[0] : -1,
		.burst_pkts = CHANNEL_BURST,
		.source = &loop_source,
		.stage = &loop_stage,
		.stage_state = loop,
		.ways = loop_ways,
		.way_context = loop,
		.governor = loop_governor(loop, settings),
		.limits = loop_limits(loop, settings),
		.no_class = true, /* its watch thread alone costs 2 % of a CPU at rest */
		.idle_memory = loop->idle_memory,
	};

	loop->looped = true;
	return lull_loop_init(&loop->loop, &parts);
}

int
node_loop_start(struct node_loop *loop, const struct node_settings *settings,
		struct lull_error *error)
{
	int rc;

	loop->idle_memory = lull_loop_memory();
	if (loop->idle_memory == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the thread");
	for (uint32_t i = 0; i < loop->to.rail_count; i++)
		loop->polled |= loop->to.rails[i].rail->way->watch == NULL;
	rc = loop_init(loop, settings);
	if (rc != 0)
		return lull_error_set(error, rc, "cannot make the loop: %s", strerror(-rc));
	rc = lull_loop_thread_create(&loop->thread, &loop->loop, loop_run, loop, error);
	loop->runs = rc == 0;
	return rc;
}

void
node_loop_stop(struct node_loop *loop)
{
	if (loop->runs) {
		lull_loop_end(&loop->loop);
		pthread_join(loop->thread, NULL);
	}
	loop->runs = false;
	if (loop->looped)
		lull_loop_fini(&loop->loop);
	loop->looped = false;
	free(loop->idle_memory);
	loop->idle_memory = NULL;
}
