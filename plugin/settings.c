/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EAL hands a plugin no arguments, so settings come from the environment (LULL_MAX_LATENCY=100) or
 * from a file (LULL_CONFIG, else /etc/lull/plugin.yaml), the environment winning. LULL says whether
 * to do anything at all: without it and without a file the plugin stays inert.
 */
#include "plugin.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/option.h"
#include "program/program.h"
#include "program/resting.h"

#define SYSTEM_FILE "/etc/lull/plugin.yaml"

static const char *const unseen_names[] = { "stay", "rest", NULL };
static const char *const mode_names[] = { "off", "passive", "shadow", "on", NULL };

#define LULL_SETTINGS struct plugin_settings

static const struct lull_option options[] = {
	LULL_ROW_CHOICE("mode", mode,
			"Rest, only compute rests, only measure how busy threads are, or nothing.",
			.choices = mode_names, .value = "on", .live = true),
	/* What the plugin differs in: it must not hold up what it cannot see in the program, like
	   timers or a Tx drain, and leaves the class of its threads as it is. */
	LULL_RESTING_OPTIONS_OF(resting, "100", "100", "other", .value = "objective"),
	LULL_ROW_COUNT("ring", NULL, ring_pkts, "Descriptors per Rx ring; 0: as the port says.",
		       .unit = "packets", .low = 0, .high = 1u << 20, .value = "0", .live = true),
	LULL_ROW_CHOICE("unseen", unseen,
			"In a program with work that the plugin cannot see: stay awake, or rest.",
			.choices = unseen_names, .value = "stay", .live = true),
	LULL_ROW_FILE("report", NULL, report,
		      "Where the final report goes: a file, - for stderr, or none.", .value = "-"),
	{ .key = NULL },
};

static const struct lull_program program = {
	.name = "lull-plugin",
	.version = "",
	.summary = "settings of the lull plugin",
	.options = options,
};

const char *
plugin_mode_name(uint32_t mode)
{
	return mode_names[mode];
}

const struct lull_idle_governor *
plugin_settings_governor(const struct plugin_settings *settings)
{
	return lull_resting_governor(&settings->resting);
}

/* max-latency is LULL_MAX_LATENCY */
static const char *
settings_environment(const char *key)
{
	char name[64] = "LULL_";
	size_t length = strlen(name);

	for (; *key != '\0' && length + 1 < sizeof(name); key++)
		name[length++] = *key == '-' ? '_' : (char)toupper((unsigned char)*key);
	name[length] = '\0';
	return getenv(name);
}

static bool
settings_known(const char *key)
{
	const struct lull_option *option = options;

	while (option->key != NULL && strcmp(option->key, key) != 0)
		option++;
	return option->key != NULL;
}

/* LULL_MAX_LATENY is nobody's; LULL_BUILD may well be. */
static int
settings_misspelt(struct lull_error *error)
{
	extern char **environ;
	char key[64], suggestion[64];

	for (char **entry = environ; *entry != NULL; entry++) {
		const char *c = *entry + strlen("LULL_");
		size_t length = 0;

		if (strncmp(*entry, "LULL_", strlen("LULL_")) != 0 ||
		    strncmp(c, "CONFIG=", strlen("CONFIG=")) == 0)
			continue;
		for (; *c != '=' && *c != '\0' && length + 1 < sizeof(key); c++)
			key[length++] = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
		key[length] = '\0';
		if (settings_known(key))
			continue;
		if (lull_options_suggest(options, key, "", suggestion, sizeof(suggestion))[0] !=
		    '\0')
			return lull_error_set(error, -EINVAL, "%.*s: no such setting, %s",
					      (int)strcspn(*entry, "="), *entry, suggestion);
	}
	return 0;
}

static int
settings_from_environment(struct plugin_settings *settings, struct lull_error *error)
{
	const struct lull_option *option;
	int misspelt = settings_misspelt(error);

	if (misspelt != 0)
		return misspelt;
	for (option = options; option->key != NULL; option++) {
		const char *value = settings_environment(option->key);
		int rc;

		if (value == NULL)
			continue;
		rc = lull_options_set(options, settings, option->key, value, error);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int
plugin_settings_load(struct plugin_settings *settings, struct lull_error *error)
{
	const char *mode = getenv("LULL");
	const char *file = getenv("LULL_CONFIG");
	const struct lull_option *option;
	int rc = 0;

	if (mode != NULL && mode[0] == '\0')
		mode = NULL;
	if (file == NULL && access(SYSTEM_FILE, R_OK) == 0)
		file = SYSTEM_FILE;
	if ((mode == NULL && file == NULL) || (mode != NULL && strcmp(mode, "off") == 0))
		return 1;
	memset(settings, 0, sizeof(*settings));
	for (option = options; rc == 0 && option->key != NULL; option++)
		rc = lull_options_set(options, settings, option->key, option->value, error);
	if (rc == 0 && file != NULL)
		rc = lull_options_load(&program, file, settings, error);
	if (rc == 0)
		rc = settings_from_environment(settings, error);
	if (rc == 0 && mode != NULL)
		rc = lull_options_set(options, settings, "mode",
				      strcmp(mode, "1") == 0 ? "on" : mode, error);
	return rc;
}

int
plugin_settings_change(struct plugin_settings *settings, const char *assignment, char *loop,
		       struct lull_error *error)
{
	return lull_options_change(options, settings, assignment, loop, error);
}

void
plugin_settings_print(const struct plugin_settings *settings,
		      void (*put)(void *arg, const char *key, const char *value), void *arg)
{
	char text[LULL_OPTION_VALUE_TEXT];
	const struct lull_option *option;

	for (option = options; option->key != NULL; option++)
		if (option->live)
			put(arg, option->key,
			    lull_option_print(option, settings, text, sizeof(text)));
}
