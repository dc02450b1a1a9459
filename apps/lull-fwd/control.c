/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "fwd.h"

static int
control_post_traffic(struct fwd *fwd, const struct lull_arrival_config *arrival,
		     struct lull_error *error)
{
	const struct lull_traffic_command command = { .arrival = *arrival };

	return lull_live_post_stage(fwd->traffic, &command, sizeof(command), error);
}

static int
control_apply_traffic(struct fwd *fwd, const struct lull_live_change *change,
		      struct lull_error *error)
{
	const struct fwd_settings *settings = change->settings;
	int rc;

	if (fwd->traffic == NULL)
		return lull_error_set(error, -EPERM,
				      "traffic: this process makes none; start it with --traffic "
				      "off or use lull-gen");
	if (change->loop[0] != '\0' && strcmp(change->loop, lull_loop_name(fwd->traffic)) != 0)
		return lull_error_set(error, -ENOENT, "traffic: it is made by %s, not by %.*s",
				      lull_loop_name(fwd->traffic), LULL_ERROR_SHOWN, change->loop);
	if (!settings->traffic.wanted)
		return lull_error_set(error, -EPERM,
				      "traffic: none cannot be chosen at run time, off can");
	rc = control_post_traffic(fwd, &settings->traffic.arrival, error);
	if (rc == 0)
		fwd->settings.traffic.arrival = settings->traffic.arrival;
	return rc;
}

static int
control_apply(void *state, const struct lull_live_change *change, struct lull_error *error)
{
	const struct fwd_settings *settings = change->settings;
	struct fwd *fwd = state;

	if (strcmp(change->option->key, "traffic") == 0)
		return control_apply_traffic(fwd, change, error);
	return lull_live_loops_change(&fwd->loops, change, &settings->resting, error);
}

int
fwd_control_start(struct fwd *fwd, struct lull_error *error)
{
	fwd->live = (struct lull_live){
		.apply = control_apply,
		.telemetry = {
			.loops = fwd->loops.loops,
			.loop_count = fwd->loops.count,
			.traffic = lull_live_traffic,
			.latency = lull_live_latency,
		},
	};
	return lull_live_start(&fwd->live, &fwd->run, error);
}

void
fwd_control_traffic_off(struct fwd *fwd)
{
	struct lull_arrival_config arrival;
	struct lull_error unheard;

	pthread_mutex_lock(&fwd->run.lock);
	arrival = fwd->settings.traffic.arrival;
	arrival.kind = LULL_ARRIVAL_OFF;
	control_post_traffic(fwd, &arrival, &unheard);
	pthread_mutex_unlock(&fwd->run.lock);
}
