/* SPDX-License-Identifier: BSD-3-Clause */
#include "loop.h"

#include <errno.h>
#include <string.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "base/range.h"
#include "idle/governor.h"
#include "host/error.h"
#include "host/loop_thread.h"
#include "engine/dpdk/env.h"
#include "engine/dpdk/memory.h"

/*
 * Every way there is; the first that probes well wins its idle state. A new way is one line here.
 */
static const struct lull_rest_way *const loop_ways[] = {
	&lull_rest_tpause,      &lull_rest_pause,     &lull_rest_monitor,
	&lull_rest_sleep_timer, &lull_rest_interrupt, NULL,
};
#define LOOP_WAYS (sizeof(loop_ways) / sizeof(loop_ways[0]))

/* ---- create ---- */

static bool
loop_has_lcore(unsigned int lcore_id)
{
	if (lull_env_bare())
		return lull_env_bare_cpu(lcore_id) >= 0;
	return lcore_id != rte_get_main_lcore() && rte_lcore_is_enabled(lcore_id);
}

static int
loop_check(const struct lull_loop_config *config, struct lull_error *error)
{
	struct lull_idle_limits limits = config->limits;
	struct lull_range wrong;

	if (!loop_has_lcore(config->lcore_id))
		return lull_error_set(error, -EINVAL, "loop %s: lcore %u is not a worker",
				      config->name, config->lcore_id);
	if (config->queue_count > LULL_IDLE_QUEUES_MAX)
		return lull_error_set(error, -EINVAL, "loop %s: %u queues, at most %d",
				      config->name, config->queue_count, LULL_IDLE_QUEUES_MAX);
	if (lull_range_check("burst", config->burst_pkts, 1, LULL_BURST_MAX, &wrong) != 0)
		return lull_error_range(error, &wrong);
	if (config->share != NULL && !config->governor->shares_queues)
		return lull_error_set(error, -EINVAL,
				      "loop %s: governor %s does not share queues with other loops",
				      config->name, lull_idle_governor_name(config->governor));
	if (config->share != NULL && config->share->share->queue_count != config->queue_count)
		return lull_error_set(error, -EINVAL, "loop %s: %u queues, but %u are shared",
				      config->name, config->queue_count,
				      config->share->share->queue_count);
	limits.burst_pkts = config->burst_pkts;
	if (lull_idle_config_check(&limits, &wrong) != 0)
		return lull_error_range(error, &wrong);
	return 0;
}

static int
loop_cpu(unsigned int lcore_id)
{
	rte_cpuset_t cpus;

	if (lull_env_bare())
		return lull_env_bare_cpu(lcore_id);
	cpus = rte_lcore_cpuset(lcore_id);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET((unsigned int)cpu, &cpus))
			return cpu;
	}
	return -1;
}

/* A bare engine has no device to rest on, nor the rate of the time stamp counter from DPDK. */
static const struct lull_rest_way *const *
loop_usual_ways(void)
{
	return lull_env_bare() ? lull_loop_ways : loop_ways;
}

static int
loop_make(struct engine_loop *own, const struct lull_loop_config *config, struct lull_error *error)
{
	/* Its own way goes before the usual ones. */
	const struct lull_rest_way *ways[1 + LOOP_WAYS] = { config->way };
	const struct lull_rest_way *const *usual = loop_usual_ways();
	const struct lull_loop_parts parts = {
		.name = config->name,
		.kind = config->kind,
		.cpu = loop_cpu(config->lcore_id),
		.queue_count = config->share != NULL ? 1 : config->queue_count,
		.burst_pkts = config->burst_pkts,
		.source = config->share != NULL ? engine_source_shared : engine_source,
		.share = config->share,
		.stage = config->stage,
		.stage_state = own->loop.stage_state,
		.ways = config->way != NULL ? ways : usual,
		.way_context = &own->device,
		.governor = config->governor,
		.limits = config->limits,
		.slack_ns = config->slack_ns,
		.sched_policy = config->sched_policy,
		.cpu_latency_ns = config->cpu_latency_ns,
		.idle_memory = own->loop.idle_memory,
		.trace = config->trace,
		.trace_arg = config->trace_arg,
	};
	int rc;

	for (size_t i = 1; i <= LOOP_WAYS && usual[i - 1] != NULL; i++)
		ways[i] = usual[i - 1];
	rc = lull_loop_init(&own->loop, &parts);
	if (rc == -EINVAL)
		return lull_error_set(error, rc, "loop %s: the limits contradict each other",
				      config->name);
	if (rc != 0)
		return lull_error_set(error, rc, "loop %s: out of memory", config->name);
	rc = config->stage->init(own->loop.stage_state, config->stage_config, lull_clock_ns());
	if (rc != 0)
		return lull_error_set(error, rc, "loop %s: stage %s: %s", config->name,
				      config->stage->name, strerror(-rc));
	own->ready = true;
	return 0;
}

