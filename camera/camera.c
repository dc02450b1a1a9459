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

#define GOVERNOR "phase"
#define PROGRAM "lull-camera"
#define CLOSE_WAIT_US 100
#define FINDINGS_MAX 128

_Static_assert(LULL_CAMERA_STREAMS_MAX <= LULL_NET_CLAIMS_MAX, "a claim for each stream");

/* ---- open ---- */

static int
camera_choose(struct lull_camera *camera, const char *text, struct lull_error *error)
{
	static const enum lull_camera_clock clocks[] = {
		[LULL_NET_CLOCK_NONE] = LULL_CAMERA_CLOCK_NONE,
		[LULL_NET_CLOCK_KERNEL] = LULL_CAMERA_CLOCK_KERNEL,
		[LULL_NET_CLOCK_POLL] = LULL_CAMERA_CLOCK_POLL,
		[LULL_NET_CLOCK_FILE] = LULL_CAMERA_CLOCK_FILE,
	};
	const char *argument;
	int rc = lull_net_choose(text, &camera->backend, &argument, error);

	if (rc != 0)
		return rc;
	if (camera->backend->receive == NULL)
		return lull_error_set(error, -EINVAL, "backend: '%s' only sends", text);
	if (strlen(argument) >= sizeof(camera->argument))
		return lull_error_set(error, -EINVAL, "backend: '%s' is too long", text);
	strcpy(camera->argument, argument);
	camera->clock = clocks[camera->backend->clock];
	return 0;
}

/* Sockets or port. */
static int
camera_open_backend(struct lull_camera *camera, struct lull_error *error)
{
	const struct lull_camera_config *config = &camera->config;
	const struct lull_net_config net = {
		.program = camera->program,
		.eal = config->eal,
		.socket_bytes = config->socket_bytes,
		.ring_pkts = config->ring_pkts,
		.own_loop = config->own_loop,
		.unchecked = config->unchecked,
	};

	return camera->backend->open(&net, camera->argument, &camera->backend_state, error);
}

static int
camera_configure(struct lull_camera *camera, const struct lull_camera_config *config,
		 struct lull_error *error)
{
	const char *governor = config->governor != NULL ? config->governor : GOVERNOR;

	camera->config = *config;
	snprintf(camera->program, sizeof(camera->program), "%s",
		 config->program != NULL ? config->program : PROGRAM);
	camera->config.program = camera->program;
	if (lull_idle_governor_find(governor) == NULL)
		return lull_error_set(error, -EINVAL, "governor: '%s' does not exist", governor);
	snprintf(camera->governor, sizeof(camera->governor), "%s", governor);
	camera->config.governor = camera->governor;
	if (config->backend == NULL)
		return lull_error_set(error, -EINVAL,
				      "backend: missing; name one, such as "
				      "kernel:eth0");
	return camera_choose(camera, config->backend, error);
}

static void
camera_free(struct lull_camera *camera)
{
	for (uint32_t i = 0; i < camera->stream_count; i++)
		camera_stream_destroy(camera->streams[i]);
	camera_thread_free(camera);
	if (camera->event_fd >= 0)
		close(camera->event_fd);
	pthread_mutex_destroy(&camera->lock);
	free(camera);
}

int
lull_camera_open(const struct lull_camera_config *config, struct lull_camera **out,
		 struct lull_error *error)
{
	size_t size =
		(sizeof(struct lull_camera) + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);
	struct lull_camera *camera = aligned_alloc(LULL_CACHE_LINE, size);
	int rc;

