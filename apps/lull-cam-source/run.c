/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <lull/rest.h>

#include "source.h"

/* While packets flow without a pause, control messages and signals wait this long at most. */
#define LOOK_NS (200 * LULL_NS_PER_US)
#define FDS_MAX (1 + SOURCE_CAMERAS_MAX * GVCP_SERVER_FDS)

/* ---- set up ---- */

static int
run_signals(struct source *source, struct lull_error *error)
{
	source->signals = signalfd(-1, &source->run.signals, SFD_NONBLOCK | SFD_CLOEXEC);
	return source->signals >= 0 ? 0 :
				      lull_error_set(error, -errno, "no descriptor for signals: %s",
						     strerror(errno));
}

static int
run_cpu(const struct source_settings *settings, struct lull_error *error)
{
	cpu_set_t set;

	if (settings->cpus.count == 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(settings->cpus.cpus[0], &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		return lull_error_set(error, -errno, "cpus: cannot run on CPU %u: %s",
				      settings->cpus.cpus[0], strerror(errno));
	return 0;
}

static int
run_stage(struct source *source, struct lull_error *error)
{
	const struct source_settings *settings = &source->settings;
	struct lull_frame_geometry geometry = source_settings_geometry(settings);
	struct camera_stage *stage = &source->stage;
	int rc;

	stage->settings = settings;
	stage->writer = lull_packet_writers[settings->protocol];
	stage->batch.segment = settings->segment;
	rc = pattern_open(&stage->pattern, (enum pattern_kind)settings->pattern, &geometry,
			  settings->seed);
	if (rc != 0)
		return lull_error_set(error, rc, "pattern: no memory for pictures of %u x %u",
				      settings->width, settings->height);
	if (settings->log[0] == '\0')
		return 0;
	stage->log.file = fopen(settings->log, "we");
	return stage->log.file != NULL ?
		       0 :
		       lull_error_set(error, -errno, "log: cannot write '%.*s': %s",
				      LULL_ERROR_SHOWN, settings->log, strerror(errno));
}

int
source_open(void *state, struct lull_error *error)
{
	struct source *source = state;
	const struct source_settings *settings = &source->settings;
	int rc = run_signals(source, error);

	if (rc == 0)
		rc = run_cpu(settings, error);
	if (rc == 0)
		rc = run_stage(source, error);
	for (uint32_t i = 0; rc == 0 && i < settings->cameras; i++) {
		rc = camera_open(&source->cameras[i], &source->stage, i, error);
		if (rc == 0 && settings->protocol == SOURCE_GVSP)
			rc = gvcp_server_open(&source->servers[i], &source->cameras[i], error);
	}
	if (rc == 0)
		(void)lull_rest_thread_init();
	return rc;
}

void
source_close(void *state)
{
	struct source *source = state;

	for (uint32_t i = 0; i < SOURCE_CAMERAS_MAX; i++) {
		gvcp_server_close(&source->servers[i]);
		camera_close(&source->cameras[i]);
	}
	pattern_close(&source->stage.pattern);
	if (source->stage.log.file != NULL)
		fclose(source->stage.log.file);
	if (source->signals > 0)
		close(source->signals);
}

/* ---- run ---- */

static bool
run_servers(const struct source *source)
{
	return source->settings.protocol == SOURCE_GVSP;
}

/* Wait until @p until_ns at most, or a message comes; true: a signal did. */
static bool
run_look(struct source *source, uint64_t until_ns)
{
	uint64_t now_ns = lull_clock_ns();
	uint64_t ns = until_ns > now_ns ? until_ns - now_ns : 0;
	const struct timespec limit = { .tv_sec = (time_t)(ns / LULL_NS_PER_S),
					.tv_nsec = (long)(ns % LULL_NS_PER_S) };
	struct pollfd fds[FDS_MAX] = { { .fd = source->signals, .events = POLLIN } };
	nfds_t count = 1;

	for (uint32_t i = 0; run_servers(source) && i < source->settings.cameras; i++)
		for (uint32_t k = 0; k < GVCP_SERVER_FDS; k++)
			fds[count++] = (struct pollfd){ .fd = source->servers[i].fds[k],
							.events = POLLIN };
	(void)ppoll(fds, count, &limit, NULL);
	now_ns = lull_clock_ns();
	for (uint32_t i = 0; run_servers(source) && i < source->settings.cameras; i++)
		gvcp_server_turn(&source->servers[i], now_ns);
	return fds[0].revents != 0;
}

/* All frames sent, and nobody may ask for them any more? */
static bool
run_done(struct source *source, uint64_t now_ns)
{
	uint64_t linger_ns = run_servers(source) ? source->settings.linger_ns : 0;

	for (uint32_t i = 0; i < source->settings.cameras; i++)
		if (!camera_done(&source->cameras[i]))
			return false;
	if (source->quiet_ns == 0)
		source->quiet_ns = now_ns;
	return now_ns - source->quiet_ns >= linger_ns;
}

static bool
run_over(struct source *source, uint64_t now_ns)
{
	uint64_t duration_ns = source->settings.duration_ns;

	if (duration_ns > 0 && now_ns - source->run.begin_ns >= duration_ns)
		source->run.end = "duration";
	else if (run_done(source, now_ns))
		source->run.end = "frames";
	else
		return false;
	return true;
}

/* When there is something to do again. */
static uint64_t
run_due_ns(const struct source *source, uint64_t now_ns)
{
	const struct source_settings *settings = &source->settings;
	uint64_t due_ns = now_ns + LULL_NS_PER_S;

	for (uint32_t i = 0; i < settings->cameras; i++) {
		due_ns = LULL_MIN(due_ns, camera_due_ns(&source->cameras[i]));
		if (run_servers(source))
			due_ns = LULL_MIN(due_ns, gvcp_server_deadline_ns(&source->servers[i]));
	}
	if (settings->duration_ns > 0)
		due_ns = LULL_MIN(due_ns, source->run.begin_ns + settings->duration_ns);
	if (settings->stats_ns > 0)
		due_ns = LULL_MIN(due_ns, source->shown.now_ns + settings->stats_ns);
	if (source->quiet_ns > 0)
		due_ns = LULL_MIN(due_ns, source->quiet_ns + settings->linger_ns);
	return due_ns;
}

static bool
run_cameras(struct source *source, uint64_t now_ns)
{
	bool busy = false;

	for (uint32_t i = 0; i < source->settings.cameras; i++)
		busy = camera_turn(&source->cameras[i], now_ns) || busy;
	return busy;
}

static void
run_begin(struct source *source)
{
	lull_run_begin(&source->run);
	source->shown.now_ns = source->run.begin_ns;
	if (source_settings_controlled(&source->settings))
		return;
	for (uint32_t i = 0; i < source->settings.cameras; i++)
		camera_start(&source->cameras[i], source->run.begin_ns);
}

int
source_run(void *state, struct lull_error *error)
{
	struct source *source = state;
	const struct source_settings *settings = &source->settings;
	uint64_t now_ns, look_ns = 0;
	bool busy;

	run_begin(source);
	for (;;) {
		now_ns = lull_clock_ns();
		busy = run_cameras(source, now_ns);
		if (!busy || now_ns >= look_ns) {
			if (run_over(source, now_ns))
				break;
			if (run_look(source, busy ? now_ns : run_due_ns(source, now_ns))) {
				source->run.end = "signal";
				break;
			}
			look_ns = now_ns + LOOK_NS;
		}
		if (lull_run_shows(&source->run, settings->stats_ns))
			source_progress_print(source, now_ns);
	}
	source->run.end_ns = lull_clock_ns();
	if (source->stage.log.file != NULL && fflush(source->stage.log.file) != 0)
		return lull_error_set(error, -errno, "log: cannot write '%.*s': %s",
				      LULL_ERROR_SHOWN, settings->log, strerror(errno));
	return 0;
}
