/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "program/result.h"
#include "gen.h"

static int
main_result(struct gen *gen, struct lull_error *error)
{
	json_t *result = gen_result(gen);
	int rc;

	if (result == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the result");
	rc = lull_result_write(gen->settings.json, result, error);
	json_decref(result);
	return rc;
}

static int
main_run(struct gen *gen, struct lull_error *error)
{
	bool json = gen->settings.json[0] != '\0';
	int rc;

	rc = gen_settings_check(&gen->settings, error);
	if (rc == 0 && json)
		rc = lull_result_check(gen->settings.json, error);
	if (rc == 0)
		rc = gen_open(gen, error);
	if (rc == 0)
		rc = gen_run(gen, error);
	if (rc == 0 && json)
		rc = main_result(gen, error);
	gen_close(gen);
	return rc;
}

int
main(int argc, char **argv)
{
	struct lull_error error = { .text = "" };
	enum lull_options_action action;
	struct gen *gen;
	int rc;

	gen = calloc(1, sizeof(*gen));
	if (gen == NULL) {
		fprintf(stderr, "lull-gen: no memory\n");
		return EXIT_FAILURE;
	}
	pthread_mutex_init(&gen->lock, NULL);
	gen_settings_preset(&gen->settings);
	rc = lull_options_parse(&gen_program, argc, argv, &gen->settings, &action, &error);
	if (rc == 0 && action != LULL_OPTIONS_RUN)
		rc = lull_options_print(&gen_program, action, stdout);
	else if (rc == 0)
		rc = main_run(gen, &error);
	if (rc != 0)
		fprintf(stderr, "lull-gen: %s\n",
			error.text[0] != '\0' ? error.text : "cannot write to stdout");
	pthread_mutex_destroy(&gen->lock);
	free(gen);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
