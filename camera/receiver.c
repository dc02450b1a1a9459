/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "control.h"
#include "host/error.h"
#include "receiver.h"
#include "sized.h"

#define GOVERNOR "phase"
#define PROGRAM "lull-camera"
#define CLOSE_WAIT_US 100
/* Of 0.1. Once that is out: the offset behind its last member. */
#define CONFIG_BYTES_FIRST sizeof(struct lull_receiver_config)
#define FINDINGS_MAX 128

_Static_assert(LULL_CAMERA_STREAMS_MAX <= LULL_NET_CLAIMS_MAX, "a claim for each stream");

/* ---- open ---- */

static int
camera_choose(struct lull_receiver *receiver, const char *text, struct lull_error *error)
{
	static const enum lull_camera_clock clocks[] = {
		[LULL_NET_CLOCK_NONE] = LULL_CAMERA_CLOCK_NONE,
		[LULL_NET_CLOCK_KERNEL] = LULL_CAMERA_CLOCK_KERNEL,
		[LULL_NET_CLOCK_POLL] = LULL_CAMERA_CLOCK_POLL,
		[LULL_NET_CLOCK_FILE] = LULL_CAMERA_CLOCK_FILE,
	};
	static const enum lull_camera_origin origins[] = {
		[LULL_NET_CLOCK_NONE] = LULL_CAMERA_ORIGIN_BOUND,
		[LULL_NET_CLOCK_KERNEL] = LULL_CAMERA_ORIGIN_KERNEL,
		[LULL_NET_CLOCK_POLL] = LULL_CAMERA_ORIGIN_BOUND,
		[LULL_NET_CLOCK_FILE] = LULL_CAMERA_ORIGIN_READ,
	};
	const char *argument;
	int rc = lull_net_choose(text, &receiver->backend, &argument, error);

	if (rc != 0)
		return rc;
	if (receiver->backend->receive == NULL)
		return lull_error_set(error, -EINVAL, "backend: '%s' only sends", text);
	if (strlen(argument) >= sizeof(receiver->argument))
		return lull_error_set(error, -EINVAL, "backend: '%s' is too long", text);
	strcpy(receiver->argument, argument);
	receiver->clock = clocks[receiver->backend->clock];
	receiver->origin = origins[receiver->backend->clock];
	return 0;
}

/* Sockets or port. */
static int
camera_open_backend(struct lull_receiver *receiver, struct lull_error *error)
{
	const struct lull_receiver_config *config = &receiver->config;
	const struct lull_net_config net = {
		.program = receiver->program,
		.eal = config->eal,
		.socket_bytes = config->socket_bytes,
		.ring_pkts = config->ring_pkts,
		.mtu = config->mtu,
		.sums = true,
		.own_loop = config->own_loop,
		.unchecked = config->unchecked,
	};

	return receiver->backend->open(&net, receiver->argument, &receiver->backend_state, error);
}

static int
camera_configure(struct lull_receiver *receiver, const struct lull_receiver_config *given,
		 struct lull_error *error)
{
	const struct lull_receiver_config *config = &receiver->config;
	const char *governor;
	int rc = camera_sized_copy(&receiver->config, sizeof(receiver->config), CONFIG_BYTES_FIRST,
				   given, "config", error);

	if (rc != 0)
		return rc;
	governor = config->governor != NULL ? config->governor : GOVERNOR;
	snprintf(receiver->program, sizeof(receiver->program), "%s",
		 config->program != NULL ? config->program : PROGRAM);
	receiver->config.program = receiver->program;
	if (lull_idle_governor_find(governor) == NULL)
		return lull_error_set(error, -EINVAL, "governor: '%s' does not exist", governor);
	snprintf(receiver->governor, sizeof(receiver->governor), "%s", governor);
	receiver->config.governor = receiver->governor;
	if (config->backend == NULL)
		return lull_error_set(error, -EINVAL,
				      "backend: missing; name one, such as "
				      "kernel:eth0");
	if (config->direct && config->own_loop)
		return lull_error_set(error, -EINVAL,
				      "direct and own_loop: one of them says who receives");
	return camera_choose(receiver, config->backend, error);
}

