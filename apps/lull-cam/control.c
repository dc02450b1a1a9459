/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes while the program runs. They come over DPDK's telemetry, which is there only when the
 * back end is a DPDK port; the other back ends keep what they began with.
 */
#include <errno.h>
#include <string.h>

#include "cam.h"
#include "net/module.h"

/* Only rows of resting are live. */
static int
control_apply(void *state, const struct lull_live_change *change, struct lull_error *error)
{
	const struct lull_resting *resting =
		&((const struct cam_settings *)change->settings)->resting;
	struct lull_idle_limits limits = lull_resting_limits(resting, NULL);
	struct cam *cam = state;
	int rc;

	if (change->loop[0] != '\0')
		return lull_error_set(error, -ENOENT,
				      "no loop '%.*s': one thread receives all streams",
				      LULL_ERROR_SHOWN, change->loop);
	rc = lull_camera_change(cam->camera,
				lull_idle_governor_name(lull_resting_governor(resting)), &limits);
	if (rc == 0)
		rc = lull_camera_change_class(cam->camera,
					      (enum lull_sched_policy)resting->sched_policy);
	return rc == 0 ? 0 :
			 lull_error_set(error, rc, "the limits do not fit together: %s",
					strerror(-rc));
}

int
cam_control_start(struct cam *cam, struct lull_error *error)
{
	const struct lull_net_module *module = lull_net_module_loaded();
	int rc;

	if (module == NULL)
		return 0;
	cam->live = (struct lull_live){ .apply = control_apply };
	lull_live_describe(&cam->live, &cam->run);
	rc = module->telemetry_start(&cam->live.telemetry);
	cam->telemetry_runs = rc == 0;
	return rc == 0 ? 0 : lull_error_set(error, rc, "telemetry: %s", strerror(-rc));
}
