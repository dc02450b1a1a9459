/* SPDX-License-Identifier: BSD-3-Clause */
#include "loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <lull/rest.h>

#include "sched_class.h"

#define HOUSEKEEPING_NS (10 * LULL_NS_PER_MS)
#define PUBLISH_BEFORE_REST_NS HOUSEKEEPING_NS

static void
loop_publish(struct lull_loop *loop, uint64_t now_ns)
{
	struct lull_loop_snapshot snapshot;

	memset(&snapshot, 0, sizeof(snapshot));
	snapshot.now_ns = now_ns;
	snapshot.window_begin_ns = loop->window_begin_ns;
	snapshot.window = loop->window;
	snapshot.governor = lull_idle_governor(loop->idle);
	snapshot.limits = *lull_idle_limits(loop->idle);
	lull_idle_verdict(loop->idle, &snapshot.verdict);
	lull_snapshot_write(&loop->snapshot, &snapshot, loop->idle);
}

/* ---- set up ---- */

static void
loop_probe_way(struct lull_loop *loop, const struct lull_rest_way *way)
{
	if (loop->ways[way->idle_state] != NULL)
		return;
	loop->probes[way->idle_state] = way->probe(loop->way_context);
	if (loop->probes[way->idle_state] != 0) {
		if (loop->refused[way->idle_state] == NULL)
			loop->refused[way->idle_state] = way;
		return;
	}
	loop->ways[way->idle_state] = way;
	loop->idle_states |= LULL_IDLE_STATE_BIT(way->idle_state);
}

static void
loop_probe(struct lull_loop *loop, const struct lull_rest_way *const *ways)
{
	for (int idle_state = 0; idle_state < LULL_IDLE_STATE_COUNT; idle_state++)
		loop->probes[idle_state] = idle_state == LULL_IDLE_NONE ? 0 : -ENOTSUP;
	loop->idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_NONE);
	for (; *ways != NULL; ways++)
		loop_probe_way(loop, *ways);
}

static void
loop_fill(struct lull_loop *loop, const struct lull_loop_parts *parts)
{
	snprintf(loop->name, sizeof(loop->name), "%s", parts->name);
	loop->kind = parts->kind;
	loop->thread = parts->thread != NULL ? parts->thread : loop->name;
	loop->cpu = parts->cpu;
	loop->queue_count = LULL_MAX(parts->queue_count, 1u);
	loop->burst_pkts = parts->burst_pkts;
	loop->source = parts->source;
	loop->stage = parts->stage;
	loop->stage_state = parts->stage_state;
	loop->share = parts->share;
	loop->way_context = parts->way_context;
	loop->governor = parts->governor;
	loop->slack_ns = parts->slack_ns;
	loop->sched_policy = parts->sched_policy;
	loop->cpu_latency_ns = parts->cpu_latency_ns;
	loop->idle_memory = parts->idle_memory;
	loop->trace = parts->trace;
	loop->trace_arg = parts->trace_arg;
	loop_probe(loop, parts->ways);
	loop->limits = lull_loop_limits(loop, &parts->limits);
}

int
lull_loop_init(struct lull_loop *loop, const struct lull_loop_parts *parts)
{
	struct lull_rest_thread_config class;
	uint64_t now_ns = lull_clock_ns();
	int rc;

	loop_fill(loop, parts);
	lull_mailbox_init(&loop->mailbox);
	rc = lull_idle_init(loop->idle_memory, loop->governor, &loop->limits, now_ns, &loop->idle);
	class = lull_loop_class_config(loop, &loop->limits);
	if (rc == 0 && !parts->no_class)
		rc = lull_rest_thread_create(loop->idle, &class, &loop->class);
	if (rc != 0)
		return rc;
	loop->window_begin_ns = now_ns;
	loop_publish(loop, now_ns);
	return 0;
}

void
lull_loop_fini(struct lull_loop *loop)
{
	lull_rest_thread_destroy(loop->class);
	loop->class = NULL;
	lull_mailbox_fini(&loop->mailbox);
}

void
lull_loop_end(struct lull_loop *loop)
{
	__atomic_store_n(&loop->stop, true, __ATOMIC_RELAXED);
	if (loop->source->kick != NULL)
		loop->source->kick(loop);
}

/* ---- housekeeping: every 10 ms ---- */

static void
loop_audit(struct lull_loop *loop, uint64_t now_ns, bool last)
{
	struct lull_loss_charge charge = { 0, 0 };

	if (loop->source->audit == NULL)
		return;
	loop->source->audit(loop, last, &charge);
	lull_idle_charge(loop->idle, now_ns, &charge);
}

/* Wake-ups in the class that it had say nothing about those in this one. */
static void
loop_check_class(struct lull_loop *loop)
{
	uint64_t changes = lull_rest_thread_changes(loop->class);

	if (loop->class != NULL)
		sched_class_follow(loop->class);
	if (changes == loop->class_changes)
		return;
	loop->class_changes = changes;
	lull_idle_forget(loop->idle);
}

void
lull_loop_housekeeping(struct lull_loop *loop, uint64_t now_ns)
{
	/*
	 * What is fetched tells whether the last rest may have lost something: the next iteration.
	 */
	if (lull_idle_undecided(loop->idle))
		return;
	loop->housekeeping_ns = now_ns + HOUSEKEEPING_NS;
	loop_check_class(loop);
	loop_audit(loop, now_ns, false);
	loop_publish(loop, now_ns);
}

