/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "flow.h"

/* Keys that are a command of stages, and which stages take it. */
static const struct {
	const char *key;
	enum lull_pipeline_verb verb;
	unsigned int parts; /* bit per enum flow_part; the whole takes each */
} stage_keys[] = {
	{ "scheduler", LULL_PIPELINE_SCHEDULER, 1u << FLOW_PART_IO },
	{ "shadow", LULL_PIPELINE_SCHEDULER, 1u << FLOW_PART_IO },
	{ "threshold", LULL_PIPELINE_THRESHOLDS, 1u << FLOW_PART_IO },
	{ "sticky-enter", LULL_PIPELINE_THRESHOLDS, 1u << FLOW_PART_IO },
	{ "sticky-leave", LULL_PIPELINE_THRESHOLDS, 1u << FLOW_PART_IO },
	{ "flush-burst", LULL_PIPELINE_FLUSH, 1u << FLOW_PART_IO },
	{ "flush-time", LULL_PIPELINE_FLUSH, 1u << FLOW_PART_IO },
	{ "idle-timeout", LULL_PIPELINE_IDLE,
	  1u << FLOW_PART_IO | 1u << FLOW_PART_WORKER | 1u << FLOW_PART_AGGREGATOR },
	{ "worker-delay", LULL_PIPELINE_WORK, 1u << FLOW_PART_WORKER },
};

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

/* Where nobody dispatches there is nobody to be told. */
static bool
control_is_dispatch(enum lull_pipeline_verb verb)
{
	return verb == LULL_PIPELINE_SCHEDULER || verb == LULL_PIPELINE_THRESHOLDS ||
	       verb == LULL_PIPELINE_FLUSH;
}

/* What concerns the pipeline concerns all loops of a part. */
static int
control_apply_stages(struct flow *flow, const struct lull_live_change *change, size_t row,
		     struct lull_error *error)
{
	const struct flow_settings *settings = change->settings;
	struct lull_pipeline_command command = control_command(settings, stage_keys[row].verb);

	if (change->loop[0] != '\0')
		return lull_error_set(error, -EINVAL, "%s: it is set for all loops, not for one",
				      stage_keys[row].key);
	if (flow_workers_read(flow) && control_is_dispatch(command.verb))
		return lull_error_set(error, -ENOTSUP,
				      "%s: workers read these files themselves, each flow is read "
				      "by one of them; start with --scheduler for a dispatcher",
				      stage_keys[row].key);
	/* Dispatchers have forgotten who had flows that were silent for longer. */
	if (command.verb == LULL_PIPELINE_IDLE && command.idle_ns > flow->idle_ns_max)
		return lull_error_set(error, -ERANGE,
				      "idle-timeout: at most the %g s it was started with; start "
				      "with --idle-timeout for longer",
				      (double)flow->idle_ns_max / (double)LULL_NS_PER_S);
	for (uint32_t i = 0; i < flow->loops.count; i++) {
		int rc = 0;

		if (flow->threads[i].part == FLOW_PART_WHOLE ||
		    (stage_keys[row].parts & 1u << flow->threads[i].part) != 0)
			rc = lull_live_post_stage(flow->loops.loops[i], &command, sizeof(command),
						  error);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int
control_apply(void *state, const struct lull_live_change *change, struct lull_error *error)
{
	const struct flow_settings *settings = change->settings;
	struct flow *flow = state;

	for (size_t row = 0; row < sizeof(stage_keys) / sizeof(*stage_keys); row++)
		if (strcmp(stage_keys[row].key, change->option->key) == 0)
			return control_apply_stages(flow, change, row, error);
	return lull_live_loops_change(&flow->loops, change, &settings->resting, error);
}

int
flow_control_start(struct flow *flow, struct lull_error *error)
{
	int rc;

	flow->idle_ns_max = flow->settings.idle_ns;
	flow->live = (struct lull_live){
		.apply = control_apply,
		.telemetry = {
			.loops = flow->loops.loops,
			.loop_count = flow->loops.count,
			.commands = flow_commands,
		},
	};
	rc = lull_live_start(&flow->live, &flow->run, error);
	return rc == 0 ? lull_live_remember(&flow->live, error) : rc;
}
