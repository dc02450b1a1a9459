/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "program/result.h"
#include "source.h"

static int
main_result(struct source *source, struct lull_error *error)
{
	json_t *result = source_result(source);
	int rc;

	if (result == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the result");
	rc = lull_result_write(source->settings.json, result, error);
	json_decref(result);
	return rc;
}

static int
main_run(struct source *source, struct lull_error *error)
{
	bool json = source->settings.json[0] != '\0';
	int rc;

	source_settings_fill(&source->settings);
	rc = source_settings_check(&source->settings, error);
	if (rc == 0 && json)
		rc = lull_result_check(source->settings.json, error);
	if (rc == 0)
		rc = source_open(source, error);
	if (rc == 0)
		rc = source_run(source, error);
	if (rc == 0 && json)
		rc = main_result(source, error);
	source_close(source);
	return rc;
}

int
main(int argc, char **argv)
{
	struct lull_error error = { .text = "" };
	struct source *source = calloc(1, sizeof(*source));
	enum lull_options_action action;
	int rc;

	if (source == NULL) {
		fprintf(stderr, "lull-cam-source: no memory\n");
		return EXIT_FAILURE;
	}
	source->signals = -1;
	source_settings_preset(&source->settings);
	rc = lull_options_parse(&source_program, argc, argv, &source->settings, &action, &error);
	if (rc == 0 && action != LULL_OPTIONS_RUN)
		rc = lull_options_print(&source_program, action, stdout);
	else if (rc == 0)
		rc = main_run(source, &error);
	if (rc != 0)
		fprintf(stderr, "lull-cam-source: %s\n",
			error.text[0] != '\0' ? error.text : "cannot write to stdout");
	free(source);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