void
lull_loop_limit_anew(struct lull_loop *loop, uint64_t now_ns)
{
	struct lull_idle_limits limits = *lull_idle_limits(loop->idle);
	struct lull_rest_thread_config class;
	uint64_t pps_max = limits.pps_max;

	loop->source->limit(loop, &limits);
	if (limits.pps_max == pps_max)
		return;
	lull_idle_change(loop->idle, NULL, &limits);
	class = lull_loop_class_config(loop, &limits);
	/* A faster link leaves less time to leave a C-state. */
	if (loop->class != NULL)
		lull_rest_thread_change(loop->class, &class);
	loop_publish(loop, now_ns);
}

/* ---- commands ---- */

static void
loop_mark(struct lull_loop *loop, uint32_t window, uint64_t now_ns)
{
	loop->window = window;
	loop->window_begin_ns = now_ns;
	lull_idle_mark(loop->idle);
	if (loop->stage->mark != NULL)
		loop->stage->mark(loop->stage_state, now_ns);
}

static void
loop_apply(struct lull_loop *loop, const struct lull_message *message, uint64_t now_ns)
{
	const struct lull_loop_change *change = (const void *)message->data;
	uint32_t window;

	switch (message->kind) {
	case LULL_LOOP_MESSAGE_CHANGE:
		/* Checked before it was posted. */
		lull_idle_change(loop->idle, change->governor, &change->limits);
		break;
	case LULL_LOOP_MESSAGE_MARK:
		memcpy(&window, message->data, sizeof(window));
		loop_mark(loop, window, now_ns);
		break;
	case LULL_LOOP_MESSAGE_STAGE:
		if (loop->stage->command != NULL)
			loop->stage->command(loop->stage_state, message->data, message->size,
					     now_ns);
		break;
	}
}

/* At most one mailbox full, however fast others post. */
void
lull_loop_read_mailbox(struct lull_loop *loop, uint64_t now_ns)
{
	const struct lull_message *message = lull_mailbox_peek(&loop->mailbox);

	for (int i = 0; i < LULL_MAILBOX_SLOTS && message != NULL; i++) {
		loop_apply(loop, message, now_ns);
		lull_mailbox_pop(&loop->mailbox);
		message = lull_mailbox_peek(&loop->mailbox);
	}
	loop_publish(loop, now_ns);
}

/* ---- rests ---- */

void
lull_loop_rest_once(struct lull_idle *idle, const struct lull_rest_way *const *ways, void *context,
		    const struct lull_rest *rest, struct lull_wake *wake)
{
	lull_rest_run(ways[rest->idle_state], context, rest, wake);
	lull_idle_wake(idle, wake);
}

uint64_t
lull_loop_rest(struct lull_loop *loop, const struct lull_iteration *iteration,
	       const struct lull_rest *rest)
{
	struct lull_wake wake;

	if (rest->limit_ns >= PUBLISH_BEFORE_REST_NS)
		loop_publish(loop, iteration->now_ns);
	lull_loop_rest_once(loop->idle, loop->ways, loop->way_context, rest, &wake);
	if (loop->trace != NULL)
		loop->trace(loop->trace_arg, iteration, rest, &wake);
	loop->woke_ns = wake.end_ns;
	return wake.end_ns;
}

/* ---- begin and end of the thread ---- */

uint64_t
lull_loop_begin(struct lull_loop *loop)
{
	struct lull_idle *idle;
	uint64_t now_ns;

	/* Without it every sleep is 50 us longer; calibration sees that. */
	lull_rest_thread_slack(LULL_MAX(loop->slack_ns, 1));
	if (loop->source->begin != NULL)
		loop->source->begin(loop);
	now_ns = lull_clock_ns();
	/* Once more, now that the clock starts: nothing was learned yet. It stays where it is. */
	lull_idle_init(loop->idle_memory, loop->governor, &loop->limits, now_ns, &idle);
	if (loop->share != NULL) {
		lull_share_join(loop->share);
		lull_idle_join(idle, loop->share);
	}
	/*
	 * The watch thread reads counters of the idle object from here on. Whoever knows the number
	 * of the thread knows also which class was refused.
	 */
	if (loop->class != NULL)
		lull_rest_thread_enter(loop->class, 0);
	__atomic_store_n(&loop->tid, (int)gettid(), __ATOMIC_RELEASE);
	loop_mark(loop, loop->window, now_ns);
	lull_loop_housekeeping(loop, now_ns);
	return now_ns;
}

void
lull_loop_finish(struct lull_loop *loop, uint64_t now_ns)
{
	loop_audit(loop, now_ns, true);
	loop_publish(loop, now_ns);
	if (loop->stage->end != NULL)
		loop->stage->end(loop->stage_state);
	if (loop->source->end != NULL)
		loop->source->end(loop);
	/* Not before its stage has ended: what it sends to is the queue's too. */
	if (loop->share != NULL)
		lull_share_leave(loop->share);
	if (loop->class != NULL)
		lull_rest_thread_leave(loop->class);
}
