/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings read again while the program runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"

/* As main() reads them; freed by the caller. */
static void *
reload_read(const struct lull_run *run, struct lull_error *error)
{
	const struct lull_program *program = run->program;
	void *settings = calloc(1, program->settings_size);
	enum lull_options_action action;

	if (settings == NULL) {
		lull_error_set(error, -ENOMEM, "no memory for settings");
		return NULL;
	}
	lull_run_preset(program, settings);
	if (lull_options_parse(program, run->argc, run->argv, settings, &action, error) == 0)
		return settings;
	free(settings);
	return NULL;
}

int
lull_live_remember(struct lull_live *live, struct lull_error *error)
{
	live->told = reload_read(live->run, error);
	return live->told == NULL ? -EINVAL : 0;
}

void
lull_live_forget(struct lull_live *live)
{
	free(live->told);
	live->told = NULL;
}

static bool
reload_lists_differ(const struct lull_option_list *a, const struct lull_option_list *b)
{
	if (a->count != b->count)
		return true;
	for (uint32_t i = 0; i < a->count; i++) {
		if (strcmp(a->items[i], b->items[i]) != 0)
			return true;
	}
	return false;
}

static bool
reload_differs(const struct lull_option *option, const void *a, const void *b)
{
	const char *one = (const char *)a + option->offset,
		   *other = (const char *)b + option->offset;
	char text[2][LULL_OPTION_VALUE_TEXT];

	/* Lists and long texts are longer than what can be printed. */
	if (option->type == LULL_OPTION_LIST)
		return reload_lists_differ((const void *)one, (const void *)other);
	if (option->type == LULL_OPTION_TEXT)
		return strcmp(one, other) != 0;
	if (lull_option_is_set(option, a) != lull_option_is_set(option, b))
		return true;
	return lull_option_is_set(option, a) &&
	       strcmp(lull_option_print(option, a, text[0], sizeof(text[0])),
		      lull_option_print(option, b, text[1], sizeof(text[1]))) != 0;
}

/* Carry out one difference; the sentence says what became of it. */
static void
reload_row(struct lull_live *live, const struct lull_option *option, const void *fresh,
	   struct lull_error *sentence)
{
	char value[LULL_OPTION_VALUE_TEXT], assignment[2 * LULL_OPTION_VALUE_TEXT];
	int rc = 0;

	if (!option->live || !lull_option_is_set(option, fresh)) {
		lull_error_set(sentence, 0, "%s has changed; it takes effect at the next start",
			       option->key);
		return;
	}
	lull_option_print(option, fresh, value, sizeof(value));
	snprintf(assignment, sizeof(assignment), "%s=%s", option->key, value);
	rc = live->telemetry.set(live->telemetry.arg, assignment, sentence);
	if (rc == 0)
		lull_error_set(sentence, 0, "%s is %s now", option->key, value);
}

void
lull_live_reload(struct lull_live *live, void (*tell)(void *arg, const char *text), void *arg)
{
	struct lull_error error;
	void *fresh = reload_read(live->run, &error);

	if (fresh == NULL) {
		lull_error_prefix(&error, "settings stay as they are: ");
		tell(arg, error.text);
		return;
	}
	for (const struct lull_option *option = live->run->program->options; option->key != NULL;
	     option++) {
		if (!reload_differs(option, live->told, fresh))
			continue;
		reload_row(live, option, fresh, &error);
		tell(arg, error.text);
	}
	free(live->told);
	live->told = fresh;
}
