/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands to a loop, and what other threads may read of it. */
#include <errno.h>

#include "idle/governor.h"
#include "loop.h"

/* ---- command ---- */

/* What the loop can do is what its user wants and the machine has. */
struct lull_idle_limits
lull_loop_limits(const struct lull_loop *loop, const struct lull_idle_limits *wanted)
{
	struct lull_idle_limits limits = *wanted;

	limits.idle_states = wanted->idle_states == 0 ? loop->idle_states :
							wanted->idle_states & loop->idle_states;
	/* Zero would mean the default; NONE is always there. */
	limits.idle_states |= LULL_IDLE_STATE_BIT(LULL_IDLE_NONE);
	limits.burst_pkts = loop->burst_pkts;
	if (loop->source->limit != NULL)
		loop->source->limit(loop, &limits);
	return limits;
}

struct lull_rest_thread_config
lull_loop_class_config(const struct lull_loop *loop, const struct lull_idle_limits *limits)
{
	return (struct lull_rest_thread_config){ .policy = loop->sched_policy,
						 .latency_ns = limits->latency_ns };
}

static int
loop_post(struct lull_loop *loop, enum lull_loop_message kind, const void *data, size_t size)
{
	int rc = lull_mailbox_post(&loop->mailbox, kind, data, size);

	if (rc == 0 && loop->source->kick != NULL)
		loop->source->kick(loop);
	return rc;
}

int
lull_loop_post_change(struct lull_loop *loop, const struct lull_idle_governor *governor,
		      const struct lull_idle_limits *limits)
{
	struct lull_loop_change change = { .governor = governor,
					   .limits = lull_loop_limits(loop, limits) };
	struct lull_rest_thread_config class = lull_loop_class_config(loop, limits);
	int rc;

	if (lull_idle_config_check(&change.limits, NULL) != 0)
		return -EINVAL;
	if (loop->share != NULL && governor != NULL && !governor->shares_queues)
		return -EINVAL;
	rc = loop_post(loop, LULL_LOOP_MESSAGE_CHANGE, &change, sizeof(change));
	if (rc == 0 && loop->class != NULL)
		lull_rest_thread_change(loop->class, &class);
	return rc;
}

void
lull_loop_change_class(struct lull_loop *loop, enum lull_sched_policy policy)
{
	struct lull_loop_snapshot snapshot;
	struct lull_rest_thread_config config;

	if (loop->class == NULL)
		return;
	lull_loop_snapshot(loop, &snapshot);
	loop->sched_policy = policy;
	config = lull_loop_class_config(loop, &snapshot.limits);
	lull_rest_thread_change(loop->class, &config);
}

int
lull_loop_post_mark(struct lull_loop *loop, uint32_t window)
{
	return loop_post(loop, LULL_LOOP_MESSAGE_MARK, &window, sizeof(window));
}

int
lull_loop_post_stage(struct lull_loop *loop, const void *data, size_t size)
{
	return loop_post(loop, LULL_LOOP_MESSAGE_STAGE, data, size);
}

/* ---- read ---- */

void
lull_loop_snapshot(const struct lull_loop *loop, struct lull_loop_snapshot *snapshot)
{
	lull_snapshot_read(&loop->snapshot, snapshot);
}

const char *
lull_loop_name(const struct lull_loop *loop)
{
	return loop->name;
}

const char *
lull_loop_kind(const struct lull_loop *loop)
{
	return loop->kind;
}

int
lull_loop_cpu(const struct lull_loop *loop)
{
	return loop->cpu;
}

void
lull_loop_class(const struct lull_loop *loop, struct lull_rest_thread_info *info)
{
	if (loop->class != NULL)
		lull_rest_thread_info(loop->class, info);
	else
		*info = (struct lull_rest_thread_info){ .policy = LULL_SCHED_OTHER,
							.class_name = "other" };
}

char *
lull_loop_class_explain(const struct lull_loop *loop, char *bytes, size_t size)
{
	if (loop->class != NULL)
		return lull_rest_thread_explain(loop->class, bytes, size);
	bytes[0] = '\0';
	return bytes;
}

void
lull_loop_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf)
{
	*missed = 0;
	*nombuf = 0;
	if (loop->source->missed != NULL)
		loop->source->missed(loop, missed, nombuf);
}

const struct lull_counter_info *
lull_loop_stage_counters(const struct lull_loop *loop, const void **counters)
{
	const struct lull_counter_info *table = loop->stage->counters;

	/* Without a table there may be no state either. */
	*counters = table != NULL ?
			    (const uint8_t *)loop->stage_state + loop->stage->counters_offset :
			    NULL;
	return table;
}

int
lull_loop_tid(const struct lull_loop *loop)
{
	return __atomic_load_n(&loop->tid, __ATOMIC_RELAXED);
}

const struct lull_stage *
lull_loop_stage(const struct lull_loop *loop)
{
	return loop->stage;
}

const void *
lull_loop_stage_state(const struct lull_loop *loop)
{
	return loop->stage_state;
}

const struct lull_idle_counters *
lull_loop_counters(const struct lull_loop *loop)
{
	return lull_idle_counters(loop->idle);
}

const struct lull_histogram *
lull_loop_wait_histogram(const struct lull_loop *loop)
{
	return lull_idle_wait_histogram(loop->idle);
}

const struct lull_histogram *
lull_loop_rest_histogram(const struct lull_loop *loop)
{
	return lull_idle_rest_histogram(loop->idle);
}

int
lull_loop_idle_state_probe(const struct lull_loop *loop, enum lull_idle_state idle_state)
{
	return idle_state < LULL_IDLE_STATE_COUNT ? loop->probes[idle_state] : -EINVAL;
}
