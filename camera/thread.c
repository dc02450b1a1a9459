/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving thread: a source and a stage of the one loop. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "host/loop_run.h"
#include "receiver.h"
#include "telemetry.h"

/* A capture that waits for the application looks so often for what that has put back. */
#define FILE_REST_NS_MAX (50 * LULL_NS_PER_US)

/* All CPUs that the thread may run on: without a pinned one, time is stolen from any of them. */
static uint64_t
thread_steal_ns(const struct lull_camera *camera)
{
	int pinned = atomic_load(&camera->cpu);
	uint64_t sum_ns = 0;
	cpu_set_t allowed;

	if (pinned >= 0)
		return lull_steal_ns(pinned);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((unsigned int)cpu, &allowed))
			sum_ns += lull_steal_ns(cpu);
	return sum_ns;
}

void
camera_thread_begin(struct lull_camera *camera)
{
	int tid = (int)gettid();

	atomic_store(&camera->cpu, camera->config.cpu - 1);
	camera->cpu_begin_ns = lull_thread_cpu_ns(tid);
	camera->steal_begin_ns = thread_steal_ns(camera);
	camera->started_ns = lull_clock_ns();
	atomic_store(&camera->tid, tid);
	if (camera->backend->thread != NULL)
		camera->backend->thread(camera->backend_state, true);
}

void
camera_thread_end(struct lull_camera *camera)
{
	if (atomic_load(&camera->ended_ns) != 0)
		return;
	if (camera->backend->thread != NULL && !camera->config.own_loop)
		camera->backend->thread(camera->backend_state, false);
	atomic_store(&camera->cpu_end_ns, lull_thread_cpu_ns(atomic_load(&camera->tid)));
	atomic_store(&camera->steal_end_ns, thread_steal_ns(camera));
	atomic_store(&camera->ended_ns, lull_clock_ns());
}

static void
thread_totals(struct lull_camera *camera, struct lull_camera_totals *totals)
{
	uint64_t end_ns = atomic_load(&camera->ended_ns);
	int tid = atomic_load(&camera->tid);
	uint64_t cpu_ns, steal_ns;

	if (tid == 0)
		return;
	cpu_ns = end_ns != 0 ? atomic_load(&camera->cpu_end_ns) : lull_thread_cpu_ns(tid);
	steal_ns = end_ns != 0 ? atomic_load(&camera->steal_end_ns) : thread_steal_ns(camera);
	totals->wall_ns = (end_ns != 0 ? end_ns : lull_clock_ns()) - camera->started_ns;
	totals->cpu_ns = cpu_ns > camera->cpu_begin_ns ? cpu_ns - camera->cpu_begin_ns : 0;
	totals->steal_ns =
		steal_ns > camera->steal_begin_ns ? steal_ns - camera->steal_begin_ns : 0;
}

void
lull_camera_totals(struct lull_camera *camera, struct lull_camera_totals *totals)
{
	struct lull_net_exceptions beside = camera->exceptions_end;

	*totals = (struct lull_camera_totals){
		.pkts = LULL_COUNTER_READ(camera->pkts),
		.bytes = LULL_COUNTER_READ(camera->bytes),
		.unclaimed = LULL_COUNTER_READ(camera->unclaimed),
		.missed = camera->missed_end,
		.errors = LULL_COUNTER_READ(camera->errors) + atomic_load(&camera->foreign),
		.gaps_late = LULL_COUNTER_READ(camera->gaps_late),
	};
	if (camera->backend_state != NULL) {
		totals->missed = camera->backend->missed(camera->backend_state);
		if (camera->backend->unclaimed != NULL)
			totals->unclaimed += camera->backend->unclaimed(camera->backend_state);
		if (camera->backend->exceptions != NULL)
			camera->backend->exceptions(camera->backend_state, &beside);
	}
	totals->to_kernel = beside.to_kernel;
	totals->from_kernel = beside.from_kernel;
	totals->kernel_lost = beside.refused;
	thread_totals(camera, totals);
}

/* ---- source ---- */

static void
source_receive(struct lull_loop *loop, struct lull_turn *turn)
{
	struct lull_camera *camera = loop->stage_state;
	const struct lull_net_backend *backend = camera->backend;

	/* The rest since the last turn is no gap; how long a blocking one took nobody asked. */
	if (loop->woke_ns > camera->turn_ended_ns)
		camera->turn_ended_ns = backend->polled ? loop->woke_ns : 0;
	loop->queue_pkts[0] = (uint16_t)camera_receive(camera, turn->now_ns, &camera->due_ns);
	if (backend->polled && !backend->file)
		turn->calm_ns = camera_calm_ns(camera, turn->now_ns);
	if (backend->ended != NULL && backend->ended(camera->backend_state)) {
		lull_loop_end(loop);
		camera->due_ns = turn->now_ns; /* no rest any more */
	} else if (backend->file) {
		camera->due_ns = UINT64_MAX; /* by the clock of the capture, not ours */
	}
}

