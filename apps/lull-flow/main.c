/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/result.h"
#include "flow.h"

static int
main_result(struct flow *flow, struct lull_error *error)
{
	json_t *result = flow_result(flow);
	int rc;

	if (result == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the result");
	rc = lull_result_write(flow->settings.result, result, error);
	json_decref(result);
	return rc;
}

static int
main_run(struct flow *flow, struct lull_error *error)
{
	const char *path = flow->settings.result;
	struct lull_error later;
	int rc, result_rc;

	rc = flow_settings_check(&flow->settings, error);
	if (rc == 0 && strcmp(path, "-") == 0 && strcmp(flow->settings.json, "-") == 0)
		rc = lull_error_set(error, -EINVAL, "result: stdout is taken by --json");
	if (rc == 0 && path[0] != '\0')
		rc = lull_result_check(path, error);
	if (rc == 0)
		rc = flow_open(flow, error);
	if (rc != 0) {
		flow_close(flow);
		return rc;
	}
	rc = flow_run(flow, error);
	/* What went wrong in the run is in the result too. */
	if (path[0] != '\0' && flow->end_ns > 0) {
		result_rc = main_result(flow, rc == 0 ? error : &later);
		rc = rc == 0 ? result_rc : rc;
	}
	if (flow->end_ns > 0)
		flow_summary_print(flow);
	flow_close(flow);
	return rc;
}

static int
main_replay(const struct flow_settings *settings, struct lull_error *error)
{
	return flow_decisions_replay(
		settings->replay,
		settings->scheduler != FLOW_NOT_CHOSEN ? flow_settings_scheduler(settings) : NULL,
		error);
}

int
main(int argc, char **argv)
{
	struct lull_error error = { .text = "" };
	enum lull_options_action action;
	struct flow *flow;
	int rc;

	flow = calloc(1, sizeof(*flow));
	if (flow == NULL) {
		fprintf(stderr, "lull-flow: no memory\n");
		return EXIT_FAILURE;
	}
	pthread_mutex_init(&flow->lock, NULL);
	flow_settings_preset(&flow->settings);
	rc = lull_options_parse(&flow_program, argc, argv, &flow->settings, &action, &error);
	if (rc == 0 && action != LULL_OPTIONS_RUN)
		rc = lull_options_print(&flow_program, action, stdout);
	else if (rc == 0 && flow->settings.replay[0] != '\0')
		rc = main_replay(&flow->settings, &error);
	else if (rc == 0)
		rc = main_run(flow, &error);
	if (rc != 0)
		fprintf(stderr, "lull-flow: %s\n",
			error.text[0] != '\0' ? error.text : "cannot write to stdout");
	pthread_mutex_destroy(&flow->lock);
	free(flow);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
