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
#include "program/options.h"

#define SYSTEM_FILE "/etc/lull/plugin.yaml"

static const char *const mode_names[] = { "off", "passive", "shadow", "on", NULL };

#define MEMBER(member) LULL_OPTION_MEMBER(struct plugin_settings, member)
static const struct lull_option options[] = {
	{ .key = "mode",
	  .type = LULL_OPTION_CHOICE,
	  .choices = mode_names,
	  .value = "on",
	  .live = true,
	  .help = "Rest, only reckon, only count, or nothing.",
	  MEMBER(mode) },
	{ .key = "governor",
	  .type = LULL_OPTION_CHOICE,
	  .choice = lull_resting_governor_name,
	  .value = "objective",
	  .live = true,
	  .help = "Who decides.",
	  MEMBER(resting.governor) },
	{ .key = "max-latency",
	  .type = LULL_OPTION_DURATION,
	  .unit = "us",
	  .low = LULL_NS_PER_US,
	  .high = LULL_NS_PER_S,
	  .value = "100",
	  .live = true,
	  .help = "Added latency at the percentile.",
	  MEMBER(resting.max_latency_ns) },
	{ .key = "percentile",
	  .type = LULL_OPTION_REAL,
	  .real_low = 50,
	  .real_high = 99.9999,
	  .value = "99",
	  .live = true,
	  .help = "Of the objective.",
	  MEMBER(resting.percentile) },
	{ .key = "loss",
	  .type = LULL_OPTION_CHOICE,
	  .choices = lull_resting_losses,
	  .value = "zero",
	  .live = true,
	  .help = "May a rest lose packets?",
	  MEMBER(resting.loss) },
	{ .key = "max-rest",
	  .type = LULL_OPTION_DURATION,
	  .unit = "us",
	  .low = 1,
	  .high = LULL_NS_PER_S,
	  .value = "100",
	  .live = true,
	  .help = "No rest longer than this: the program may have timers, a Tx drain or other "
		  "duties the plugin cannot see.",
	  MEMBER(resting.max_rest_ns) },
	{ .key = "rest",
	  .type = LULL_OPTION_DURATION,
	  .unit = "us",
	  .low = 1,
	  .high = LULL_NS_PER_S,
	  .value = "50",
	  .live = true,
	  .help = "For fixed and metronome.",
	  MEMBER(resting.rest_ns) },
	{ .key = "pps-max",
	  .type = LULL_OPTION_CUSTOM,
	  .parse = lull_pps_max_parse,
	  .print = lull_pps_max_print,
	  .value = "auto",
	  .live = true,
	  .help = "Arrival limit of the zero-loss bound.",
	  MEMBER(resting.pps_max) },
	{ .key = "kalman-step",
	  .type = LULL_OPTION_DURATION,
	  .unit = "us",
	  .low = 1,
	  .high = 10 * LULL_NS_PER_MS,
	  .value = "10",
	  .live = true,
	  .help = "kalman, kalman-guarded: step by which the rest grows.",
	  MEMBER(resting.kalman.step_ns) },
	{ .key = "kalman-tolerance",
	  .type = LULL_OPTION_REAL,
	  .real_low = 0.0001,
	  .real_high = 50,
	  .value = "1",
	  .live = true,
	  .help = "kalman, kalman-guarded: loss of speed that counts as none, percent.",
	  MEMBER(resting.kalman_tolerance) },
	{ .key = "kalman-row",
	  .type = LULL_OPTION_COUNT,
	  .unit = "bytes",
	  .low = 1,
	  .high = 1437,
	  .value = "10",
	  .live = true,
	  .help = "kalman, kalman-guarded: packet sizes that share a row of the table.",
	  MEMBER(resting.kalman.row_bytes) },
	{ .key = "kalman-window",
	  .type = LULL_OPTION_DURATION,
	  .unit = "ms",
	  .low = LULL_NS_PER_US,
	  .high = LULL_NS_PER_S,
	  .value = "10",
	  .live = true,
	  .help = "kalman, kalman-guarded: sizes and speeds of so long are reckoned with.",
	  MEMBER(resting.kalman.window_ns) },
	{ .key = "kalman-layout",
	  .type = LULL_OPTION_CHOICE,
	  .choices = lull_resting_layouts,
	  .value = "linked",
	  .live = true,
	  .help = "kalman, kalman-guarded: how the record table is kept.",
	  MEMBER(resting.kalman_layout) },
	{ .key = "sched-policy",
	  .type = LULL_OPTION_CHOICE,
	  .choices = lull_resting_policies,
	  .value = "other",
	  .live = true,
	  .help = "Scheduling class of a thread that rests: other leaves it as it is; auto, fifo "
		  "or deadline lend it a real-time one.",
	  MEMBER(resting.sched_policy) },
	{ .key = "ring",
	  .type = LULL_OPTION_COUNT,
	  .unit = "packets",
	  .low = 0,
	  .high = 1u << 20,
	  .value = "0",
	  .live = true,
	  .help = "Descriptors per Rx ring; 0: as the port says.",
	  MEMBER(ring_pkts) },
	{ .key = "report",
	  .type = LULL_OPTION_TEXT,
	  .value = "-",
	  .file = true,
	  .help = "Where the final report goes: a file, - for stderr, or none.",
	  MEMBER(report) },
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
plugin_settings_load(struct plugin_settings *settings, char *text, size_t size)
{
	const char *mode = getenv("LULL");
	const char *file = getenv("LULL_CONFIG");
	struct lull_error error;
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
		rc = lull_options_set(options, settings, option->key, option->value, &error);
	if (rc == 0 && file != NULL)
		rc = lull_options_load(&program, file, settings, &error);
	if (rc == 0)
		rc = settings_from_environment(settings, &error);
	if (rc == 0 && mode != NULL)
		rc = lull_options_set(options, settings, "mode",
				      strcmp(mode, "1") == 0 ? "on" : mode, &error);
	if (rc != 0)
		snprintf(text, size, "%s", error.text);
	return rc;
}

int
plugin_settings_change(struct plugin_settings *settings, const char *assignment, char *loop,
		       char *text, size_t size)
{
	struct lull_error error;
	int rc = lull_options_change(options, settings, assignment, loop, &error);

	if (rc != 0)
		snprintf(text, size, "%s", error.text);
	return rc;
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
