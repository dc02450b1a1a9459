/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <string.h>

#include "number.h"
#include "option.h"
#include "program.h"

/* Order of lull_builtin_options. */
enum {
	BUILTIN_CONFIG,
	BUILTIN_CHECK,
	BUILTIN_HELP,
	BUILTIN_VERSION,
	BUILTIN_COMPLETION,
	BUILTIN_MAN,
	BUILTIN_COUNT,
};

const struct lull_option lull_builtin_options[] = {
	[BUILTIN_CONFIG] = {
		.key = "config",
		.group = "General",
		.argument = "FILE",
		.help = "Read options from a YAML file with the keys of this list. Options on the "
		        "command line override it, and later files override earlier ones.",
		.type = LULL_OPTION_TEXT,
		.file = true,
	},
	[BUILTIN_CHECK] = {
		.key = "check-config",
		.help = "Read and check all options and files of options, start nothing, and end: "
		        "with 0 when they are right, else with 1 and the reason on stderr.",
	},
	[BUILTIN_HELP] = { .key = "help", .help = "Print this list and end." },
	[BUILTIN_VERSION] = { .key = "version", .help = "Print the version and end." },
	[BUILTIN_COMPLETION] = {
		.key = "completion-bash",
		.help = "Print a bash completion script and end.",
		.hidden = true,
	},
	[BUILTIN_MAN] = {
		.key = "man",
		.help = "Print the options for the man page and end.",
		.hidden = true,
	},
	[BUILTIN_COUNT] = { .key = NULL },
};

static const enum lull_options_action builtin_actions[] = {
	[BUILTIN_CONFIG] = LULL_OPTIONS_RUN, [BUILTIN_CHECK] = LULL_OPTIONS_CHECK,
	[BUILTIN_HELP] = LULL_OPTIONS_HELP,  [BUILTIN_VERSION] = LULL_OPTIONS_VERSION,
	[BUILTIN_MAN] = LULL_OPTIONS_MAN,    [BUILTIN_COMPLETION] = LULL_OPTIONS_COMPLETION,
};

/* Walks the command line, one option at a time. */
struct walk {
	const struct lull_program *program;
	int argc;
	char *const *argv;
	int index;                        /* of the next word */
	const struct lull_option *option; /* found last, in the table or among the builtins */
	const char *value;                /* of that option */
	const char **operands;            /* kept here; NULL: skipped */
	uint32_t operand_count;
	bool options_over; /* "--" came: only operands follow */
};

static const struct lull_option *
find_length(const struct lull_option *options, const char *key, size_t length)
{
	for (; options->key != NULL; options++) {
		if (strlen(options->key) == length && memcmp(options->key, key, length) == 0)
			return options;
	}
	return NULL;
}

const struct lull_option *
lull_options_find(const struct lull_option *options, const char *key)
{
	return find_length(options, key, strlen(key));
}

/* The row that "--KEY" or "--KEY=VALUE" means, or NULL. */
static const struct lull_option *
walk_find(const struct walk *walk, const char *word)
{
	const struct lull_option *option;
	size_t length;

	if (strncmp(word, "--", 2) != 0)
		return NULL;
	length = strcspn(word + 2, "=");
	option = find_length(walk->program->options, word + 2, length);
	return option != NULL ? option : find_length(lull_builtin_options, word + 2, length);
}

static bool
is_builtin(const struct lull_option *option)
{
	for (size_t i = 0; i < BUILTIN_COUNT; i++) {
		if (option == &lull_builtin_options[i])
			return true;
	}
	return false;
}

