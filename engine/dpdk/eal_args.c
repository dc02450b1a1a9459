/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal_args.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define MEMORY_MB_DEFAULT 256

static int __attribute__((format(printf, 2, 3)))
args_add(struct lull_eal_args *args, const char *format, ...)
{
	va_list list;
	char *text;
	int length;

	if (args->argc >= LULL_EAL_ARGS_MAX)
		return -E2BIG;
	va_start(list, format);
	length = vasprintf(&text, format, list);
	va_end(list);
	if (length < 0)
		return -ENOMEM;
	args->argv[args->argc] = args->owned[args->argc] = text;
	args->argc++;
	return 0;
}

static int
args_add_pair(struct lull_eal_args *args, const char *option, const char *value)
{
	int rc = args_add(args, "%s", option);

	return rc != 0 ? rc : args_add(args, "%s", value);
}

/* Read one word with a shell's quotes and backslashes; NULL when a quote stays open. */
static const char *
args_read_word(const char *from, char *word)
{
	char quote = '\0';

	for (; *from != '\0'; from++) {
		if (quote == '\0' && strchr(" \t\n", *from) != NULL)
			break;
		if (quote == '\0' && (*from == '\'' || *from == '"'))
			quote = *from;
		else if (quote != '\0' && *from == quote)
			quote = '\0';
		else if (*from == '\\' && quote != '\'' && from[1] != '\0')
			*word++ = *++from;
		else
			*word++ = *from;
	}
	*word = '\0';
	return quote == '\0' ? from : NULL;
}

static int
args_add_words(struct lull_eal_args *args, const char *text, struct lull_error *error)
{
	char *word = malloc(strlen(text) + 1);
	int rc = word == NULL ? -ENOMEM : 0;

	while (rc == 0) {
		text += strspn(text, " \t\n");
		if (*text == '\0')
			break;
		text = args_read_word(text, word);
		rc = text == NULL ? lull_error_set(error, -EINVAL, "eal: a quote is not closed") :
				    args_add(args, "%s", word);
	}
	free(word);
	return rc;
}

bool
lull_eal_args_have(const struct lull_eal_args *args, const char *name)
{
	size_t length = strlen(name);
	bool is_long = strncmp(name, "--", 2) == 0;

	for (int i = 1; i < args->argc; i++) {
		const char *arg = args->owned[i];

		if (strncmp(arg, name, length) == 0 &&
		    (!is_long || arg[length] == '\0' || arg[length] == '='))
			return true;
	}
	return false;
}

static bool
args_have_any(const struct lull_eal_args *args, const char *const *names)
{
	for (; *names != NULL; names++) {
		if (lull_eal_args_have(args, *names))
			return true;
	}
	return false;
}

/* Options that would take the lcores or the role away from the loops. */
static int
args_refuse(const struct lull_eal_args *args, struct lull_error *error)
{
	static const char *const reserved[] = {
		"-c", "-l", "--lcores", "--main-lcore", "--proc-type", "-s", "-S", NULL,
	};

	for (int i = 0; reserved[i] != NULL; i++) {
		if (lull_eal_args_have(args, reserved[i]))
			return lull_error_set(error, -EINVAL,
					      "eal: %s is set by lull itself; use cpus",
					      reserved[i]);
	}
	return 0;
}

static int
args_add_lcores(struct lull_eal_args *args, const struct lull_engine_config *config)
{
	char map[16 * (LULL_LOOPS_MAX + 1)];
	int used = snprintf(map, sizeof(map), "0@%d", config->main_cpu);

	for (uint32_t i = 0; i < config->cpu_count; i++)
		used += snprintf(map + used, sizeof(map) - (size_t)used, ",%u@%d", i + 1,
				 config->cpus[i]);
	return args_add_pair(args, "--lcores", map);
}

static int
args_add_memory(struct lull_eal_args *args, const struct lull_engine_config *config, bool hugepages)
{
	static const char *const chosen[] = { "--no-huge",    "--in-memory",
					      "--huge-dir",   "--huge-unlink",
					      "--legacy-mem", "-m",
					      "--socket-mem", NULL };
	char mb[16];
	int rc;

	if (args_have_any(args, chosen))
		return 0;
	/* Hugepages without files: nothing to leave behind, and no write access needed. */
	if (hugepages)
		return args_add(args, "--in-memory");
	snprintf(mb, sizeof(mb), "%u",
		 LULL_MAX(config->memory_mb != 0 ? config->memory_mb : MEMORY_MB_DEFAULT,
			  config->later_mb));
	rc = args_add(args, "--no-huge");
	if (rc == 0)
		rc = args_add(args, "--no-shconf");
	return rc != 0 ? rc : args_add_pair(args, "-m", mb);
}

static int
args_add_devices(struct lull_eal_args *args, const struct lull_engine_config *config)
{
	static const char *const chosen[] = { "-a", "--allow", "-b", "--block", "--no-pci", NULL };
	int rc = 0;

	if (config->pci_count == 0 && !args_have_any(args, chosen))
		rc = args_add(args, "--no-pci");
	for (uint32_t i = 0; rc == 0 && i < config->pci_count; i++)
		rc = args_add_pair(args, "-a", config->pcis[i]);
	for (uint32_t i = 0; rc == 0 && i < config->vdev_count; i++)
		rc = args_add_pair(args, "--vdev", config->vdevs[i]);
	return rc;
}

static int
args_build(struct lull_eal_args *args, const struct lull_engine_config *config, int pid,
	   bool hugepages, struct lull_error *error)
{
	int rc = args_add(args, "%s", config->program);

	if (rc == 0 && config->eal != NULL)
		rc = args_add_words(args, config->eal, error);
	if (rc == 0)
		rc = args_refuse(args, error);
	if (rc == 0 && !lull_eal_args_have(args, "--file-prefix"))
		rc = args_add(args, "--file-prefix=%s-%d", config->program, pid);
	if (rc == 0)
		rc = args_add_lcores(args, config);
	if (rc == 0)
		rc = args_add_memory(args, config, hugepages);
	if (rc == 0)
		rc = args_add_devices(args, config);
	return rc;
}

int
lull_eal_args_build(struct lull_eal_args *args, const struct lull_engine_config *config, int pid,
		    bool hugepages, struct lull_error *error)
{
	int rc;

	memset(args, 0, sizeof(*args));
	if (config->cpu_count > LULL_LOOPS_MAX)
		return lull_error_set(error, -E2BIG,
				      "%u CPUs were named, but at most %d loops "
				      "can run",
				      config->cpu_count, LULL_LOOPS_MAX);
	lull_error_set(error, 0, "out of memory");
	rc = args_build(args, config, pid, hugepages, error);
	if (rc == -E2BIG)
		lull_error_set(error, rc, "eal: more than %d arguments", LULL_EAL_ARGS_MAX);
	if (rc != 0)
		lull_eal_args_free(args);
	else
		lull_error_set(error, 0, "%s", "");
	return rc;
}

void
lull_eal_args_free(struct lull_eal_args *args)
{
	for (int i = 0; i < args->argc; i++)
		free(args->owned[i]);
	args->argc = 0;
}
