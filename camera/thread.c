/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving thread: a source and a stage of the one loop. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "host/loop_run.h"
#include "host/loop_thread.h"
#include "receiver.h"
#include "telemetry.h"

/* A capture that waits for the application looks so often for what that has put back. */
#define FILE_REST_NS_MAX (50 * LULL_NS_PER_US)

/* ---- source ---- */

static void
source_receive(struct lull_loop *loop, struct lull_iteration *iteration)
{
	struct lull_receiver *receiver = loop->stage_state;
	const struct lull_net_backend *backend = receiver->backend;

	/*
	 * The rest since the last iteration is no gap; how long a blocking one took nobody asked.
	 */
	if (loop->woke_ns > receiver->iteration_ended_ns)
		receiver->iteration_ended_ns = backend->polled ? loop->woke_ns : 0;
	loop->queue_pkts[0] =
		(uint16_t)camera_receive(receiver, iteration->now_ns, &receiver->due_ns);
	if (backend->polled && !backend->file)
		iteration->quiet_until_ns = camera_quiet_until_ns(receiver, iteration->now_ns);
	if (backend->ended != NULL && backend->ended(receiver->backend_state)) {
		lull_loop_end(loop);
		receiver->due_ns = iteration->now_ns; /* no rest any more */
	} else if (backend->file) {
		receiver->due_ns = UINT64_MAX; /* by the clock of the capture, not ours */
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
	struct lull_receiver *receiver = loop->stage_state;

	(void)nombuf;
	pthread_mutex_lock(&receiver->state_lock);
	*missed = receiver->backend_state == NULL ?
			  receiver->missed_end :
			  receiver->backend->missed(receiver->backend_state);
	pthread_mutex_unlock(&receiver->state_lock);
}

static void
source_audit(struct lull_loop *loop, bool last, struct lull_loss_charge *charge)
{
	struct lull_receiver *receiver = loop->stage_state;
	uint64_t missed = receiver->backend->missed(receiver->backend_state);
	uint64_t risen = missed > receiver->missed_seen ? missed - receiver->missed_seen : 0;
	uint64_t now_ns = lull_clock_ns();

	(void)last; /* nobody shares the queue */
	if (lull_idle_suspects(loop->idle, receiver->missed_seen_ns, now_ns))
		charge->rests += risen;
	else
		charge->others += risen;
	receiver->missed_seen = missed;
	receiver->missed_seen_ns = now_ns;
}

static void
thread_kick(struct lull_receiver *receiver)
{
	if (receiver->backend->kick == NULL)
		return;
	atomic_store(&receiver->kicked, true);
	receiver->backend->kick(receiver->backend_state);
}

static void
source_kick(struct lull_loop *loop)
{
	thread_kick(loop->stage_state);
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

/* With config direct, all on one thread: is there an image for who asked? */
static bool
direct_has(const struct lull_receiver *receiver)
{
	if (camera_images_stopped(receiver, receiver->wanted))
		return true; /* there will be none */
	if (receiver->wanted == LULL_CAMERA_ANY)
		return receiver->ready_count > 0;
	return receiver->streams[receiver->wanted]->ready.count > 0;
}

static uint64_t
stage_iterate(void *state, uint64_t now_ns)
{
	const struct lull_receiver *receiver = state;
	uint64_t due_ns = receiver->due_ns;

	if (receiver->direct_runs)
		due_ns = direct_has(receiver) ? now_ns : LULL_MIN(due_ns, receiver->until_ns);
	return due_ns == UINT64_MAX ? 0 : due_ns;
}

#define ROW(member, shown, member_unit, text)                                                      \
	{                                                                                          \
		.name = shown, .unit = member_unit, .help = text,                                  \
		.offset = offsetof(struct lull_receiver, member)                                   \
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
	.iterate = stage_iterate,
	.counters = stage_counters,
};

/* ---- ways to rest ---- */

static int
block_probe(void *context)
{
	const struct lull_receiver *receiver = context;

	return receiver->backend->wait != NULL && !receiver->backend->polled ? 0 : -ENOTSUP;
}

static enum lull_wake_reason
block_run(void *context, uint64_t limit_ns)
{
	struct lull_receiver *receiver = context;
	uint64_t begin_ns = lull_clock_ns();

	receiver->backend->wait(receiver->backend_state, limit_ns);
	if (atomic_exchange(&receiver->kicked, false))
		return LULL_WAKE_KICK;
	return lull_clock_ns() - begin_ns >= limit_ns ? LULL_WAKE_TIMER : LULL_WAKE_PACKET;
}

static const struct lull_rest_way thread_block = {
	.idle_state = LULL_IDLE_INTERRUPT,
	.summary = "the thread sleeps in the kernel until packets come",
	.probe = block_probe,
	.run = block_run,
};
static const struct lull_rest_way *const thread_block_ways[] = { &thread_block, NULL };

/* ---- limits ---- */

static struct lull_idle_limits
thread_limits(const struct lull_receiver *receiver, const struct lull_idle_limits *asked)
{
	struct lull_idle_limits limits = *asked;

	if (limits.ring_pkts == 0)
		limits.ring_pkts = receiver->backend->ring_pkts(receiver->backend_state);
	if (!receiver->backend->polled) {
		/* Packets end the rest, and there is no other. */
		limits.rest_ns_max = LULL_NS_PER_S;
		limits.idle_states = 0;
	}
	if (receiver->backend->file)
		limits.rest_ns_max = FILE_REST_NS_MAX;
	return limits;
}

/* A file hands out one packet at a time, and then there are more. */
static uint32_t
thread_burst(const struct lull_receiver *receiver)
{
	uint32_t asked = receiver->config.limits.burst_pkts;

	if (receiver->backend->file)
		return 1;
	return asked != 0 ? asked : CAMERA_BURST;
}

int
camera_thread_change(struct lull_receiver *receiver, const struct lull_idle_governor *governor,
		     const struct lull_idle_limits *asked)
{
	struct lull_idle_limits limits;
	int rc = 0;

	camera_read_begin(receiver);
	if (receiver->backend_state == NULL) {
		camera_read_end(receiver);
		return -ENODEV;
	}
	limits = asked != NULL ? *asked : receiver->config.limits;
	receiver->config.limits = limits;
	if (receiver->looped) {
		limits = thread_limits(receiver, &limits);
		limits.idle_states = receiver->loop.limits.idle_states;
		rc = lull_loop_post_change(&receiver->loop, governor, &limits);
	} else if (governor != NULL) {
		strcpy(receiver->governor, lull_idle_governor_name(governor));
	}
	camera_read_end(receiver);
	return rc;
}

struct lull_loop *
camera_loop(struct lull_receiver *receiver)
{
	return receiver->looped ? &receiver->loop : NULL;
}

/* ---- start and stop ---- */

static void *
thread_run(void *arg)
{
	struct lull_receiver *receiver = arg;

	lull_loop_run(&receiver->loop, &thread_source);
	return NULL;
}

static int
thread_check(const struct lull_receiver *receiver, const struct lull_idle_limits *limits,
	     struct lull_error *error)
{
	const uint32_t polled =
		LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) | LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP);
	char text[LULL_RANGE_TEXT];
	struct lull_range wrong;

	if (lull_idle_config_check(limits, &wrong) != 0)
		return lull_error_set(error, -EINVAL, "%s",
				      lull_range_print(&wrong, text, sizeof(text)));
	if (receiver->backend->polled && limits->idle_states != 0 &&
	    (limits->idle_states & polled) == 0)
		return lull_error_set(error, -EINVAL,
				      "idle_states: this thread can pause and sleep");
	return 0;
}

