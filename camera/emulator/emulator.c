/* SPDX-License-Identifier: BSD-3-Clause */
#include "emulator.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lull/rest.h>

#include "gvcp_server.h"

#define FDS_MAX (1 + LULL_EMULATOR_CAMERAS_MAX * GVCP_SERVER_FDS)

struct lull_emulator {
	struct emulator_stage stage;
	struct emulator_camera cameras[LULL_EMULATOR_CAMERAS_MAX];
	struct gvcp_server servers[LULL_EMULATOR_CAMERAS_MAX];
	uint32_t count, server_count;
	uint64_t quiet_ns; /* since when all frames are sent, 0: they are not */
};

/* ---- open and close ---- */

static int
emulator_stage(struct emulator_stage *stage, const struct lull_emulator_config *config,
	       struct lull_error *error)
{
	struct lull_frame_geometry geometry = emulator_geometry(config);
	int rc;

	stage->config = config;
	stage->writer = lull_packet_writers[config->protocol];
	stage->batch.segment = config->segment;
	rc = pattern_open(&stage->pattern, (enum pattern_kind)config->pattern, &geometry,
			  config->seed);
	if (rc != 0)
		return lull_error_set(error, rc, "pattern: no memory for pictures of %u x %u",
				      config->width, config->height);
	if (config->log == NULL || config->log[0] == '\0')
		return 0;
	stage->log.file = fopen(config->log, "we");
	return stage->log.file != NULL ?
		       0 :
		       lull_error_set(error, -errno, "log: cannot write '%.*s': %s",
				      LULL_ERROR_SHOWN, config->log, strerror(errno));
}

int
lull_emulator_open(struct lull_emulator **emulator, const struct lull_emulator_config *config,
		   struct lull_error *error)
{
	struct lull_emulator *new = calloc(1, sizeof(*new));
	int rc;

	*emulator = NULL;
	if (new == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for cameras");
	rc = emulator_stage(&new->stage, config, error);
	while (rc == 0 && new->count < config->cameras) {
		struct emulator_camera *camera = &new->cameras[new->count];

		rc = emulator_camera_open(camera, &new->stage, new->count++, error);
		if (rc == 0 && config->protocol == LULL_EMULATOR_GVSP)
			rc = gvcp_server_open(&new->servers[new->server_count++], camera, error);
	}
	if (rc == 0) {
		(void)lull_rest_thread_init();
		*emulator = new;
	} else {
		lull_emulator_close(new);
	}
	return rc;
}

void
lull_emulator_close(struct lull_emulator *emulator)
{
	if (emulator == NULL)
		return;
	for (uint32_t i = 0; i < emulator->server_count; i++)
		gvcp_server_close(&emulator->servers[i]);
	for (uint32_t i = 0; i < emulator->count; i++)
		emulator_camera_close(&emulator->cameras[i]);
	pattern_close(&emulator->stage.pattern);
	if (emulator->stage.log.file != NULL)
		fclose(emulator->stage.log.file);
	free(emulator);
}

/* ---- run ---- */

void
lull_emulator_start(struct lull_emulator *emulator, uint64_t now_ns)
{
	if (emulator_controlled(emulator->stage.config))
		return;
	for (uint32_t i = 0; i < emulator->count; i++)
		emulator_camera_start(&emulator->cameras[i], now_ns);
}

bool
lull_emulator_iterate(struct lull_emulator *emulator, uint64_t now_ns)
{
	bool busy = false;

	for (uint32_t i = 0; i < emulator->count; i++)
		busy = emulator_camera_iterate(&emulator->cameras[i], now_ns) || busy;
	return busy;
}

static uint64_t
emulator_linger_ns(const struct lull_emulator *emulator)
{
	return emulator->server_count > 0 ? emulator->stage.config->linger_ns : 0;
}

uint64_t
lull_emulator_due_ns(const struct lull_emulator *emulator)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = 0; i < emulator->count; i++)
		due_ns = LULL_MIN(due_ns, emulator_camera_due_ns(&emulator->cameras[i]));
	for (uint32_t i = 0; i < emulator->server_count; i++)
		due_ns = LULL_MIN(due_ns, gvcp_server_deadline_ns(&emulator->servers[i]));
	if (emulator->quiet_ns > 0)
		due_ns = LULL_MIN(due_ns, emulator->quiet_ns + emulator_linger_ns(emulator));
	return due_ns;
}

bool
lull_emulator_wait(struct lull_emulator *emulator, uint64_t until_ns, int fd)
{
	uint64_t now_ns = lull_clock_ns();
	uint64_t ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec limit = { .tv_sec = (time_t)(ns / LULL_NS_PER_S),
					.tv_nsec = (long)(ns % LULL_NS_PER_S) };
	struct pollfd fds[FDS_MAX] = { { .fd = fd, .events = POLLIN } };
	nfds_t count = 1;

	for (uint32_t i = 0; i < emulator->server_count; i++)
		for (uint32_t k = 0; k < GVCP_SERVER_FDS; k++)
			fds[count++] = (struct pollfd){ .fd = emulator->servers[i].fds[k],
							.events = POLLIN };
	(void)ppoll(fds, count, &limit, NULL);
	now_ns = lull_clock_ns();
	for (uint32_t i = 0; i < emulator->server_count; i++)
		gvcp_server_iterate(&emulator->servers[i], now_ns);
	return fds[0].revents != 0;
}

bool
lull_emulator_done(struct lull_emulator *emulator, uint64_t now_ns)
{
	for (uint32_t i = 0; i < emulator->count; i++)
		if (!emulator_camera_done(&emulator->cameras[i]))
			return false;
	if (emulator->quiet_ns == 0)
		emulator->quiet_ns = now_ns;
	return now_ns - emulator->quiet_ns >= emulator_linger_ns(emulator);
}

int
lull_emulator_flush(struct lull_emulator *emulator, struct lull_error *error)
{
	if (emulator->stage.log.file == NULL || fflush(emulator->stage.log.file) == 0)
		return 0;
	return lull_error_set(error, -errno, "log: cannot write '%.*s': %s", LULL_ERROR_SHOWN,
			      emulator->stage.config->log, strerror(errno));
}

struct lull_emulator_info
lull_emulator_info(const struct lull_emulator *emulator, uint32_t number)
{
	const struct emulator_camera *camera = &emulator->cameras[number];
	const struct gvcp_server *server = &emulator->servers[number];

	return (struct lull_emulator_info){
		.counters = camera->counters,
		.sessions = camera->session,
		.packets_per_frame = camera->plan.count,
		.behind_ns_max = camera->behind_ns_max,
		.start_ns = camera->start_ns,
		.end_ns = camera->end_ns,
		.control = number < emulator->server_count,
		.discoveries = server->discoveries,
		.commands = server->commands,
		.refusals = server->refusals,
		.timeouts = server->timeouts,
	};
}
