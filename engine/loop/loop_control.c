/* SPDX-License-Identifier: BSD-3-Clause */
#include "loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "base/range.h"
#include "engine/dpdk/error.h"
#include "engine/dpdk/port.h"

/* ---- create ---- */

static int
loop_check(const struct lull_loop_config *config, char *error)
{
	struct lull_idle_limits limits = config->limits;
	struct lull_range wrong;

	if (config->lcore_id == rte_get_main_lcore() || !rte_lcore_is_enabled(config->lcore_id))
		return lull_engine_error(error, -EINVAL, "loop %s: lcore %u is not a worker",
					 config->name, config->lcore_id);
	if (config->queue_count > LULL_IDLE_QUEUES_MAX)
		return lull_engine_error(error, -EINVAL, "loop %s: %u queues, at most %d",
					 config->name, config->queue_count, LULL_IDLE_QUEUES_MAX);
	if (lull_range_check("burst", config->burst_pkts, 1, LULL_BURST_MAX, &wrong) != 0)
		return lull_engine_error_range(error, &wrong);
	limits.burst_pkts = config->burst_pkts;
	if (lull_idle_config_check(&limits, &wrong) != 0)
		return lull_engine_error_range(error, &wrong);
	return 0;
}

static int
loop_cpu(unsigned int lcore_id)
{
	rte_cpuset_t cpus = rte_lcore_cpuset(lcore_id);

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET((unsigned int)cpu, &cpus))
			return cpu;
	}
	return -1;
}

static void
loop_add_port(struct lull_loop *loop, uint16_t port_id)
{
	for (uint32_t i = 0; i < loop->port_count; i++) {
		if (loop->port_ids[i] == port_id)
			return;
	}
	loop->port_ids[loop->port_count++] = port_id;
}

/* What the loop can do is what its user wants and the machine has. */
static struct lull_idle_limits
loop_limits(const struct lull_loop *loop, const struct lull_idle_limits *wanted)
{
	struct lull_idle_limits limits = *wanted;

	limits.depths = wanted->depths == 0 ? loop->depths : wanted->depths & loop->depths;
	/* Zero would mean the default; NONE is always there. */
	limits.depths |= LULL_REST_BIT(LULL_REST_NONE);
	limits.burst_pkts = loop->burst_pkts;
	return limits;
}

static void
loop_fill(struct lull_loop *loop, const struct lull_loop_config *config)
{
	snprintf(loop->name, sizeof(loop->name), "%s", config->name);
	loop->kind = config->kind;
	loop->lcore_id = config->lcore_id;
	loop->cpu = loop_cpu(config->lcore_id);
	loop->queue_count = config->queue_count;
	memcpy(loop->queues, config->queues, config->queue_count * sizeof(loop->queues[0]));
	loop->burst_pkts = config->burst_pkts;
	loop->stage = config->stage;
	loop->governor = config->governor;
	loop->trace = config->trace;
	loop->trace_arg = config->trace_arg;
	loop->slack_ns = config->slack_ns;
	loop->sched_policy = config->sched_policy;
	for (uint32_t i = 0; i < config->queue_count; i++)
		loop_add_port(loop, config->queues[i].port_id);
	lull_mailbox_init(&loop->mailbox);
	lull_rest_device_init(&loop->device, loop->queues, loop->queue_count, loop->burst_pkts);
	lull_loop_probe(loop, config->way);
	loop->limits = loop_limits(loop, &config->limits);
}

static struct lull_rest_thread_config
loop_class(const struct lull_loop *loop, const struct lull_idle_limits *limits)
{
	return (struct lull_rest_thread_config){ .policy = loop->sched_policy,
						 .latency_ns = limits->latency_ns };
}

static int
loop_make_class(struct lull_loop *loop)
{
	const struct lull_rest_thread_config config = loop_class(loop, &loop->limits);

	return lull_rest_thread_create(loop->idle, &config, &loop->class);
}

static int
loop_make_parts(struct lull_loop *loop, const struct lull_loop_config *config, char *error)
{
	int socket = (int)rte_lcore_to_socket_id(config->lcore_id);
	uint64_t now_ns = lull_clock_ns();
	int rc;

	loop->idle_memory =
		rte_zmalloc_socket("lull_idle", lull_idle_size(), LULL_CACHE_LINE, socket);
	loop->stage_state = rte_zmalloc_socket(
		"lull_stage", LULL_MAX(config->stage->state_size, 1u), LULL_CACHE_LINE, socket);
	if (loop->idle_memory == NULL || loop->stage_state == NULL)
		return lull_engine_error(error, -ENOMEM, "loop %s: out of memory", config->name);
	rc = lull_idle_init(loop->idle_memory, loop->governor, &loop->limits, now_ns, &loop->idle);
	if (rc != 0)
		return lull_engine_error(error, rc, "loop %s: the limits contradict each other",
					 config->name);
	rc = loop_make_class(loop);
	if (rc != 0)
		return lull_engine_error(error, rc, "loop %s: out of memory", config->name);
	rc = config->stage->init(loop->stage_state, config->stage_config, now_ns);
	if (rc != 0)
		return lull_engine_error(error, rc, "loop %s: stage %s: %s", config->name,
					 config->stage->name, strerror(-rc));
	loop->ready = true;
	lull_loop_audit(loop, now_ns, false); /* what was lost until now is nobody's */
	loop->window_begin_ns = now_ns;
	lull_loop_publish(loop, now_ns);
	return 0;
}