/* With the lock: settings may be changed meanwhile. */
static int
thread_loop(struct lull_receiver *receiver, struct lull_error *error)
{
	const bool polled = receiver->backend->polled;
	const struct lull_loop_parts parts = {
		.name = "cam0",
		.kind = "camera",
		.thread = receiver->config.direct ? "application" : "lull-camera",
		.cpu = receiver->config.cpu - 1,
		.burst_pkts = thread_burst(receiver),
		.source = &thread_source,
		.stage = &thread_stage,
		.stage_state = receiver,
		.ways = polled ? lull_loop_ways : thread_block_ways,
		.way_context = receiver,
		.governor =
			polled ? lull_idle_governor_find(receiver->governor) : &lull_loop_blocking,
		.limits = thread_limits(receiver, &receiver->config.limits),
		.sched_policy = receiver->config.sched_policy,
		.cpu_latency_ns = receiver->config.cpu_latency_ns,
		/* A file is in no hurry. */
		.no_class = receiver->backend->file,
		.idle_memory = receiver->idle_memory,
	};
	int rc = thread_check(receiver, &parts.limits, error);

	if (rc != 0)
		return rc;
	rc = lull_loop_init(&receiver->loop, &parts);
	receiver->looped = true;
	return rc == 0 ? 0 :
			 lull_error_set(error, rc, "cannot make the receiving loop: %s",
					strerror(-rc));
}

