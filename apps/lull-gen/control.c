/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "gen.h"

static int
control_post(struct gen *gen, const struct lull_arrival_config *arrival, struct lull_error *error)
{
	const struct lull_traffic_command command = { .arrival = *arrival };

	return lull_live_post_stage(gen->loops.loops[0], &command, sizeof(command), error);
}

/* Only traffic is live. */
static int
control_apply(void *state, const struct lull_live_change *change, struct lull_error *error)
{
	const struct gen_settings *settings = change->settings;
	struct gen *gen = state;
	const char *name = lull_loop_name(gen->loops.loops[0]);
	int rc;

	if (change->loop[0] != '\0' && strcmp(change->loop, name) != 0)
		return lull_error_set(error, -ENOENT, "no loop '%.*s', there is %s",
				      LULL_ERROR_SHOWN, change->loop, name);
	if (gen->settings.rx_only)
		return lull_error_set(error, -EPERM, "traffic: rx-only sends nothing");
	if (gen->replay != NULL)
		return lull_error_set(error, -EPERM, "traffic: a replay keeps to its file");
	rc = control_post(gen, &settings->arrival, error);
	if (rc == 0)
		gen->settings.arrival = settings->arrival;
	return rc;
}

int
gen_control_start(struct gen *gen, struct lull_error *error)
{
	gen->live = (struct lull_live){
		.apply = control_apply,
		.telemetry = {
			.loops = gen->loops.loops,
			.loop_count = gen->loops.count,
			.traffic = lull_live_traffic,
			.latency = lull_live_latency,
		},
	};
	return lull_live_start(&gen->live, &gen->run, error);
}

void
gen_control_off(struct gen *gen)
{
	struct lull_arrival_config arrival;
	struct lull_error unheard;

	pthread_mutex_lock(&gen->run.lock);
	arrival = gen->settings.arrival;
	arrival.kind = LULL_ARRIVAL_OFF;
	while (control_post(gen, &arrival, &unheard) == -EAGAIN)
		;
	pthread_mutex_unlock(&gen->run.lock);
}
