/* SPDX-License-Identifier: BSD-3-Clause */
/* --man: the table as the OPTIONS section of the man page, in man(7) macros. */
#include "option.h"
#include "program.h"

/* Text for roff: a backslash, a hyphen and a dot at the start of a line mean something there. */
static void
man_text(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text != '\0'; text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
	}
}

static void
man_choices(FILE *out, const struct lull_option *option)
{
	const char *name;

	if (option->choice_help == NULL)
		fputs("One of ", out);
	else
		fputs(".RS\n", out);
	for (uint32_t i = 0; (name = lull_option_choice(option, i)) != NULL; i++) {
		if (option->choice_help == NULL) {
			fputs("\\fB", out);
			man_text(out, name);
			fprintf(out, "\\fR%s",
				lull_option_choice(option, i + 1) == NULL ? ".\n" : ", ");
			continue;
		}
		fputs(".TP\n\\fB", out);
		man_text(out, name);
		fputs("\\fR\n", out);
		man_text(out, option->choice_help(i));
		fputc('\n', out);
	}
	if (option->choice_help != NULL)
		fputs(".RE\n", out);
}

static void
man_facts(FILE *out, const struct lull_option *option)
{
	const char *value = option->value_help != NULL ? option->value_help : option->value;
	char range[128];

	if (option->type == LULL_OPTION_LIST)
		fputs("May be repeated.\n", out);
	if (lull_option_has_range(option)) {
		fputs("Range: ", out);
		man_text(out, lull_option_range(option, range, sizeof(range)));
		fputs(".\n", out);
	}
	if (lull_option_bare(option, range, sizeof(range))[0] != '\0')
		fprintf(out, "A bare number is %s.\n", range);
	if (value != NULL && value[0] != '\0') {
		fputs("Default: ", out);
		man_text(out, value);
		fputs(".\n", out);
	}
	if (option->live)
		fputs("Live: can be changed while the program runs.\n", out);
}

static void
man_rows(FILE *out, const struct lull_option *option)
{
	for (; option->key != NULL; option++) {
		if (option->hidden)
			continue;
		if (option->group != NULL) {
			fputs(".SS ", out);
			man_text(out, option->group);
			fputc('\n', out);
		}
		fputs(".TP\n\\fB\\-\\-", out);
		man_text(out, option->key);
		fputs("\\fR", out);
		if (lull_option_needs_value(option)) {
			fputs(" \\fI", out);
			man_text(out, lull_option_argument(option));
			fputs("\\fR", out);
		}
		fputc('\n', out);
		man_text(out, option->help);
		fputc('\n', out);
		if (option->type == LULL_OPTION_CHOICE && option->choice_help == NULL)
			man_choices(out, option);
		man_facts(out, option);
		if (option->type == LULL_OPTION_CHOICE && option->choice_help != NULL)
			man_choices(out, option);
	}
}

void
lull_options_print_man(const struct lull_program *program, FILE *out)
{
	man_rows(out, program->options);
	man_rows(out, lull_builtin_options);
}
