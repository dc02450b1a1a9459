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
main_run(struct flow_sim *program, struct lull_error *error)
{
	bool json = program->settings.json[0] != '\0';
	int rc = json ? lull_result_check(program->settings.json, error) : 0;

	program->table = !json;
	program->runs = json_array();
	program->bisections = json_array();
	if (rc == 0)
		rc = flow_sim_run_all(program, error);
	if (rc == 0 && json)
		rc = main_write(program->settings.json, flow_sim_result(program), error);
	json_decref(program->runs);
	json_decref(program->bisections);
	return rc;
}

int
main(int argc, char **argv)
{
	struct lull_error error = { .text = "" };
	enum lull_options_action action;
	struct flow_sim *program = calloc(1, sizeof(*program));
	int rc;

	if (program == NULL) {
		fprintf(stderr, "lull-flow-sim: no memory\n");
		return EXIT_FAILURE;
	}
	rc = lull_options_parse(&flow_sim_program, argc, argv, &program->settings, &action, &error);
	if (rc == 0 && action != LULL_OPTIONS_RUN)
		rc = lull_options_print(&flow_sim_program, action, stdout);
	else if (rc == 0)
		rc = main_run(program, &error);
	if (rc != 0)
		fprintf(stderr, "lull-flow-sim: %s\n",
			error.text[0] != '\0' ? error.text : "cannot write to stdout");
	free(program);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
