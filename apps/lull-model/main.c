/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/result.h"
#include "framework.h"

static int
main_result(const struct framework *framework, struct lull_error *error)
{
	const char *path = framework->settings.json;
	json_t *result = framework_result(framework);
	int rc = 0;

	if (result == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the result");
	if (path[0] != '\0')
		rc = lull_result_write(path, result, error);
	if (rc == 0 && strcmp(path, "-") != 0)
		framework_print(result, stdout);
	json_decref(result);
	return rc;
}

static int
main_run(struct framework *framework, struct lull_error *error)
{
	const struct model_settings *settings = &framework->settings;
	int rc = model_settings_check(settings, error);

	if (rc == 0 && settings->json[0] != '\0')
		rc = lull_result_check(settings->json, error);
	if (rc == 0)
		rc = framework_open(framework, error);
	if (rc == 0)
		rc = settings->burst_cost ? framework_cost(framework, error) :
					    framework_run(framework, error);
	if (rc == 0)
		rc = main_result(framework, error);
	framework_close(framework);
	return rc;
}

int
main(int argc, char **argv)
{
	struct lull_error error = { .text = "" };
	enum lull_options_action action;
	struct framework *framework = calloc(1, sizeof(*framework));
	int rc;

	if (framework == NULL) {
		fprintf(stderr, "lull-model: no memory\n");
		return EXIT_FAILURE;
	}
	model_settings_preset(&framework->settings);
	rc = lull_options_parse(&model_program, argc, argv, &framework->settings, &action, &error);
	if (rc == 0 && action != LULL_OPTIONS_RUN)
		rc = lull_options_print(&model_program, action, stdout);
	else if (rc == 0)
		rc = main_run(framework, &error);
	if (rc != 0)
		fprintf(stderr, "lull-model: %s\n",
			error.text[0] != '\0' ? error.text : "cannot write to stdout");
	free(framework);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
