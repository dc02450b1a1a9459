/* SPDX-License-Identifier: BSD-3-Clause */
#include "live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
live_change(struct lull_live *live, const char *assignment, void *copy, struct lull_error *error)
{
	const struct lull_program *program = live->run->program;
	char loop[LULL_OPTION_LOOP_MAX], key[LULL_ERROR_SHOWN];
	struct lull_live_change change = { .loop = loop, .settings = copy };
	int rc;

	memcpy(copy, lull_run_settings(live->run), program->settings_size);
	rc = lull_options_change(program->options, copy, assignment, loop, error);
	if (rc != 0)
		return rc;
	snprintf(key, sizeof(key), "%.*s", (int)strcspn(assignment, "@="), assignment);
	change.option = lull_options_find(program->options, key);
	rc = live->apply(live->run, &change, error);
	/* What is said of all loops is the program's setting. */
	if (rc == 0 && loop[0] == '\0')
		memcpy(lull_run_settings(live->run), copy, program->settings_size);
	return rc;
}

static int
live_set(void *arg, const char *assignment, struct lull_error *error)
{
	struct lull_live *live = arg;
	const struct lull_program *program = live->run->program;
	void *copy = malloc(program->settings_size);
	int rc;

	if (live->apply == NULL) {
		rc = lull_error_set(error, -EPERM,
				    "%s has no settings that can be changed while "
				    "it runs",
				    program->name);
	} else if (copy == NULL) {
		rc = lull_error_set(error, -ENOMEM, "no memory for a change");
	} else {
		pthread_mutex_lock(&live->run->lock);
		rc = live_change(live, assignment, copy, error);
		pthread_mutex_unlock(&live->run->lock);
	}
	free(copy);
	return rc;
}

static void
live_settings(void *arg, void (*put)(void *put_arg, const char *key, const char *value),
	      void *put_arg)
{
	struct lull_live *live = arg;
	const struct lull_option *option = live->run->program->options;
	char text[LULL_OPTION_VALUE_TEXT];

	pthread_mutex_lock(&live->run->lock);
	for (; option->key != NULL; option++)
		if (option->live || live->apply == NULL)
			put(put_arg, option->key,
			    lull_option_print(option, lull_run_settings(live->run), text,
					      sizeof(text)));
	pthread_mutex_unlock(&live->run->lock);
}

void
lull_live_describe(struct lull_live *live, struct lull_run *run)
{
	live->run = run;
	live->telemetry.program = run->program->name;
	live->telemetry.version = run->program->version;
	live->telemetry.set = live_set;
	live->telemetry.settings = live_settings;
	live->telemetry.arg = live;
}

void *
lull_live_state(void *arg)
{
	return ((struct lull_live *)arg)->run;
}
