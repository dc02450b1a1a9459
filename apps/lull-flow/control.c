/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "flow.h"

#define PATIENCE_MS 1000

/* Keys that are a command of stages, and which stages take it. */
static const struct {
	const char *key;
	enum lull_pipeline_verb verb;
	unsigned int parts; /* bit per enum flow_part */
} stage_keys[] = {
	{ "scheduler", LULL_PIPELINE_SCHEDULER, 1u << FLOW_PART_IO },
	{ "shadow", LULL_PIPELINE_SCHEDULER, 1u << FLOW_PART_IO },
	{ "threshold", LULL_PIPELINE_THRESHOLDS, 1u << FLOW_PART_IO },
	{ "sticky-enter", LULL_PIPELINE_THRESHOLDS, 1u << FLOW_PART_IO },
	{ "sticky-leave", LULL_PIPELINE_THRESHOLDS, 1u << FLOW_PART_IO },
	{ "flush-burst", LULL_PIPELINE_FLUSH, 1u << FLOW_PART_IO },
	{ "flush-time", LULL_PIPELINE_FLUSH, 1u << FLOW_PART_IO },
	{ "idle-timeout", LULL_PIPELINE_IDLE,
	  1u << FLOW_PART_IO | 1u << FLOW_PART_WORKER | 1u << FLOW_PART_LOG },
	{ "worker-delay", LULL_PIPELINE_WORK, 1u << FLOW_PART_WORKER },
};

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
control_post_stage(struct flow_thread *thread, const struct lull_pipeline_command *command)
{
	int waited_ms = 0, rc;

	do
		rc = control_retry(lull_loop_post_stage(thread->loop, command, sizeof(*command)),
				   &waited_ms);
	while (rc > 0);
	return rc;
}

static int
control_post_resting(struct flow_thread *thread, const struct lull_resting *resting,
		     struct lull_error *error)
{
	struct lull_resting before = thread->resting;
	struct lull_idle_limits limits;
	int waited_ms = 0, rc;

	thread->resting = *resting;
	rc = flow_thread_limits(thread, &limits, error);
	if (rc != 0) {
		thread->resting = before;
		return rc;
	}
	do
		rc = control_retry(lull_loop_post_change(thread->loop,
							 lull_resting_governor(resting), &limits),
				   &waited_ms);
	while (rc > 0);
	if (rc == 0) {
		lull_loop_change_class(thread->loop, (enum lull_sched_policy)resting->sched_policy);
		return 0;
	}
	thread->resting = before;
	return lull_error_set(error, rc, "%s does not take the change: %s",
			      lull_loop_name(thread->loop), strerror(-rc));
}

static struct lull_pipeline_command
control_command(const struct flow_settings *settings, enum lull_pipeline_verb verb)
{
	struct lull_dispatch_config dispatch = flow_settings_dispatch(settings);

	return (struct lull_pipeline_command){
		.verb = verb,
		.scheduler = dispatch.scheduler,
		.shadow = dispatch.shadow,
		.threshold_ppm = dispatch.threshold_ppm,
		.enter_ppm = dispatch.enter_ppm,
		.leave_ppm = dispatch.leave_ppm,
		.flush_pkts = settings->flush_burst,
		.flush_ns = settings->flush_ns,
		.idle_ns = settings->idle_ns,
		.work_ns = settings->worker_delay_ns,
	};
}

