/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving thread: turns and rests. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "receiver.h"

/* A blocking wait ends at the latest then: the clock of the machine may be set, a signal lost. */
#define WAIT_NS_MAX LULL_NS_PER_S
/* It ends late by about so much: what is due is polled for then, instead of slept past. */
#define WAIT_LATE_NS (60 * LULL_NS_PER_US)
/* A file that must wait for the application looks so often. */
#define FILE_WAIT_US 50

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
	if (camera->class != NULL)
		lull_rest_thread_enter(camera->class, 0);
	atomic_store(&camera->tid, tid);
	lull_rest_thread_init();
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
	if (camera->class != NULL)
		lull_rest_thread_leave(camera->class);
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

/* ---- resting ---- */

static struct lull_idle_limits
thread_limits(const struct lull_camera *camera, const struct lull_idle_limits *asked)
{
	struct lull_idle_limits limits = *asked;

	if (limits.ring_pkts == 0)
		limits.ring_pkts = camera->backend->ring_pkts(camera->backend_state);
	if (limits.burst_pkts == 0)
		limits.burst_pkts = CAMERA_BURST;
	return limits;
}

static void
thread_change(struct lull_camera *camera)
{
	struct lull_idle_limits limits;

	pthread_mutex_lock(&camera->lock);
	limits = thread_limits(camera, &camera->change_limits);
	limits.depths = lull_idle_limits(camera->idle)->depths;
	lull_idle_change(camera->idle, camera->change_governor, &limits);
	atomic_store(&camera->change_asked, false);
	pthread_mutex_unlock(&camera->lock);
}

static void
thread_rest(struct lull_camera *camera, uint64_t now_ns, uint32_t count, uint64_t due_ns)
{
	uint16_t pkts = (uint16_t)count;
	struct lull_turn turn = {
		.now_ns = now_ns,
		.deadline_ns = due_ns == UINT64_MAX ? 0 : due_ns,
		.queue_pkts = &pkts,
		.queue_count = 1,
		.calm_ns = camera_calm_ns(camera, now_ns),
	};
	struct lull_rest rest;
	struct lull_wake wake;

	if (atomic_load_explicit(&camera->change_asked, memory_order_relaxed))
		thread_change(camera);
	if (lull_rest_thread_changes(camera->class) != camera->class_changes) {
		camera->class_changes = lull_rest_thread_changes(camera->class);
		lull_idle_forget(camera->idle);
	}
	rest = lull_idle_plan(camera->idle, &turn);
	if (rest.depth == LULL_REST_NONE)
		return;
	lull_rest_run(rest.depth == LULL_REST_PAUSE ? &lull_rest_pause : &lull_rest_sleep_timer,
		      NULL, &rest, &wake);
	lull_idle_wake(camera->idle, &wake);
	camera->turn_ended_ns = wake.end_ns;
}

static void
thread_wait(struct lull_camera *camera, uint64_t due_ns)
{
	uint64_t now_ns = lull_clock_ns();
	uint64_t limit_ns = due_ns > now_ns ? due_ns - now_ns : 0;

	if (limit_ns > 0) {
		limit_ns -= LULL_MIN(limit_ns, WAIT_LATE_NS);
		camera->backend->wait(camera->backend_state, LULL_MIN(limit_ns, WAIT_NS_MAX));
		LULL_COUNTER_ADD(camera->waits, 1);
	}
	camera->turn_ended_ns = 0;
}

static bool
thread_turn(struct lull_camera *camera)
{
	const struct lull_net_backend *backend = camera->backend;
	uint64_t now_ns = lull_clock_ns(), due_ns;
	uint32_t count = camera_receive(camera, now_ns, &due_ns);

	if (backend->ended != NULL && backend->ended(camera->backend_state))
		return false;
	if (backend->file) {
		if (count == 0)
			usleep(FILE_WAIT_US);
	} else if (backend->polled) {
		thread_rest(camera, now_ns, count, due_ns);
	} else if (count == 0) {
		thread_wait(camera, due_ns);
	}
	return true;
}

static void *
thread_run(void *arg)
{
	struct lull_camera *camera = arg;

	camera_thread_begin(camera);
	while (!atomic_load_explicit(&camera->stop, memory_order_relaxed) && thread_turn(camera))
		continue;
	camera_receive_end(camera);
	camera_thread_end(camera);
	return NULL;
}

/* ---- start and stop ---- */

static int
thread_idle(struct lull_camera *camera, char *error)
{
	struct lull_idle_limits limits = thread_limits(camera, &camera->config.limits);
	char text[LULL_RANGE_TEXT];
	struct lull_range wrong;

	if (!camera->backend->polled || camera->config.own_loop)
		return 0;
	if (lull_idle_config_check(&limits, &wrong) != 0)
		return camera_error(error, -EINVAL, "%s",
				    lull_range_print(&wrong, text, sizeof(text)));
	return lull_idle_create(camera->governor, &limits, &camera->idle);
}

/* Its class is ours to choose as far as the thread is ours. */
static int
thread_class(struct lull_camera *camera)
{
	const struct lull_rest_thread_config config = {
		.policy = camera->config.sched_policy,
		.latency_ns = camera->config.limits.latency_ns,
		.rests = camera->idle == NULL ? &camera->waits : NULL,
	};

	if (camera->backend->file)
		return 0;
	return lull_rest_thread_create(camera->idle, &config, &camera->class);
}

static int
thread_pin(struct lull_camera *camera, pthread_attr_t *attr, char *error)
{
	int cpu = camera->config.cpu - 1;
	cpu_set_t wanted, allowed;

	if (cpu < 0)
		return 0;
	if (cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(allowed), &allowed) != 0 ||
	    !CPU_ISSET((unsigned int)cpu, &allowed))
		return camera_error(error, -EINVAL, "cpu: %d is not available to this process",
				    cpu);
	CPU_ZERO(&wanted);
	CPU_SET((unsigned int)cpu, &wanted);
	return -pthread_attr_setaffinity_np(attr, sizeof(wanted), &wanted);
}

int
camera_thread_start(struct lull_camera *camera, char *error)
{
	pthread_attr_t attr;
	int rc = thread_idle(camera, error);

	if (rc != 0 || camera->config.own_loop)
		return rc;
	rc = thread_class(camera);
	if (rc != 0)
		return camera_error(error, rc, "no memory for the thread");
	pthread_attr_init(&attr);
	rc = thread_pin(camera, &attr, error);
	if (rc == 0) {
		rc = -pthread_create(&camera->thread, &attr, thread_run, camera);
		camera->thread_runs = rc == 0;
		if (rc != 0)
			camera_error(error, rc, "no thread: %s", strerror(-rc));
		else
			pthread_setname_np(camera->thread, "lull-camera");
	}
	pthread_attr_destroy(&attr);
	return rc;
}

void
camera_thread_stop(struct lull_camera *camera)
{
	atomic_store(&camera->stop, true);
	if (!camera->thread_runs)
		return;
	if (camera->backend->kick != NULL)
		camera->backend->kick(camera->backend_state);
	pthread_join(camera->thread, NULL);
	camera->thread_runs = false;
}