static int
walk_unknown(const struct walk *walk, const char *word, struct lull_error *error)
{
	char key[LULL_ERROR_SHOWN], hint[160];

	if (strncmp(word, "--", 2) != 0 || word[2] == '\0' || word[2] == '=')
		return lull_error_set(error, -EINVAL,
				      "'%.*s' is not an option; options have the form "
				      "--KEY=VALUE, and '%s --help' lists them",
				      LULL_ERROR_SHOWN, word, walk->program->name);
	snprintf(key, sizeof(key), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	lull_options_suggest(walk->program->options, key, "--", hint, sizeof(hint));
	return lull_error_set(error, -EINVAL, "unknown option --%s: %s%s%s", key, hint,
			      hint[0] != '\0' ? " " : "",
			      hint[0] != '\0' ? "(--help lists all options)" :
						"--help lists all options");
}

/* Find the value of walk->option: behind '=', in the next word, or none at all. */
static int
walk_value(struct walk *walk, const char *word, struct lull_error *error)
{
	const char *equals = strchr(word, '=');
	const char *next = walk->index < walk->argc ? walk->argv[walk->index] : NULL;
	bool needed = lull_option_needs_value(walk->option);

	if (equals != NULL && !needed && is_builtin(walk->option))
		return lull_error_set(error, -EINVAL, "--%s takes no value", walk->option->key);
	walk->value = equals != NULL ? equals + 1 : "yes";
	if (equals != NULL || !needed)
		return 0;
	if (next == NULL)
		return lull_error_set(error, -EINVAL, "--%s needs a value: --%s=%s",
				      walk->option->key, walk->option->key,
				      lull_option_argument(walk->option));
	/* A forgotten value would swallow the next option. */
	if (walk_find(walk, next) != NULL)
		return lull_error_set(
			error, -EINVAL,
			"--%s needs a value, and '%.*s' is an option: write --%s=%.*s "
			"if you mean it",
			walk->option->key, LULL_ERROR_SHOWN, next, walk->option->key,
			LULL_ERROR_SHOWN, next);
	walk->value = next;
	walk->index++;
	return 0;
}

/* Is it an operand? It is kept then, unless it only parts options from operands. */
static bool
walk_operand(struct walk *walk, const char *word)
{
	bool parts = !walk->options_over && strcmp(word, "--") == 0;

	if (walk->program->operands == NULL ||
	    (!walk->options_over && !parts && word[0] == '-' && word[1] != '\0'))
		return false;
	walk->options_over |= parts;
	if (!parts && walk->operands != NULL)
		walk->operands[walk->operand_count] = word;
	walk->operand_count += !parts;
	return true;
}

/* 1: an option was found; 0: the end; -errno. */
static int
walk_next(struct walk *walk, struct lull_error *error)
{
	const char *word;
	int result;

	do {
		if (walk->index >= walk->argc)
			return 0;
		word = walk->argv[walk->index++];
	} while (walk_operand(walk, word));
	if (strcmp(word, "-h") == 0)
		word = "--help";
	walk->option = walk_find(walk, word);
	if (walk->option == NULL)
		return walk_unknown(walk, word, error);
	result = walk_value(walk, word, error);
	return result == 0 ? 1 : result;
}

/*
 * First pass: stop at an action, read the files; the other options only have to exist. A check is
 * no reason to stop.
 */
static int
parse_files(struct walk walk, void *settings, enum lull_options_action *action,
	    struct lull_error *error)
{
	enum lull_options_action found;
	int result;

	while ((result = walk_next(&walk, error)) > 0) {
		if (!is_builtin(walk.option))
			continue;
		found = builtin_actions[walk.option - lull_builtin_options];
		if (found != LULL_OPTIONS_RUN)
			*action = found;
		if (found == LULL_OPTIONS_CHECK)
			continue;
		if (found != LULL_OPTIONS_RUN)
			return 0;
		result = lull_options_load(walk.program, walk.value, settings, error);
		if (result != 0)
			return result;
	}
	return result;
}

/* Second pass: the command line over what the files said. */
static int
parse_words(struct walk walk, void *settings, struct lull_error *error)
{
	bool seen[LULL_OPTIONS_MAX] = { false };
	int result;

	while ((result = walk_next(&walk, error)) > 0) {
		bool *again;

		if (is_builtin(walk.option))
			continue;
		again = &seen[walk.option - walk.program->options];
		if (!*again)
			lull_option_clear(walk.option, settings);
		*again = true;
		result = lull_option_parse(walk.option, walk.value, settings, error);
		if (result != 0) {
			lull_error_prefix(error, "--%s: ", walk.option->key);
			return result;
		}
	}
	return result;
}

int
lull_options_parse(const struct lull_program *program, int argc, char *const *argv, void *settings,
		   enum lull_options_action *action, struct lull_error *error)
{
	struct walk walk = { .program = program, .argc = argc, .argv = argv, .index = 1 };
	int result = lull_options_check(program->options, error);

	*action = LULL_OPTIONS_RUN;
	for (const struct lull_option *row = program->options; result == 0 && row->key != NULL;
	     row++)
		result = lull_option_reset(row, settings, error);
	if (result == 0)
		result = parse_files(walk, settings, action, error);
	if (result != 0 || (*action != LULL_OPTIONS_RUN && *action != LULL_OPTIONS_CHECK))
		return result;
	return parse_words(walk, settings, error);
}

bool
lull_options_asks_check(const struct lull_program *program, int argc, char *const *argv)
{
	struct walk walk = { .program = program, .argc = argc, .argv = argv, .index = 1 };
	struct lull_error unheard;
	int result;

	do {
		result = walk_next(&walk, &unheard);
		if (result > 0 && walk.option == &lull_builtin_options[BUILTIN_CHECK])
			return true;
	} while (result != 0);
	return false;
}

uint32_t
lull_options_operands(const struct lull_program *program, int argc, char *const *argv,
		      const char **operands)
{
	struct walk walk = {
		.program = program, .argc = argc, .argv = argv, .index = 1, .operands = operands
	};

	while (walk_next(&walk, NULL) > 0)
		;
	return walk.operand_count;
}

int
lull_options_print(const struct lull_program *program, enum lull_options_action action, FILE *out)
{
	errno = 0;
	switch (action) {
	case LULL_OPTIONS_RUN:
	case LULL_OPTIONS_CHECK:
		break;
	case LULL_OPTIONS_HELP:
		lull_options_print_help(program, out);
		break;
	case LULL_OPTIONS_VERSION:
		fprintf(out, "%s %s\n", program->name, program->version);
		break;
	case LULL_OPTIONS_COMPLETION:
		lull_options_print_completion(program, out);
		break;
	case LULL_OPTIONS_MAN:
		lull_options_print_man(program, out);
		break;
	}
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return errno != 0 ? -errno : -EIO;
}

/* Set a value whole: a list that cannot be read stays as it was. */
static int
set_option(const struct lull_option *option, void *settings, const char *value,
	   struct lull_error *error)
{
	struct lull_option_list *list = NULL;
	uint32_t count = 0;
	int result;

	if (option->type == LULL_OPTION_LIST) {
		list = (struct lull_option_list *)((char *)settings + option->offset);
		count = list->count;
		list->count = 0;
	}
	result = lull_option_parse(option, value, settings, error);
	if (result != 0) {
		if (list != NULL)
			list->count = count;
		lull_error_prefix(error, "%s: ", option->key);
	}
	return result;
}

static int
unknown_key(const struct lull_option *options, const char *key, struct lull_error *error)
{
	char hint[160];

	lull_options_suggest(options, key, "", hint, sizeof(hint));
	return lull_error_set(error, -ENOENT, "unknown key '%.*s'%s%s", LULL_ERROR_SHOWN, key,
			      hint[0] != '\0' ? ": " : "", hint);
}

int
lull_options_set(const struct lull_option *options, void *settings, const char *key,
		 const char *value, struct lull_error *error)
{
	const struct lull_option *option = lull_options_find(options, key);

	if (option == NULL)
		return unknown_key(options, key, error);
	return set_option(option, settings, value, error);
}

static int
not_live(const struct lull_option *options, const char *key, struct lull_error *error)
{
	char keys[256] = "";
	size_t used = 0;

	for (; options->key != NULL; options++) {
		if (options->live && used < sizeof(keys))
			used += (size_t)snprintf(keys + used, sizeof(keys) - used, "%s%s",
						 used > 0 ? ", " : "", options->key);
	}
	return lull_error_set(error, -EPERM,
			      "%s: cannot be changed while the program runs (only: %s)", key, keys);
}

int
lull_options_change(const struct lull_option *options, void *settings, const char *assignment,
		    char *loop, struct lull_error *error)
{
	const char *equals = strchr(assignment, '=');
	const char *at = strchr(assignment, '@');
	const struct lull_option *option;
	char key[LULL_ERROR_SHOWN];

	loop[0] = '\0';
	if (equals == NULL)
		return lull_error_set(error, -EINVAL, "'%.*s' is not KEY=VALUE or KEY@LOOP=VALUE",
				      LULL_ERROR_SHOWN, assignment);
	if (at == NULL || at > equals)
		at = equals;
	if (at != equals) {
		size_t length = (size_t)(equals - at - 1);

		if (length == 0 || length >= LULL_OPTION_LOOP_MAX)
			return lull_error_set(error, -EINVAL,
					      "'%.*s' names no loop: write KEY@LOOP=VALUE",
					      LULL_ERROR_SHOWN, assignment);
		memcpy(loop, at + 1, length);
		loop[length] = '\0';
	}
	snprintf(key, sizeof(key), "%.*s", (int)(at - assignment), assignment);
	option = lull_options_find(options, key);
	if (option == NULL)
		return unknown_key(options, key, error);
	if (!option->live)
		return not_live(options, key, error);
	return set_option(option, settings, equals + 1, error);
}
