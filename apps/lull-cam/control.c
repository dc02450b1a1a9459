/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes while the program runs. They come over DPDK's telemetry, which is there only when the
 * back end is a DPDK port; the other back ends keep what they began with.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cam.h"
#include "net/module.h"

static int
control_change(struct cam *cam, const char *assignment, struct lull_error *error)
{
	struct cam_settings *settings = &cam->settings;
	struct lull_resting before = settings->resting;
	char loop[LULL_OPTION_LOOP_MAX];
	struct lull_idle_limits limits;
	int rc;

	rc = lull_options_change(cam_program.options, settings, assignment, loop, error);
	if (rc == 0 && loop[0] != '\0')
		rc = lull_error_set(error, -ENOENT,
				    "no loop '%.*s': one thread receives all streams",
				    LULL_ERROR_SHOWN, loop);
	if (rc == 0) {
		limits = lull_resting_limits(&settings->resting, NULL);
		rc = lull_camera_change(
			cam->camera,
			lull_idle_governor_name(lull_resting_governor(&settings->resting)),
			&limits);
		if (rc == 0)
			rc = lull_camera_change_class(
				cam->camera,
				(enum lull_sched_policy)settings->resting.sched_policy);
		if (rc != 0)
			lull_error_set(error, rc, "the limits do not fit together: %s",
				       strerror(-rc));
	}
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

int
cam_control_start(struct cam *cam, struct lull_error *error)
{
	const struct lull_net_module *module = lull_net_module_loaded();
	int rc;

	if (module == NULL)
		return 0;
	cam->telemetry = (struct lull_telemetry_config){
		.program = cam_program.name,
		.version = cam_program.version,
		.set = control_set,
		.settings = control_settings,
		.arg = cam,
	};
	rc = module->telemetry_start(&cam->telemetry);
	cam->telemetry_runs = rc == 0;
	return rc == 0 ? 0 : lull_error_set(error, rc, "no telemetry: %s", strerror(-rc));
}