/* ---- direct: the application's thread ---- */

bool
camera_in_callback(const struct lull_receiver *receiver)
{
	return atomic_load(&receiver->tid) != 0 && pthread_equal(receiver->self, pthread_self()) &&
	       receiver->iterating;
}

bool
camera_direct_is_here(const struct lull_receiver *receiver)
{
	return receiver->direct_runs && pthread_equal(receiver->self, pthread_self());
}

static void
direct_stop(struct lull_receiver *receiver)
{
	lull_loop_finish(&receiver->loop, lull_clock_ns());
	receiver->direct_runs = false;
	if (receiver->moved)
		(void)sched_setaffinity(0, sizeof(receiver->cpus), &receiver->cpus);
	receiver->moved = false;
}

uint64_t
camera_direct_iterate(struct lull_receiver *receiver, uint32_t stream, uint64_t now_ns,
		      uint64_t until_ns)
{
	receiver->wanted = stream;
	receiver->until_ns = until_ns;
	now_ns = lull_loop_iterate(&receiver->loop, &thread_source, now_ns);
	if (__atomic_load_n(&receiver->loop.stop, __ATOMIC_RELAXED))
		direct_stop(receiver);
	return now_ns;
}

/* Who closes waits for those who kick, and no signal handler for anybody. */
void
camera_direct_kick(struct lull_receiver *receiver)
{
	atomic_fetch_add(&receiver->kickers, 1);
	if (!atomic_load(&receiver->kickless))
		thread_kick(receiver);
	atomic_fetch_sub(&receiver->kickers, 1);
}

static int
direct_move(struct lull_receiver *receiver, struct lull_error *error)
{
	int cpu = receiver->config.cpu - 1;
	cpu_set_t wanted;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&wanted);
	if (cpu < CPU_SETSIZE)
		CPU_SET((unsigned int)cpu, &wanted);
	if (sched_getaffinity(0, sizeof(receiver->cpus), &receiver->cpus) != 0 ||
	    sched_setaffinity(0, sizeof(wanted), &wanted) != 0)
		return lull_error_set(error, -EINVAL, "cpu: %d is not available to this process",
				      cpu);
	receiver->moved = true;
	return 0;
}

static int
direct_start(struct lull_receiver *receiver, struct lull_error *error)
{
	int rc = direct_move(receiver, error);

	if (rc != 0)
		return rc;
	(void)lull_loop_begin(&receiver->loop);
	receiver->direct_runs = true;
	return 0;
}

static int
thread_create(struct lull_receiver *receiver, struct lull_error *error)
{
	int rc = lull_loop_thread_create(&receiver->thread, &receiver->loop, thread_run, receiver,
					 error);

	receiver->thread_runs = rc == 0;
	return rc;
}

int
camera_thread_start(struct lull_receiver *receiver, struct lull_error *error)
{
	int rc;

	if (receiver->config.own_loop)
		return 0;
	receiver->idle_memory = lull_loop_memory();
	if (receiver->idle_memory == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the thread");
	pthread_mutex_lock(&receiver->state_lock);
	rc = thread_loop(receiver, error);
	pthread_mutex_unlock(&receiver->state_lock);
	if (rc == 0)
		rc = receiver->config.direct ? direct_start(receiver, error) :
					       thread_create(receiver, error);
	if (rc != 0)
		camera_thread_free(receiver);
	return rc;
}

void
camera_thread_stop(struct lull_receiver *receiver)
{
	if (receiver->direct_runs)
		direct_stop(receiver);
	if (!receiver->thread_runs)
		return;
	lull_loop_end(&receiver->loop);
	pthread_join(receiver->thread, NULL);
	receiver->thread_runs = false;
}

void
camera_thread_free(struct lull_receiver *receiver)
{
	bool looped;

	pthread_mutex_lock(&receiver->state_lock);
	looped = receiver->looped;
	receiver->looped = false;
	pthread_mutex_unlock(&receiver->state_lock);
	if (looped)
		lull_loop_fini(&receiver->loop);
	free(receiver->idle_memory);
	receiver->idle_memory = NULL;
}
