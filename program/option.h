/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Option: what the files of this folder need to know about a single row.
 */
#ifndef LULL_CLI_OPTION_H
#define LULL_CLI_OPTION_H

#include "options.h"

/** Rows every program has: config, check-config, help, version, completion-bash, man. */
extern const struct lull_option lull_builtin_options[];

/** Read @p value into the member; LIST appends. The sentence goes without the key. */
int lull_option_parse(const struct lull_option *option, const char *value, void *settings,
		      struct lull_error *error);
/** Put in the default, if the row has one; -EINVAL and the sentence when it cannot be read. */
int lull_option_reset(const struct lull_option *option, void *settings, struct lull_error *error);
/** Empty a list before a new source fills it; nothing for other types. */
void lull_option_clear(const struct lull_option *option, void *settings);

/** Does the option take a value on the command line? */
bool lull_option_needs_value(const struct lull_option *option);
/** Name of a choice, NULL past the last. */
const char *lull_option_choice(const struct lull_option *option, uint32_t index);
/** Placeholder for the value in help. */
const char *lull_option_argument(const struct lull_option *option);
/** Does the row limit its numbers? */
bool lull_option_has_range(const struct lull_option *option);
/** "1..1000000 (us)"; only when it has a range. Returns @p text. */
char *lull_option_range(const struct lull_option *option, char *text, size_t size);

/** "in s" where a bare number of a time means that and the range does not tell; else "". */
const char *lull_option_bare(const struct lull_option *option, char *text, size_t size);

/** "did you mean max-latency?" for an unknown key, or "" when nothing is near. Returns @p text. */
char *lull_options_suggest(const struct lull_option *options, const char *key, const char *dashes,
			   char *text, size_t size);

/** The printers behind lull_options_print(). */
void lull_options_print_help(const struct lull_program *program, FILE *out);
void lull_options_print_man(const struct lull_program *program, FILE *out);
void lull_options_print_completion(const struct lull_program *program, FILE *out);

#endif