	*out = NULL;
	if (camera == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a camera");
	memset(camera, 0, size);
	pthread_mutex_init(&camera->lock, NULL);
	atomic_store(&camera->cpu, -1);
	camera->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	rc = camera->event_fd < 0 ?
		     lull_error_set(error, -errno, "no eventfd: %s", strerror(errno)) :
		     camera_configure(camera, config, error);
	if (rc == 0)
		rc = camera_open_backend(camera, error);
	if (rc != 0) {
		camera_free(camera);
		return rc;
	}
	*out = camera;
	return 0;
}

/* ---- streams ---- */

/* Hang it behind the last stream with the same port or ether type. */
static void
camera_chain(struct lull_camera *camera, struct camera_stream *stream)
{
	struct camera_stream *last = NULL;

	for (uint32_t i = 0; i < camera->stream_count; i++) {
		struct camera_stream *other = camera->streams[i];

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
lull_camera_stream_add(struct lull_camera *camera, const struct lull_camera_stream *config,
		       struct lull_error *error)
{
	struct camera_stream *stream;
	int rc;

	if (camera->started)
		return lull_error_set(error, -EBUSY,
				      "the receiver has been started: add streams "
				      "before");
	if (camera->stream_count == LULL_CAMERA_STREAMS_MAX)
		return lull_error_set(error, -ENOSPC, "streams: more than %d",
				      LULL_CAMERA_STREAMS_MAX);
	rc = camera_stream_create(camera, config, &stream, error);
	if (rc != 0)
		return rc;
	stream->claim.first = stream->claim.index;
	if (stream->claim.port == 0 && !stream->claim.ethernet) {
		/* The back end chooses: nobody else is on that port. */
		rc = camera->backend->claim(camera->backend_state, &stream->claim, error);
	} else {
		camera_chain(camera, stream);
		rc = camera->backend->claim(camera->backend_state, &stream->claim, error);
	}
	if (rc != 0) {
		for (uint32_t i = 0; i < camera->stream_count; i++)
			if (camera->streams[i]->next == stream->claim.index + 1)
				camera->streams[i]->next = 0;
		camera_stream_destroy(stream);
		return rc;
	}
	camera->streams[camera->stream_count++] = stream;
	return (int)stream->claim.index;
}

const char *
lull_camera_stream_name(struct lull_camera *camera, uint32_t stream)
{
	return stream < camera->stream_count ? camera->streams[stream]->name : NULL;
}

uint32_t
lull_camera_stream_count(struct lull_camera *camera)
{
	return camera->stream_count;
}

/* ---- start ---- */

static int
camera_start_checked(struct lull_camera *camera, struct lull_error *error)
{
	static const char *const no_remedy = "";
	struct lull_finding *lines = calloc(FINDINGS_MAX, sizeof(*lines));
	uint32_t count;
	int rc = 0;

	if (lines == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the self-check");
	count = LULL_MIN(lull_camera_check(camera, lines, FINDINGS_MAX), FINDINGS_MAX);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		if (lines[i].grade == LULL_GRADE_WRONG)
			rc = lull_error_set(error, -EPERM, "%s: %.120s%s%.100s", lines[i].subject,
					    lines[i].text, lines[i].remedy[0] ? "; " : no_remedy,
					    lines[i].remedy);
	free(lines);
	return rc;
}

static int
camera_controls(struct lull_camera *camera, struct lull_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < camera->stream_count; i++)
		if (camera->streams[i]->config.control != NULL)
			rc = camera_control_start(camera->streams[i], error);
	return rc;
}

static void
camera_release(struct lull_camera *camera)
{
	for (uint32_t i = 0; i < camera->stream_count; i++) {
		struct camera_stream *stream = camera->streams[i];

		if (stream->control == NULL)
			continue;
		/* Counters may be read until the last close. */
		camera_control_count(stream->control, &stream->counters);
		camera_control_stop(stream->control);
		stream->control = NULL;
	}
}

int
lull_camera_start(struct lull_camera *camera, struct lull_error *error)
{
	int rc = 0;

	if (camera->started)
		return lull_error_set(error, -EALREADY, "the receiver has been started already");
	if (camera->stream_count == 0)
		return lull_error_set(error, -EINVAL, "no stream: add one before the start");
	if (!camera->config.unchecked)
		rc = camera_start_checked(camera, error);
	if (rc == 0)
		rc = camera->backend->start(camera->backend_state, error);
	if (rc == 0)
		rc = camera_controls(camera, error);
	if (rc == 0)
		rc = camera_thread_start(camera, error);
	if (rc != 0) {
		camera_release(camera);
		return rc;
	}
	camera->started = true;
	return 0;
}

uint32_t
lull_camera_poll(struct lull_camera *camera, uint64_t now_ns, uint64_t *rest_until_ns)
{
	const struct lull_net_backend *backend = camera->backend;
	uint32_t count;

	*rest_until_ns = UINT64_MAX;
	if (!camera->started || atomic_load(&camera->ended))
		return 0;
	if (atomic_load(&camera->tid) == 0)
		camera_thread_begin(camera);
	count = camera_receive(camera, now_ns, rest_until_ns);
	if (backend->ended != NULL && backend->ended(camera->backend_state))
		camera_receive_end(camera);
	return count;
}

int
lull_camera_change(struct lull_camera *camera, const char *governor,
		   const struct lull_idle_limits *limits)
{
	const struct lull_idle_governor *found = NULL;

	if (!camera->backend->polled || camera->config.own_loop)
		return -ENOTSUP;
	if (governor != NULL && (found = lull_idle_governor_find(governor)) == NULL)
		return -EINVAL;
	if (limits != NULL && lull_idle_config_check(limits, NULL) != 0)
		return -EINVAL;
	return camera_thread_change(camera, found, limits);
}

int
lull_camera_change_class(struct lull_camera *camera, enum lull_sched_policy policy)
{
	if (!camera->looped || camera->loop.class == NULL)
		return -ENOTSUP;
	lull_loop_change_class(&camera->loop, policy);
	return 0;
}

int
lull_camera_class(const struct lull_camera *camera, struct lull_rest_thread_info *info, char *text,
		  size_t size)
{
	if (!camera->looped || camera->loop.class == NULL)
		return -ENOTSUP;
	lull_loop_class(&camera->loop, info);
	lull_loop_class_explain(&camera->loop, text, size);
	return 0;
}

/* ---- close ---- */

static void
camera_stop(struct lull_camera *camera)
{
	const struct lull_net_backend *backend = camera->backend;

	camera->closed = true;
	camera_thread_stop(camera);
	if (camera->started && camera->config.own_loop && !atomic_load(&camera->ended)) {
		camera_receive_end(camera);
		if (atomic_load(&camera->tid) != 0)
			camera_thread_end(camera);
	}
	camera_release(camera);
	camera_images_end(camera);
	/* Counters may be read until the last close. */
	pthread_mutex_lock(&camera->lock);
	camera->missed_end = backend->missed(camera->backend_state);
	if (backend->unclaimed != NULL)
		LULL_COUNTER_ADD(camera->unclaimed, backend->unclaimed(camera->backend_state));
	if (backend->exceptions != NULL)
		backend->exceptions(camera->backend_state, &camera->exceptions_end);
	backend->close(camera->backend_state);
	camera->backend_state = NULL;
	pthread_mutex_unlock(&camera->lock);
}

int
lull_camera_close(struct lull_camera *camera)
{
	if (camera == NULL)
		return 0;
	if (!camera->closed)
		camera_stop(camera);
	if (camera_images_out(camera) > 0)
		return -EBUSY;
	/* Who still waits for an image has been woken and is about to leave. */
	while (atomic_load(&camera->waiters) > 0)
		usleep(CLOSE_WAIT_US);
	camera_free(camera);
	return 0;
}