static void
source_begin(struct lull_loop *loop)
{
	camera_thread_begin(loop->stage_state);
}

static void
source_end(struct lull_loop *loop)
{
	camera_receive_end(loop->stage_state);
	camera_thread_end(loop->stage_state);
}

static void
source_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf)
{
	struct lull_camera *camera = loop->stage_state;

	(void)nombuf;
	pthread_mutex_lock(&camera->lock);
	*missed = camera->backend_state == NULL ? camera->missed_end :
						  camera->backend->missed(camera->backend_state);
	pthread_mutex_unlock(&camera->lock);
}

static bool
source_audit(struct lull_loop *loop, bool last, uint64_t *risen)
{
	struct lull_camera *camera = loop->stage_state;
	uint64_t missed = camera->backend->missed(camera->backend_state);

	(void)last; /* nobody shares the queue */
	*risen = missed > camera->missed_seen ? missed - camera->missed_seen : 0;
	camera->missed_seen = missed;
	return true;
}

static void
source_kick(struct lull_loop *loop)
{
	struct lull_camera *camera = loop->stage_state;

	if (camera->backend->kick == NULL)
		return;
	atomic_store(&camera->kicked, true);
	camera->backend->kick(camera->backend_state);
}

static const struct lull_loop_source thread_source = {
	.receive = source_receive,
	.begin = source_begin,
	.end = source_end,
	.audit = source_audit,
	.missed = source_missed,
	.kick = source_kick,
};

/* ---- stage ---- */

static uint64_t
stage_turn(void *state, uint64_t now_ns)
{
	const struct lull_camera *camera = state;

	(void)now_ns;
	return camera->due_ns == UINT64_MAX ? 0 : camera->due_ns;
}

#define ROW(member, shown, member_unit, text)                                                      \
	{                                                                                          \
		.name = shown, .unit = member_unit, .help = text,                                  \
		.offset = offsetof(struct lull_camera, member)                                     \
	}
static const struct lull_counter_info stage_counters[] = {
	ROW(bytes, "rx_bytes", "bytes", "payload bytes received"),
	ROW(unclaimed, "rx_unclaimed", "packets", "packets received for no stream"),
	ROW(gaps_late, "gaps_late", "1",
	    "poll iterations more than 100 us after the last one, without rests"),
	{ .name = NULL },
};

static const struct lull_stage thread_stage = {
	.name = "camera",
	.summary = "sort packets to streams, fragments to frames, frames to images",
	.turn = stage_turn,
	.counters = stage_counters,
};

/* ---- ways to rest ---- */

static int
block_probe(void *context)
{
	const struct lull_camera *camera = context;

	return camera->backend->wait != NULL && !camera->backend->polled ? 0 : -ENOTSUP;
}

static enum lull_wake_reason
block_run(void *context, uint64_t limit_ns)
{
	struct lull_camera *camera = context;
	uint64_t begin_ns = lull_clock_ns();

	camera->backend->wait(camera->backend_state, limit_ns);
	if (atomic_exchange(&camera->kicked, false))
		return LULL_WAKE_KICK;
	return lull_clock_ns() - begin_ns >= limit_ns ? LULL_WAKE_TIMER : LULL_WAKE_PACKET;
}

static const struct lull_rest_way thread_block = {
	.depth = LULL_REST_INTERRUPT,
	.summary = "the thread sleeps in the kernel until packets come",
	.probe = block_probe,
	.run = block_run,
};
static const struct lull_rest_way *const thread_block_ways[] = { &thread_block, NULL };

/* ---- limits ---- */

static struct lull_idle_limits
thread_limits(const struct lull_camera *camera, const struct lull_idle_limits *asked)
{
	struct lull_idle_limits limits = *asked;

	if (limits.ring_pkts == 0)
		limits.ring_pkts = camera->backend->ring_pkts(camera->backend_state);
	if (!camera->backend->polled) {
		/* Packets end the rest, and there is no other. */
		limits.rest_ns_max = LULL_NS_PER_S;
		limits.depths = 0;
	}
	if (camera->backend->file)
		limits.rest_ns_max = FILE_REST_NS_MAX;
	return limits;
}

/* A file hands out one packet at a time, and then there are more. */
static uint32_t
thread_burst(const struct lull_camera *camera)
{
	uint32_t asked = camera->config.limits.burst_pkts;

	if (camera->backend->file)
		return 1;
	return asked != 0 ? asked : CAMERA_BURST;
}

