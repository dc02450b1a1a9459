/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry: what the receiving thread does, and changes while the program runs. */
#include <errno.h>
#include <string.h>

#include "cam.h"
#include "camera/telemetry.h"
#include "net/module.h"

/* Has its thread a governor, or does it sleep in the kernel? */
static bool
control_rests(const struct cam *cam)
{
	return strncmp(cam->settings.backend, "kernel:", 7) != 0;
}

static int
control_apply_class(struct cam *cam, const struct lull_resting *resting, struct lull_error *error)
{
	int rc = lull_receiver_change_class(cam->receiver,
					    (enum lull_sched_policy)resting->sched_policy);

	if (rc == 0)
		rc = lull_receiver_change_cpu_latency(cam->receiver, resting->cpu_latency_ns);
	return rc == 0 ? 0 :
			 lull_error_set(error, rc,
					"a thread that reads a capture keeps its scheduling class "
					"and the C-states of its CPU");
}

static int
control_apply_limits(struct cam *cam, const struct lull_resting *resting, struct lull_error *error)
{
	const struct lull_idle_limits limits = lull_resting_limits(resting, NULL);
	int rc;

	if (!control_rests(cam))
		return lull_error_set(error, -ENOTSUP,
				      "kernel: sleeps in the kernel until packets come, without a "
				      "governor; only sched-policy and cpu-latency can be changed");
	rc = lull_receiver_change(cam->receiver,
				  lull_idle_governor_name(lull_resting_governor(resting)), &limits);
	if (rc == -EAGAIN)
		return lull_error_set(error, rc,
				      "the receiving thread has not taken the last changes yet; "
				      "try again");
	return rc == 0 ? 0 :
			 lull_error_set(error, rc, "the limits do not fit together: %s",
					strerror(-rc));
}

/* Only rows of resting are live. */
static int
control_apply(void *state, const struct lull_live_change *change, struct lull_error *error)
{
	const struct lull_resting *resting =
		&((const struct cam_settings *)change->settings)->resting;
	struct cam *cam = state;
	int rc;

	if (change->loop[0] != '\0' && strcmp(change->loop, lull_loop_name(cam->loop)) != 0)
		return lull_error_set(error, -ENOENT, "no loop '%.*s': the one loop is %s",
				      LULL_ERROR_SHOWN, change->loop, lull_loop_name(cam->loop));
	rc = strcmp(change->option->key, "sched-policy") == 0 ||
			     strcmp(change->option->key, "cpu-latency") == 0 ?
		     control_apply_class(cam, resting, error) :
		     control_apply_limits(cam, resting, error);
	if (rc == 0) /* the one loop is all of them */
		cam->settings.resting = *resting;
	return rc;
}

/* With DPDK's environment its socket takes the commands, which the module knows. */
int
cam_control_start(struct cam *cam, struct lull_error *error)
{
	const struct lull_net_module *module = lull_net_module_loaded();
	int rc;

	cam->loop = camera_loop(cam->receiver);
	cam->live = (struct lull_live){
		.apply = control_apply,
		.telemetry = { .loops = &cam->loop, .loop_count = 1, .commands = cam_commands },
	};
	lull_live_describe(&cam->live, &cam->run);
	rc = module != NULL ? module->telemetry_start(&cam->live.telemetry) :
			      lull_telemetry_start(&cam->live.telemetry);
	cam->telemetry_runs = rc == 0;
	return rc == 0 ? 0 :
			 lull_error_set(error, rc, "no telemetry, lull top does not show this: %s",
					strerror(-rc));
}

void
cam_control_stop(struct cam *cam)
{
	const struct lull_net_module *module = lull_net_module_loaded();

	if (cam->telemetry_runs && module != NULL)
		module->telemetry_stop();
	else if (cam->telemetry_runs)
		lull_telemetry_stop();
}
