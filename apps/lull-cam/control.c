/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry: what the receiving thread does, and changes while the program runs. */
#include <errno.h>
#include <stdio.h>
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
control_apply(struct cam *cam, const char *assignment, struct lull_error *error)
{
	const struct lull_resting *resting = &cam->settings.resting;
	const struct lull_idle_limits limits = lull_resting_limits(resting, NULL);
	bool class = strncmp(assignment, "sched-policy", strcspn(assignment, "@=")) == 0;
	int rc = 0;

	if (!class && !control_rests(cam))
		return lull_error_set(error, -ENOTSUP,
				      "kernel: sleeps in the kernel until packets come, without a "
				      "governor; only sched-policy can be changed");
	if (!class)
		rc = lull_camera_change(cam->camera,
					lull_idle_governor_name(lull_resting_governor(resting)),
					&limits);
	if (rc == -EAGAIN)
		return lull_error_set(error, rc,
				      "the receiving thread has not taken the last changes yet; "
				      "try again");
	if (rc != 0)
		return lull_error_set(error, rc, "the limits do not fit together: %s",
				      strerror(-rc));
	if (!class)
		return 0;
	rc = lull_camera_change_class(cam->camera, (enum lull_sched_policy)resting->sched_policy);
	return rc == 0 ? 0 :
			 lull_error_set(error, rc,
					"a thread that reads a capture keeps its scheduling class");
}

static int
control_change(struct cam *cam, const char *assignment, struct lull_error *error)
{
	struct cam_settings *settings = &cam->settings;
	struct lull_resting before = settings->resting;
	char loop[LULL_OPTION_LOOP_MAX];
	int rc;

	rc = lull_options_change(cam_program.options, settings, assignment, loop, error);
	if (rc == 0 && loop[0] != '\0' && strcmp(loop, lull_loop_name(cam->loop)) != 0)
		rc = lull_error_set(error, -ENOENT, "no loop '%.*s': the one loop is %s",
				    LULL_ERROR_SHOWN, loop, lull_loop_name(cam->loop));
	if (rc == 0)
		rc = control_apply(cam, assignment, error);
	if (rc != 0)
		settings->resting = before; /* only its rows are live */
	return rc;
}

static int
control_set(void *arg, const char *assignment, char *text, size_t text_size)
{
	struct lull_error error = { .text = "" };
	struct cam *cam = arg;
	int rc;

	pthread_mutex_lock(&cam->lock);
	rc = control_change(cam, assignment, &error);
	pthread_mutex_unlock(&cam->lock);
	if (rc != 0)
		snprintf(text, text_size, "%s", error.text);
	return rc;
}

static void
control_settings(void *arg, void (*put)(void *put_arg, const char *key, const char *value),
		 void *put_arg)
{
	char text[LULL_OPTION_VALUE_TEXT];
	struct cam *cam = arg;

	pthread_mutex_lock(&cam->lock);
	for (const struct lull_option *row = cam_program.options; row->key != NULL; row++)
		if (row->live)
			put(put_arg, row->key,
			    lull_option_print(row, &cam->settings, text, sizeof(text)));
	pthread_mutex_unlock(&cam->lock);
}

/* With DPDK's environment its socket takes the commands, which the module knows. */
int
cam_control_start(struct cam *cam, struct lull_error *error)
{
	const struct lull_net_module *module = lull_net_module_loaded();
	int rc;

	cam->loop = camera_loop(cam->camera);
	cam->telemetry = (struct lull_telemetry_config){
		.program = cam_program.name,
		.version = cam_program.version,
		.loops = &cam->loop,
		.loop_count = 1,
		.set = control_set,
		.settings = control_settings,
		.arg = cam,
	};
	rc = module != NULL ? module->telemetry_start(&cam->telemetry) :
			      lull_telemetry_start(&cam->telemetry);
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
