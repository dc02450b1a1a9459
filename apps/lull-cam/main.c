/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cam.h"
#include "program/result.h"

static int
main_result(struct cam *cam, struct lull_error *error)
{
	json_t *result = cam_result(cam);
	int rc;

	if (result == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the result");
	rc = lull_result_write(cam->settings.json, result, error);
	json_decref(result);
	return rc;
}

/* The result is written of a run that failed by its policy, too. */
static int
main_receive(struct cam *cam, struct lull_error *error)
{
	struct lull_error ignored;
	int rc = cam_open_files(cam, error);

	if (rc != 0)
		return rc;
	rc = cam_run(cam, error);
	if (cam->settings.json[0] != '\0' && (rc == 0 || cam->end == CAM_END_FAIL_STOP)) {
		int written = main_result(cam, rc == 0 ? error : &ignored);

		rc = rc == 0 ? written : rc;
	}
	return rc;
}

static int
main_camera(struct cam *cam, struct lull_error *error)
{
	bool json = cam->settings.json[0] != '\0';
	int rc;

	rc = cam_settings_check(&cam->settings, error);
	if (rc == 0)
		rc = cam_specs(cam, error);
	if (rc == 0 && json && !cam->settings.check)
		rc = lull_result_check(cam->settings.json, error);
	if (rc == 0)
		rc = cam_open(cam, error);
	if (rc == 0 && cam->settings.check)
		rc = cam_check_print(cam, stdout, error);
	else if (rc == 0)
		rc = main_receive(cam, error);
	cam_close(cam);
	return rc;
}

static int
main_run(struct cam *cam, struct lull_error *error)
{
	if (cam->settings.discover)
		return cam_discover_print(&cam->settings, stdout, error);
	return main_camera(cam, error);
}

int
main(int argc, char **argv)
{
	struct lull_error error = { .text = "" };
	enum lull_options_action action;
	struct cam *cam = calloc(1, sizeof(*cam));
	int rc;

	if (cam == NULL) {
		fprintf(stderr, "lull-cam: no memory\n");
		return EXIT_FAILURE;
	}
	pthread_mutex_init(&cam->lock, NULL);
	cam_settings_preset(&cam->settings);
	rc = lull_options_parse(&cam_program, argc, argv, &cam->settings, &action, &error);
	if (rc == 0 && action != LULL_OPTIONS_RUN)
		rc = lull_options_print(&cam_program, action, stdout);
	else if (rc == 0 && (cam->settings.help_stream || cam->settings.man_stream))
		cam_spec_print_keys(stdout, cam->settings.man_stream);
	else if (rc == 0)
		rc = main_run(cam, &error);
	if (rc != 0)
		fprintf(stderr, "lull-cam: %s\n",
			error.text[0] != '\0' ? error.text : "cannot write to stdout");
	pthread_mutex_destroy(&cam->lock);
	free(cam);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
