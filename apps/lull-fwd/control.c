/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fwd.h"

#define PATIENCE_MS 100

/* A loop empties its mailbox once per turn, so full does not stay full. */
static int
control_retry(int rc, int *waited_ms)
{
	const struct timespec moment = { .tv_nsec = (long)LULL_NS_PER_MS };

	if (rc != -EAGAIN || (*waited_ms)++ >= PATIENCE_MS)
		return rc;
	nanosleep(&moment, NULL);
	return 1;
}

static int
control_post_traffic(struct fwd *fwd, const struct lull_arrival_config *arrival)
{
	const struct lull_traffic_command command = { .arrival = *arrival };
	int waited_ms = 0, rc;

	do
		rc = control_retry(lull_loop_post_stage(fwd->traffic, &command, sizeof(command)),
				   &waited_ms);
	while (rc > 0);
	return rc;
}

static int
control_post_change(struct fwd_thread *thread, const struct lull_idle_limits *limits)
{
	int waited_ms = 0, rc;

	do
		rc = control_retry(
			lull_loop_post_change(thread->loop,
					      lull_resting_governor(&thread->settings.resting),
					      limits),
			&waited_ms);
	while (rc > 0);
	return rc;
}

static int
control_change_traffic(struct fwd *fwd, const struct fwd_settings *settings, const char *loop,
		       struct lull_error *error)
{
	int rc;

	if (fwd->traffic == NULL)
		return lull_error_set(error, -EPERM,
				      "traffic: this process makes none; start it with --traffic "
				      "off or use lull-gen");
	if (loop[0] != '\0' && strcmp(loop, lull_loop_name(fwd->traffic)) != 0)
		return lull_error_set(error, -ENOENT, "traffic: it is made by %s, not by %.*s",
				      lull_loop_name(fwd->traffic), LULL_ERROR_SHOWN, loop);
	if (!settings->traffic.wanted)
		return lull_error_set(error, -EPERM,
				      "traffic: none cannot be chosen at run time, off can");
	rc = control_post_traffic(fwd, &settings->traffic.arrival);
	if (rc != 0)
		return lull_error_set(error, rc, "traffic: %s does not take the change: %s",
				      lull_loop_name(fwd->traffic), strerror(-rc));
	fwd->settings.traffic.arrival = settings->traffic.arrival;
	return 0;
}

/* The assignment has been found good for the program; now for this thread. */
static int
control_change_thread(struct fwd_thread *thread, const char *assignment, struct lull_error *error)
{
	struct fwd_settings before = thread->settings;
	char loop[LULL_OPTION_LOOP_MAX];
	struct lull_idle_limits limits;
	int rc;

	rc = lull_options_change(fwd_program.options, &thread->settings, assignment, loop, error);
	if (rc == 0)
		rc = fwd_thread_limits(thread, &limits, error);
	if (rc == 0) {
		rc = control_post_change(thread, &limits);
		if (rc != 0)
			lull_error_set(error, rc, "%s does not take the change: %s",
				       lull_loop_name(thread->loop), strerror(-rc));
	}
	if (rc != 0)
		thread->settings = before;
	else
		lull_loop_change_class(
			thread->loop,
			(enum lull_sched_policy)thread->settings.resting.sched_policy);
	return rc;
}

static int
control_change_threads(struct fwd *fwd, const char *assignment, const char *loop,
		       struct lull_error *error)
{
	bool found = false;

	for (uint32_t i = 0; i < fwd->thread_count; i++) {
		int rc;

		if (loop[0] != '\0' && strcmp(loop, lull_loop_name(fwd->threads[i].loop)) != 0)
			continue;
		found = true;
		rc = control_change_thread(&fwd->threads[i], assignment, error);
		if (rc != 0)
			return rc;
	}
	if (!found)
		return lull_error_set(error, -ENOENT,
				      "no forwarding loop '%.*s', there are %u: fwd0...",
				      LULL_ERROR_SHOWN, loop, fwd->thread_count);
	return 0;
}

static int
control_change(struct fwd *fwd, const char *assignment, struct lull_error *error)
{
	struct fwd_settings settings = fwd->settings;
	char loop[LULL_OPTION_LOOP_MAX];
	int rc;

	rc = lull_options_change(fwd_program.options, &settings, assignment, loop, error);
	if (rc != 0)
		return rc;
	if (strncmp(assignment, "traffic", strcspn(assignment, "@=")) == 0)
		return control_change_traffic(fwd, &settings, loop, error);
	rc = control_change_threads(fwd, assignment, loop, error);
	/* What is said of all loops is the program's setting. */
	if (rc == 0 && loop[0] == '\0')
		fwd->settings = settings;
	return rc;
}

static int
control_set(void *arg, const char *assignment, char *text, size_t text_size)
{
	struct lull_error error = { .text = "" };
	struct fwd *fwd = arg;
	int rc;

	pthread_mutex_lock(&fwd->lock);
	rc = control_change(fwd, assignment, &error);
	pthread_mutex_unlock(&fwd->lock);
	if (rc != 0)
		snprintf(text, text_size, "%s", error.text);
	return rc;
}

static void
control_settings(void *arg, void (*put)(void *put_arg, const char *key, const char *value),
		 void *put_arg)
{
	const struct lull_option *option = fwd_program.options;
	char text[LULL_OPTION_VALUE_TEXT];
	struct fwd *fwd = arg;

	pthread_mutex_lock(&fwd->lock);
	for (; option->key != NULL; option++) {
		if (option->live)
			put(put_arg, option->key,
			    lull_option_print(option, &fwd->settings, text, sizeof(text)));
	}
	pthread_mutex_unlock(&fwd->lock);
}

static void
control_traffic(void *arg, const struct lull_loop *loop,
		void (*put)(void *put_arg, const char *key, uint64_t value), void *put_arg)
{
	(void)arg;
	lull_traffic_report(lull_loop_stage_state(loop), put, put_arg);
}

static const struct lull_histogram *
control_latency(void *arg, const struct lull_loop *loop)
{
	(void)arg;
	return lull_traffic_histogram(lull_loop_stage_state(loop), LULL_TRAFFIC_LATENCY);
}

void
fwd_control_init(struct fwd *fwd)
{
	fwd->telemetry = (struct lull_telemetry_config){
		.program = fwd_program.name,
		.version = fwd_program.version,
		.loops = fwd->loops,
		.loop_count = fwd->loop_count,
		.set = control_set,
		.settings = control_settings,
		.traffic = control_traffic,
		.latency = control_latency,
		.arg = fwd,
	};
}

void
fwd_control_traffic_off(struct fwd *fwd)
{
	struct lull_arrival_config arrival;

	pthread_mutex_lock(&fwd->lock);
	arrival = fwd->settings.traffic.arrival;
	arrival.kind = LULL_ARRIVAL_OFF;
	control_post_traffic(fwd, &arrival);
	pthread_mutex_unlock(&fwd->lock);
}
