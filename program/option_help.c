/* SPDX-License-Identifier: BSD-3-Clause */
/* --help: the table for people, wrapped to the width of their terminal. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <lull/base.h>

#include "option.h"
#include "program.h"

#define HELP_COLUMN 28 /* where the right-hand text begins */

/* Writes words, breaking lines before the width is exceeded. */
struct wrap {
	FILE *out;
	size_t width;
	size_t indent; /* of every line but the first */
	size_t column; /* reached so far */
};

static size_t
terminal_width(FILE *out)
{
	struct winsize window;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &window) != 0 ||
	    window.ws_col == 0)
		return 80;
	return LULL_CLAMP((size_t)window.ws_col, 50U, 120U);
}

static void
wrap_newline(struct wrap *wrap)
{
	fprintf(wrap->out, "\n%*s", (int)wrap->indent, "");
	wrap->column = wrap->indent;
}

static void
wrap_words(struct wrap *wrap, const char *text)
{
	while (*text != '\0') {
		size_t length = strcspn(text, " ");
		bool first = wrap->column <= wrap->indent;

		if (length > 0 && !first && wrap->column + 1 + length > wrap->width) {
			wrap_newline(wrap);
			first = true;
		}
		if (length > 0)
			wrap->column += (size_t)fprintf(wrap->out, "%s%.*s", first ? "" : " ",
							(int)length, text);
		text += length;
		text += strspn(text, " ");
	}
}

/* Write @p left and move to @p column, on the next line if it is too long. */
static void
wrap_left(struct wrap *wrap, const char *left, size_t column)
{
	size_t length = strlen(left);

	wrap->indent = column;
	fputs(left, wrap->out);
	wrap->column = length;
	if (length + 2 > column)
		wrap_newline(wrap);
	else
		fprintf(wrap->out, "%*s", (int)(column - length), "");
	wrap->column = column;
}

/* One more thing behind a semicolon; "" is none. */
static void
fact_add(char *facts, size_t size, const char *what, const char *more)
{
	size_t used = strlen(facts);

	if (more[0] != '\0')
		snprintf(facts + used, size - used, "%s%s%s", used > 1 ? "; " : "", what, more);
}

/* Range, unit, default and live in brackets. */
static void
help_facts(struct wrap *wrap, const struct lull_option *option)
{
	const char *value = option->value_help != NULL ? option->value_help : option->value;
	char text[128], facts[512] = "[";

	if (lull_option_has_range(option))
		fact_add(facts, sizeof(facts), "", lull_option_range(option, text, sizeof(text)));
	fact_add(facts, sizeof(facts), "", lull_option_bare(option, text, sizeof(text)));
	fact_add(facts, sizeof(facts), "default ", value != NULL ? value : "");
	fact_add(facts, sizeof(facts), "", option->live ? "live" : "");
	if (facts[1] == '\0')
		return;
	snprintf(facts + strlen(facts), sizeof(facts) - strlen(facts), "]");
	wrap_words(wrap, facts);
}

/* The names to choose from: a line each when there is more to say about them. */
static void
help_choices(struct wrap *wrap, const struct lull_option *option)
{
	const char *name;
	char left[96];

	if (option->type != LULL_OPTION_CHOICE)
		return;
	if (option->choice_help == NULL) {
		wrap_words(wrap, "One of");
		for (uint32_t i = 0; (name = lull_option_choice(option, i)) != NULL; i++) {
			bool last = lull_option_choice(option, i + 1) == NULL;

			snprintf(left, sizeof(left), "%s%s", name, last ? "." : ",");
			wrap_words(wrap, left);
		}
		return;
	}
	for (uint32_t i = 0; (name = lull_option_choice(option, i)) != NULL; i++) {
		snprintf(left, sizeof(left), "%*s%s", HELP_COLUMN + 2, "", name);
		fputc('\n', wrap->out);
		wrap_left(wrap, left, HELP_COLUMN + 14);
		wrap_words(wrap, option->choice_help(i));
	}
	wrap->indent = HELP_COLUMN;
}

static void
help_row(FILE *out, const struct lull_option *option)
{
	struct wrap wrap = { .out = out, .width = terminal_width(out) };
	bool takes_value = lull_option_needs_value(option);
	char left[96];

	if (option->group != NULL)
		fprintf(out, "\n%s:\n", option->group);
	snprintf(left, sizeof(left), "  --%s%s%s", option->key, takes_value ? " " : "",
		 takes_value ? lull_option_argument(option) : "");
	wrap_left(&wrap, left, HELP_COLUMN);
	wrap_words(&wrap, option->help);
	if (option->type == LULL_OPTION_LIST)
		wrap_words(&wrap, "May be repeated.");
	if (option->choice_help == NULL)
		help_choices(&wrap, option);
	help_facts(&wrap, option);
	if (option->choice_help != NULL)
		help_choices(&wrap, option);
	fputc('\n', out);
}

static bool
any_live(const struct lull_option *options)
{
	for (; options->key != NULL; options++) {
		if (options->live)
			return true;
	}
	return false;
}

static void
help_rows(FILE *out, const struct lull_option *options)
{
	for (; options->key != NULL; options++) {
		if (!options->hidden)
			help_row(out, options);
	}
}

void
lull_options_print_help(const struct lull_program *program, FILE *out)
{
	struct wrap wrap = { .out = out, .width = terminal_width(out) };

	fprintf(out, "Usage: %s [--KEY VALUE]... [--config FILE]%s%s\n\n", program->name,
		program->operands != NULL ? " " : "",
		program->operands != NULL ? program->operands : "");
	wrap_words(&wrap, program->summary);
	fputc('\n', out);
	help_rows(out, program->options);
	help_rows(out, lull_builtin_options);
	fputc('\n', out);
	wrap.column = 0;
	wrap_words(&wrap, "Numbers take k, M and G; times take ns, us, ms, s, m (or min) and h.");
	if (any_live(program->options))
		wrap_words(&wrap, "Options marked live can be changed while the program runs.");
	fputc('\n', out);
	if (program->examples == NULL)
		return;
	fputs("\nExamples:\n", out);
	for (const char *const *example = program->examples; *example != NULL; example++)
		fprintf(out, "  %s\n", *example);
}