int
lull_loop_create(const struct lull_loop_config *config, struct lull_loop **out, char *error)
{
	int rc = loop_check(config, error);
	struct lull_loop *loop;

	if (rc != 0)
		return rc;
	loop = rte_zmalloc_socket("lull_loop", sizeof(*loop), LULL_CACHE_LINE,
				  (int)rte_lcore_to_socket_id(config->lcore_id));
	if (loop == NULL)
		return lull_engine_error(error, -ENOMEM, "loop %s: out of memory", config->name);
	loop_fill(loop, config);
	rc = loop_make_parts(loop, config, error);
	if (rc != 0)
		lull_loop_destroy(loop);
	else
		*out = loop;
	return rc;
}

void
lull_loop_destroy(struct lull_loop *loop)
{
	if (loop == NULL)
		return;
	lull_loop_stop(loop);
	lull_rest_device_fini(&loop->device);
	lull_mailbox_fini(&loop->mailbox);
	if (loop->ready && loop->stage->fini != NULL)
		loop->stage->fini(loop->stage_state);
	lull_rest_thread_destroy(loop->class);
	rte_free(loop->stage_state);
	rte_free(loop->idle_memory);
	rte_free(loop);
}

/* ---- run ---- */

int
lull_loop_start(struct lull_loop *loop)
{
	int rc;

	if (loop->running)
		return -EALREADY;
	loop->stop = false;
	rc = rte_eal_remote_launch(lull_loop_main, loop, loop->lcore_id);
	loop->running = rc == 0;
	return rc;
}

void
lull_loop_stop(struct lull_loop *loop)
{
	if (!loop->running)
		return;
	__atomic_store_n(&loop->stop, true, __ATOMIC_RELAXED);
	lull_rest_device_kick(&loop->device);
	rte_eal_wait_lcore(loop->lcore_id);
	loop->running = false;
}

/* ---- command ---- */

static int
loop_post(struct lull_loop *loop, enum loop_message kind, const void *data, size_t size)
{
	int rc = lull_mailbox_post(&loop->mailbox, kind, data, size);

	if (rc == 0)
		lull_rest_device_kick(&loop->device);
	return rc;
}

int
lull_loop_post_change(struct lull_loop *loop, const struct lull_idle_governor *governor,
		      const struct lull_idle_limits *limits)
{
	struct loop_change change = { .governor = governor, .limits = loop_limits(loop, limits) };
	struct lull_rest_thread_config class = loop_class(loop, limits);
	int rc;

	if (lull_idle_config_check(&change.limits, NULL) != 0)
		return -EINVAL;
	rc = loop_post(loop, LOOP_MESSAGE_CHANGE, &change, sizeof(change));
	if (rc == 0)
		lull_rest_thread_change(loop->class, &class);
	return rc;
}

void
lull_loop_change_class(struct lull_loop *loop, enum lull_sched_policy policy)
{
	struct lull_loop_snapshot snapshot;
	struct lull_rest_thread_config config;

	if (policy == loop->sched_policy)
		return;
	lull_loop_snapshot(loop, &snapshot);
	loop->sched_policy = policy;
	config = loop_class(loop, &snapshot.limits);
	lull_rest_thread_change(loop->class, &config);
}

int
lull_loop_post_mark(struct lull_loop *loop, uint32_t window)
{
	return loop_post(loop, LOOP_MESSAGE_MARK, &window, sizeof(window));
}

int
lull_loop_post_stage(struct lull_loop *loop, const void *data, size_t size)
{
	return loop_post(loop, LOOP_MESSAGE_STAGE, data, size);
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
	lull_rest_thread_info(loop->class, info);
}

char *
lull_loop_class_explain(const struct lull_loop *loop, char *bytes, size_t size)
{
	return lull_rest_thread_explain(loop->class, bytes, size);
}

void
lull_loop_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf)
{
	*missed = 0;
	*nombuf = 0;
	for (uint32_t i = 0; i < loop->port_count; i++) {
		struct lull_port_loss loss;

		lull_port_lost(loop->port_ids[i], &loss);
		*missed += loss.missed;
		*nombuf += loss.nombuf;
	}
}

const struct lull_counter_info *
lull_loop_stage_counters(const struct lull_loop *loop, const void **counters)
{
	*counters = (const uint8_t *)loop->stage_state + loop->stage->counters_offset;
	return loop->stage->counters;
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
lull_loop_depth_probe(const struct lull_loop *loop, enum lull_rest_depth depth)
{
	return depth < LULL_REST_DEPTH_COUNT ? loop->probes[depth] : -EINVAL;
}