/* What concerns the pipeline concerns all loops of a part. */
static int
control_change_stages(struct flow *flow, const struct flow_settings *settings, size_t row,
		      const char *loop, struct lull_error *error)
{
	struct lull_pipeline_command command = control_command(settings, stage_keys[row].verb);

	if (loop[0] != '\0')
		return lull_error_set(error, -EINVAL, "%s: it is set for all loops, not for one",
				      stage_keys[row].key);
	/* Dispatchers have forgotten who had flows that were silent for longer. */
	if (command.verb == LULL_PIPELINE_IDLE && command.idle_ns > flow->idle_ns_max)
		return lull_error_set(error, -ERANGE,
				      "idle-timeout: at most the %g s it was started with; start "
				      "with --idle-timeout for longer",
				      (double)flow->idle_ns_max / (double)LULL_NS_PER_S);
	for (uint32_t i = 0; i < flow->thread_count; i++) {
		struct flow_thread *thread = &flow->threads[i];
		int rc;

		if ((stage_keys[row].parts & 1u << thread->part) == 0)
			continue;
		rc = control_post_stage(thread, &command);
		if (rc != 0)
			return lull_error_set(error, rc, "%s does not take the change: %s",
					      lull_loop_name(thread->loop), strerror(-rc));
	}
	return 0;
}

static int
control_change_resting(struct flow *flow, const char *assignment, const char *loop,
		       struct lull_error *error)
{
	bool found = false;

	for (uint32_t i = 0; i < flow->thread_count; i++) {
		struct flow_thread *thread = &flow->threads[i];
		struct flow_settings settings = flow->settings;
		char same[LULL_OPTION_LOOP_MAX];
		int rc;

		if (loop[0] != '\0' && strcmp(loop, lull_loop_name(thread->loop)) != 0)
			continue;
		found = true;
		settings.resting = thread->resting;
		rc = lull_options_change(flow_program.options, &settings, assignment, same, error);
		if (rc == 0)
			rc = control_post_resting(thread, &settings.resting, error);
		if (rc != 0)
			return rc;
	}
	if (!found)
		return lull_error_set(error, -ENOENT, "no loop '%.*s', there are %u: io0...",
				      LULL_ERROR_SHOWN, loop, flow->thread_count);
	return 0;
}

static int
control_change(struct flow *flow, const char *assignment, struct lull_error *error)
{
	size_t length = strcspn(assignment, "@="), rows = sizeof(stage_keys) / sizeof(*stage_keys);
	struct flow_settings settings = flow->settings;
	char loop[LULL_OPTION_LOOP_MAX];
	size_t row = 0;
	int rc;

	rc = lull_options_change(flow_program.options, &settings, assignment, loop, error);
	if (rc != 0)
		return rc;
	while (row < rows && (strlen(stage_keys[row].key) != length ||
			      memcmp(stage_keys[row].key, assignment, length) != 0))
		row++;
	rc = row < rows ? control_change_stages(flow, &settings, row, loop, error) :
			  control_change_resting(flow, assignment, loop, error);
	/* What is said of all loops is the program's setting. */
	if (rc == 0 && loop[0] == '\0')
		flow->settings = settings;
	return rc;
}

static int
control_set(void *arg, const char *assignment, char *text, size_t text_size)
{
	struct lull_error error = { .text = "" };
	struct flow *flow = arg;
	int rc;

	pthread_mutex_lock(&flow->lock);
	rc = control_change(flow, assignment, &error);
	pthread_mutex_unlock(&flow->lock);
	if (rc != 0)
		snprintf(text, text_size, "%s", error.text);
	return rc;
}

static void
control_settings(void *arg, void (*put)(void *put_arg, const char *key, const char *value),
		 void *put_arg)
{
	const struct lull_option *option = flow_program.options;
	char text[LULL_OPTION_VALUE_TEXT];
	struct flow *flow = arg;

	pthread_mutex_lock(&flow->lock);
	for (; option->key != NULL; option++) {
		if (option->live)
			put(put_arg, option->key,
			    lull_option_print(option, &flow->settings, text, sizeof(text)));
	}
	pthread_mutex_unlock(&flow->lock);
}

void
flow_control_init(struct flow *flow)
{
	flow->idle_ns_max = flow->settings.idle_ns;
	flow->telemetry = (struct lull_telemetry_config){
		.program = flow_program.name,
		.version = flow_program.version,
		.loops = flow->loops,
		.loop_count = flow->thread_count,
		.set = control_set,
		.settings = control_settings,
		.commands = flow_commands,
		.arg = flow,
	};
}