/*
 * The receiving thread may be of a real-time class, and who holds a lock an ordinary thread that
 * others keep from the CPU: it then runs at the receiving thread's priority until it lets go.
 */
static void
camera_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t inherits;

	pthread_mutexattr_init(&inherits);
	pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &inherits);
	pthread_mutexattr_destroy(&inherits);
}

static void
camera_free(struct lull_receiver *receiver)
{
	for (uint32_t i = 0; i < receiver->stream_count; i++)
		camera_stream_destroy(receiver->streams[i]);
	camera_thread_free(receiver);
	if (receiver->event_fd >= 0)
		close(receiver->event_fd);
	pthread_mutex_destroy(&receiver->state_lock);
	pthread_mutex_destroy(&receiver->lock);
	free(receiver);
}

int
lull_receiver_open(const struct lull_receiver_config *config, struct lull_receiver **out,
		   struct lull_error *error)
{
	size_t size = (sizeof(struct lull_receiver) + LULL_CACHE_LINE - 1) &
		      ~(size_t)(LULL_CACHE_LINE - 1);
	struct lull_receiver *receiver = aligned_alloc(LULL_CACHE_LINE, size);
	int rc;

	*out = NULL;
	if (receiver == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a camera");
	memset(receiver, 0, size);
	camera_lock_init(&receiver->lock);
	camera_lock_init(&receiver->state_lock);
	atomic_store(&receiver->cpu, -1);
	receiver->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	rc = receiver->event_fd < 0 ?
		     lull_error_set(error, -errno, "no eventfd: %s", strerror(errno)) :
		     camera_configure(receiver, config, error);
	if (rc == 0)
		rc = camera_open_backend(receiver, error);
	if (rc != 0) {
		camera_free(receiver);
		return rc;
	}
	*out = receiver;
	return 0;
}

/* ---- streams ---- */

/* Hang it behind the last stream with the same port or ether type. */
static void
camera_chain(struct lull_receiver *receiver, struct camera_stream *stream)
{
	struct camera_stream *last = NULL;

	for (uint32_t i = 0; i < receiver->stream_count; i++) {
		struct camera_stream *other = receiver->streams[i];

		if (other->claim.ethernet == stream->claim.ethernet &&
		    other->claim.ether_type == stream->claim.ether_type &&
		    other->claim.port == stream->claim.port)
			last = other;
	}
	stream->claim.first = last != NULL ? last->claim.first : stream->claim.index;
	if (last != NULL)
		last->next = stream->claim.index + 1;
}

int
lull_receiver_stream_add(struct lull_receiver *receiver, const struct lull_camera_stream *config,
			 struct lull_error *error)
{
	struct camera_stream *stream;
	int rc;

