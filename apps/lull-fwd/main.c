/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "program/result.h"
#include "fwd.h"

static int
main_result(struct fwd *fwd, struct lull_error *error)
{
	json_t *result = fwd_result(fwd);
	int rc;

	if (result == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the result");
	rc = lull_result_write(fwd->settings.json, result, error);
	json_decref(result);
	return rc;
}

static int
main_run(struct fwd *fwd, struct lull_error *error)
{
	bool json = fwd->settings.json[0] != '\0';
	int rc;

	rc = fwd_settings_check(&fwd->settings, error);
	if (rc == 0 && json)
		rc = lull_result_check(fwd->settings.json, error);
	if (rc == 0)
		rc = fwd_open(fwd, error);
	if (rc == 0)
		rc = fwd_run(fwd, error);
	if (rc == 0 && json)
		rc = main_result(fwd, error);
	if (rc == 0)
		fwd_summary_print(fwd);
	fwd_close(fwd);
	return rc;
}

int
main(int argc, char **argv)
{
	struct lull_error error = { .text = "" };
	enum lull_options_action action;
	struct fwd *fwd;
	int rc;

	fwd = calloc(1, sizeof(*fwd));
	if (fwd == NULL) {
		fprintf(stderr, "lull-fwd: no memory\n");
		return EXIT_FAILURE;
	}
	pthread_mutex_init(&fwd->lock, NULL);
	fwd_settings_preset(&fwd->settings);
	rc = lull_options_parse(&fwd_program, argc, argv, &fwd->settings, &action, &error);
	if (rc == 0 && action != LULL_OPTIONS_RUN)
		rc = lull_options_print(&fwd_program, action, stdout);
	else if (rc == 0)
		rc = main_run(fwd, &error);
	if (rc != 0)
		fprintf(stderr, "lull-fwd: %s\n",
			error.text[0] != '\0' ? error.text : "cannot write to stdout");
	pthread_mutex_destroy(&fwd->lock);
	free(fwd);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