/* NULL: no memory. */
static struct engine_loop *
loop_allocate(const struct lull_loop_config *config)
{
	int node = lull_env_bare() ? LULL_MEMORY_ANY_NODE :
				     (int)rte_lcore_to_socket_id(config->lcore_id);
	struct engine_loop *own = lull_memory_zalloc("lull_loop", sizeof(*own), node);

	if (own == NULL)
		return NULL;
	own->lcore_id = config->lcore_id;
	own->loop.idle_memory = lull_memory_zalloc("lull_idle", lull_idle_size(), node);
	own->loop.stage_state =
		lull_memory_zalloc("lull_stage", LULL_MAX(config->stage->state_size, 1u), node);
	if (own->loop.idle_memory != NULL && own->loop.stage_state != NULL)
		return own;
	lull_memory_free(own->loop.stage_state);
	lull_memory_free(own->loop.idle_memory);
	lull_memory_free(own);
	return NULL;
}

int
lull_loop_create(const struct lull_loop_config *config, struct lull_loop **loop,
		 struct lull_error *error)
{
	int rc = loop_check(config, error);
	struct engine_loop *own;

	if (rc != 0)
		return rc;
	own = loop_allocate(config);
	if (own == NULL)
		return lull_error_set(error, -ENOMEM, "loop %s: out of memory", config->name);
	engine_source_open(own, config);
	rc = loop_make(own, config, error);
	if (rc != 0)
		lull_loop_destroy(&own->loop);
	else
		*loop = &own->loop;
	return rc;
}

/* ---- threads of a bare engine ---- */

static void *
loop_bare_main(void *arg)
{
	struct engine_loop *own = arg;

	engine_loop_main(own);
	sem_post(&own->ended);
	while (sem_wait(&own->released) != 0)
		;
	return NULL;
}

static void
loop_bare_release(struct engine_loop *own)
{
	if (!own->threaded)
		return;
	sem_post(&own->released);
	pthread_join(own->thread, NULL);
	sem_destroy(&own->ended);
	sem_destroy(&own->released);
	own->threaded = false;
}

static int
loop_bare_start(struct engine_loop *own)
{
	int rc;

	loop_bare_release(own);
	sem_init(&own->ended, 0, 0);
	sem_init(&own->released, 0, 0);
	rc = lull_loop_thread_create(&own->thread, &own->loop, loop_bare_main, own, NULL);
	own->threaded = rc == 0;
	return rc;
}

/* ---- destroy ---- */

void
lull_loop_destroy(struct lull_loop *loop)
{
	struct engine_loop *own = engine_loop_of(loop);

	if (loop == NULL)
		return;
	lull_loop_stop(loop);
	loop_bare_release(own);
	lull_rest_device_fini(&own->device);
	if (own->ready && loop->stage->fini != NULL)
		loop->stage->fini(loop->stage_state);
	lull_loop_fini(loop);
	lull_memory_free(loop->stage_state);
	lull_memory_free(loop->idle_memory);
	lull_memory_free(own);
}

/* ---- run ---- */

int
lull_loop_start(struct lull_loop *loop)
{
	struct engine_loop *own = engine_loop_of(loop);
	int rc;

	if (own->running)
		return -EALREADY;
	loop->stop = false;
	if (lull_env_bare())
		rc = loop_bare_start(own);
	else
		rc = rte_eal_remote_launch(loop->share != NULL ? engine_loop_main_shared :
								 engine_loop_main,
					   own, own->lcore_id);
	own->running = rc == 0;
	return rc;
}

void
lull_loop_stop(struct lull_loop *loop)
{
	struct engine_loop *own = engine_loop_of(loop);

	if (!own->running)
		return;
	lull_loop_end(loop);
	if (own->threaded) {
		while (sem_wait(&own->ended) != 0)
			;
	} else {
		rte_eal_wait_lcore(own->lcore_id);
	}
	own->running = false;
}