	if (receiver->started)
		return lull_error_set(error, -EBUSY,
				      "the receiver has been started: add streams "
				      "before");
	if (receiver->stream_count == LULL_CAMERA_STREAMS_MAX)
		return lull_error_set(error, -ENOSPC, "streams: more than %d",
				      LULL_CAMERA_STREAMS_MAX);
	rc = camera_stream_create(receiver, config, &stream, error);
	if (rc != 0)
		return rc;
	stream->claim.first = stream->claim.index;
	/* Without a port the back end chooses: nobody else is on that one. */
	if (stream->claim.port != 0 || stream->claim.ethernet)
		camera_chain(receiver, stream);
	pthread_mutex_lock(&receiver->state_lock);
	rc = receiver->backend->claim(receiver->backend_state, &stream->claim, error);
	if (rc == 0) {
		receiver->streams[receiver->stream_count] = stream;
		__atomic_store_n(&receiver->stream_count, receiver->stream_count + 1,
				 __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&receiver->state_lock);
	if (rc != 0) {
		for (uint32_t i = 0; i < receiver->stream_count; i++)
			if (receiver->streams[i]->next == stream->claim.index + 1)
				receiver->streams[i]->next = 0;
		camera_stream_destroy(stream);
		return rc;
	}
	return (int)stream->claim.index;
}

const char *
lull_receiver_stream_name(struct lull_receiver *receiver, uint32_t stream)
{
	return stream < camera_stream_count(receiver) ? receiver->streams[stream]->name : NULL;
}

uint32_t
lull_receiver_stream_count(struct lull_receiver *receiver)
{
	return camera_stream_count(receiver);
}

/* ---- start ---- */

static int
camera_start_checked(struct lull_receiver *receiver, struct lull_error *error)
{
	static const char *const no_remedy = "";
	struct lull_finding *lines = calloc(FINDINGS_MAX, sizeof(*lines));
	uint32_t count;
	int rc = 0;

	if (lines == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the self-check");
	count = LULL_MIN(lull_receiver_check(receiver, lines, FINDINGS_MAX), FINDINGS_MAX);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		if (lines[i].grade == LULL_GRADE_WRONG)
			rc = lull_error_set(error, -EPERM, "%s: %.120s%s%.100s", lines[i].subject,
					    lines[i].text, lines[i].remedy[0] ? "; " : no_remedy,
					    lines[i].remedy);
	free(lines);
	return rc;
}

static int
camera_start_backend(struct lull_receiver *receiver, struct lull_error *error)
{
	int rc;

	pthread_mutex_lock(&receiver->state_lock);
	rc = receiver->backend->start(receiver->backend_state, error);
	pthread_mutex_unlock(&receiver->state_lock);
	return rc;
}

static int
camera_controls(struct lull_receiver *receiver, struct lull_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < receiver->stream_count; i++)
		if (receiver->streams[i]->config.control != NULL)
			rc = camera_control_start(receiver->streams[i], error);
	return rc;
}

static void
camera_release(struct lull_receiver *receiver)
{
	for (uint32_t i = 0; i < receiver->stream_count; i++) {
		struct camera_stream *stream = receiver->streams[i];
		struct camera_control *control = stream->control;

		if (control == NULL)
			continue;
		/* Counters may be read until the last close. */
		pthread_mutex_lock(&receiver->state_lock);
		camera_control_count(control, &stream->counters);
		stream->control = NULL;
		pthread_mutex_unlock(&receiver->state_lock);
		camera_control_stop(control);
	}
}

int
lull_receiver_start(struct lull_receiver *receiver, struct lull_error *error)
{
	int rc = 0;

	if (receiver->started)
		return lull_error_set(error, -EALREADY, "the receiver has been started already");
	if (receiver->stream_count == 0)
		return lull_error_set(error, -EINVAL, "no stream: add one before the start");
	if (!receiver->config.unchecked)
		rc = camera_start_checked(receiver, error);
	if (rc == 0)
		rc = camera_start_backend(receiver, error);
	if (rc == 0)
		rc = camera_controls(receiver, error);
	if (rc == 0)
		rc = camera_thread_start(receiver, error);
	if (rc != 0) {
		camera_release(receiver);
		return rc;
	}
	receiver->started = true;
	return 0;
}

uint32_t
lull_receiver_poll(struct lull_receiver *receiver, uint64_t now_ns, uint64_t *rest_until_ns)
{
	const struct lull_net_backend *backend = receiver->backend;
	uint32_t count;

	*rest_until_ns = UINT64_MAX;
	if (!receiver->started || atomic_load(&receiver->ended))
		return 0;
	if (atomic_load(&receiver->tid) == 0)
		camera_thread_begin(receiver);
	count = camera_receive(receiver, now_ns, rest_until_ns);
	if (backend->ended != NULL && backend->ended(receiver->backend_state))
		camera_receive_end(receiver);
	return count;
}

int
lull_receiver_change(struct lull_receiver *receiver, const char *governor,
		     const struct lull_idle_limits *limits)
{
	const struct lull_idle_governor *found = NULL;

	if (!receiver->backend->polled || receiver->config.own_loop)
		return -ENOTSUP;
	if (governor != NULL && (found = lull_idle_governor_find(governor)) == NULL)
		return -EINVAL;
	if (limits != NULL && lull_idle_config_check(limits, NULL) != 0)
		return -EINVAL;
	return camera_thread_change(receiver, found, limits);
}

/* With the lock. */
static bool
camera_has_class(const struct lull_receiver *receiver)
{
	return receiver->looped && receiver->loop.class != NULL;
}

int
lull_receiver_change_class(struct lull_receiver *receiver, enum lull_sched_policy policy)
{
	bool has;

	camera_read_begin(receiver);
	has = camera_has_class(receiver);
	if (has)
		lull_loop_change_class(&receiver->loop, policy);
	camera_read_end(receiver);
	return has ? 0 : -ENOTSUP;
}

int
lull_receiver_change_cpu_latency(struct lull_receiver *receiver, uint64_t cpu_latency_ns)
{
	bool has;

	camera_read_begin(receiver);
	has = camera_has_class(receiver);
	if (has)
		lull_loop_change_cpu_latency(&receiver->loop, cpu_latency_ns);
	camera_read_end(receiver);
	return has ? 0 : -ENOTSUP;
}

int
lull_receiver_class(struct lull_receiver *receiver, struct lull_rest_thread_info *info, char *text,
		    size_t size)
{
	bool has;

	camera_read_begin(receiver);
	has = camera_has_class(receiver);
	if (has) {
		lull_loop_class(&receiver->loop, info);
		lull_loop_class_explain(&receiver->loop, text, size);
	}
	camera_read_end(receiver);
	return has ? 0 : -ENOTSUP;
}

/* ---- close ---- */

static void
camera_stop(struct lull_receiver *receiver)
{
	const struct lull_net_backend *backend = receiver->backend;

	receiver->closed = true;
	camera_thread_stop(receiver);
	if (receiver->started && receiver->config.own_loop && !atomic_load(&receiver->ended)) {
		camera_receive_end(receiver);
		if (atomic_load(&receiver->tid) != 0)
			camera_thread_end(receiver);
	}
	camera_release(receiver);
	camera_images_end(receiver);
	atomic_store(&receiver->kickless, true);
	while (atomic_load(&receiver->kickers) > 0)
		usleep(CLOSE_WAIT_US);
	/* Counters may be read until the last close. */
	pthread_mutex_lock(&receiver->state_lock);
	receiver->missed_end = backend->missed(receiver->backend_state);
	if (backend->unclaimed != NULL)
		LULL_COUNTER_ADD(receiver->unclaimed, backend->unclaimed(receiver->backend_state));
	if (backend->exceptions != NULL)
		backend->exceptions(receiver->backend_state, &receiver->exceptions_end);
	if (backend->damaged != NULL)
		backend->damaged(receiver->backend_state, &receiver->damaged_end);
	backend->close(receiver->backend_state);
	receiver->backend_state = NULL;
	pthread_mutex_unlock(&receiver->state_lock);
}

int
lull_receiver_close(struct lull_receiver *receiver)
{
	if (receiver == NULL)
		return 0;
	if (camera_in_callback(receiver))
		return -EDEADLK;
	if (receiver->direct_runs && !camera_direct_is_here(receiver))
		return -EPERM;
	if (!receiver->closed)
		camera_stop(receiver);
	if (camera_images_out(receiver) > 0)
		return -EBUSY;
	/* Who still waits for an image has been woken and is about to leave; who reads, too. */
	while (atomic_load(&receiver->waiters) + atomic_load(&receiver->readers) > 0)
		usleep(CLOSE_WAIT_US);
	camera_free(receiver);
	return 0;
}
