/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "program/result.h"
#include "program.h"

static int
main_write(const char *path, json_t *result, struct lull_error *error)
{
	int rc;

	if (result == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the result");
	rc = lull_result_write(path, result, error);
	json_decref(result);
	return rc;
}

static int
main_run(struct sim_program *program, struct lull_error *error)
{
	const struct sim_settings *settings = &program->settings;
	bool json = settings->json[0] != '\0';
	int rc = sim_settings_check(settings, error);

	if (rc == 0 && json)
		rc = lull_result_check(settings->json, error);
	if (rc == 0 && settings->describe[0] != '\0')
		return main_write(json ? settings->json : "-", sim_result_machine(settings), error);
	program->table = !json;
	program->runs = json_array();
	program->sweep = json_array();
	if (rc == 0)
		rc = sim_program_run(program, error);
	if (rc == 0 && json)
		rc = main_write(settings->json, sim_result(program), error);
	json_decref(program->runs);
	json_decref(program->sweep);
	sim_capture_close(&program->capture);
	return rc;
}

int
main(int argc, char **argv)
{
	struct lull_error error = { .text = "" };
	enum lull_options_action action;
	struct sim_program *program = calloc(1, sizeof(*program));
	int rc;

	if (program == NULL) {
		fprintf(stderr, "lull-sim: no memory\n");
		return EXIT_FAILURE;
	}
	sim_settings_preset(&program->settings);
	rc = lull_options_parse(&sim_program, argc, argv, &program->settings, &action, &error);
	if (rc == 0 && action != LULL_OPTIONS_RUN)
		rc = lull_options_print(&sim_program, action, stdout);
	else if (rc == 0)
		rc = main_run(program, &error);
	if (rc != 0)
		fprintf(stderr, "lull-sim: %s\n",
			error.text[0] != '\0' ? error.text : "cannot write to stdout");
	free(program);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