int
camera_thread_change(struct lull_camera *camera, const struct lull_idle_governor *governor,
		     const struct lull_idle_limits *asked)
{
	struct lull_idle_limits limits;
	int rc = 0;

	pthread_mutex_lock(&camera->lock);
	limits = asked != NULL ? *asked : camera->config.limits;
	camera->config.limits = limits;
	if (camera->looped) {
		limits = thread_limits(camera, &limits);
		limits.depths = camera->loop.limits.depths;
		rc = lull_loop_post_change(&camera->loop, governor, &limits);
	} else if (governor != NULL) {
		strcpy(camera->governor, lull_idle_governor_name(governor));
	}
	pthread_mutex_unlock(&camera->lock);
	return rc;
}

struct lull_loop *
camera_loop(struct lull_camera *camera)
{
	return camera->looped ? &camera->loop : NULL;
}

/* ---- start and stop ---- */

static void *
thread_run(void *arg)
{
	struct lull_camera *camera = arg;

	lull_loop_run(&camera->loop, &thread_source);
	return NULL;
}

static int
thread_check(const struct lull_camera *camera, const struct lull_idle_limits *limits,
	     struct lull_error *error)
{
	const uint32_t polled = LULL_REST_BIT(LULL_REST_PAUSE) | LULL_REST_BIT(LULL_REST_SLEEP);
	char text[LULL_RANGE_TEXT];
	struct lull_range wrong;

	if (lull_idle_config_check(limits, &wrong) != 0)
		return lull_error_set(error, -EINVAL, "%s",
				      lull_range_print(&wrong, text, sizeof(text)));
	if (camera->backend->polled && limits->depths != 0 && (limits->depths & polled) == 0)
		return lull_error_set(error, -EINVAL, "depths: this thread can pause and sleep");
	return 0;
}

static int
thread_loop(struct lull_camera *camera, struct lull_error *error)
{
	const bool polled = camera->backend->polled;
	const struct lull_loop_parts parts = {
		.name = "cam0",
		.kind = "camera",
		.thread = "lull-camera",
		.cpu = camera->config.cpu - 1,
		.burst_pkts = thread_burst(camera),
		.source = &thread_source,
		.stage = &thread_stage,
		.stage_state = camera,
		.ways = polled ? lull_loop_ways : thread_block_ways,
		.way_context = camera,
		.governor =
			polled ? lull_idle_governor_find(camera->governor) : &lull_loop_blocking,
		.limits = thread_limits(camera, &camera->config.limits),
		.sched_policy = camera->config.sched_policy,
		/* A file is in no hurry. */
		.no_class = camera->backend->file,
		.idle_memory = camera->idle_memory,
	};
	int rc = thread_check(camera, &parts.limits, error);

	if (rc != 0)
		return rc;
	rc = lull_loop_init(&camera->loop, &parts);
	camera->looped = true;
	return rc == 0 ? 0 :
			 lull_error_set(error, rc, "cannot make the receiving loop: %s",
					strerror(-rc));
}

static int
thread_pin(struct lull_camera *camera, pthread_attr_t *attr, struct lull_error *error)
{
	int cpu = camera->config.cpu - 1;
	cpu_set_t wanted, allowed;

	if (cpu < 0)
		return 0;
	if (cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(allowed), &allowed) != 0 ||
	    !CPU_ISSET((unsigned int)cpu, &allowed))
		return lull_error_set(error, -EINVAL, "cpu: %d is not available to this process",
				      cpu);
	CPU_ZERO(&wanted);
	CPU_SET((unsigned int)cpu, &wanted);
	return -pthread_attr_setaffinity_np(attr, sizeof(wanted), &wanted);
}

int
camera_thread_start(struct lull_camera *camera, struct lull_error *error)
{
	size_t size = (lull_idle_size() + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);
	pthread_attr_t attr;
	int rc;

	if (camera->config.own_loop)
		return 0;
	camera->idle_memory = aligned_alloc(LULL_CACHE_LINE, size);
	if (camera->idle_memory == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the thread");
	rc = thread_loop(camera, error);
	if (rc != 0) {
		camera_thread_free(camera);
		return rc;
	}
	pthread_attr_init(&attr);
	rc = thread_pin(camera, &attr, error);
	if (rc == 0) {
		rc = -pthread_create(&camera->thread, &attr, thread_run, camera);
		camera->thread_runs = rc == 0;
		if (rc != 0)
			lull_error_set(error, rc, "no thread: %s", strerror(-rc));
		else
			pthread_setname_np(camera->thread, camera->loop.thread);
	}
	pthread_attr_destroy(&attr);
	if (rc != 0)
		camera_thread_free(camera);
	return rc;
}

void
camera_thread_stop(struct lull_camera *camera)
{
	if (!camera->thread_runs)
		return;
	lull_loop_end(&camera->loop);
	pthread_join(camera->thread, NULL);
	camera->thread_runs = false;
}

void
camera_thread_free(struct lull_camera *camera)
{
	if (camera->looped)
		lull_loop_fini(&camera->loop);
	camera->looped = false;
	free(camera->idle_memory);
	camera->idle_memory = NULL;
}
