/* SPDX-License-Identifier: BSD-3-Clause */
/* --completion-bash: the table as a completion script. */
#include "option.h"
#include "program.h"

/* What may follow an option: a case of the script. */
static void
completion_case(FILE *out, const struct lull_option *option)
{
	const char *name;

	fprintf(out, "\t--%s)\n", option->key);
	if (option->type == LULL_OPTION_CHOICE) {
		fputs("\t\tmapfile -t COMPREPLY < <(compgen -W '", out);
		for (uint32_t i = 0; (name = lull_option_choice(option, i)) != NULL; i++)
			fprintf(out, "%s%s", i > 0 ? " " : "", name);
		fputs("' -- \"$cur\")\n", out);
	} else if (option->file) {
		fputs("\t\tcompopt -o filenames 2>/dev/null\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n",
		      out);
	}
	fputs("\t\treturn\n\t\t;;\n", out);
}

static void
completion_rows(FILE *out, const struct lull_option *option, bool cases)
{
	for (; option->key != NULL; option++) {
		if (option->hidden)
			continue;
		if (!cases)
			fprintf(out, " --%s", option->key);
		else if (lull_option_needs_value(option))
			completion_case(out, option);
	}
}

void
lull_options_print_completion(const struct lull_program *program, FILE *out)
{
	char function[64];

	snprintf(function, sizeof(function), "_%s", program->name);
	for (char *at = function; *at != '\0'; at++)
		*at = *at == '-' ? '_' : *at;
	fprintf(out, "# bash completion for %s, made by %s --completion-bash\n%s()\n{\n",
		program->name, program->name, function);
	/* bash makes a word of its own from the '=' in --key=value. */
	fputs("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [[ $cur == '=' ]]; then\n"
	      "\t\tcur=\n"
	      "\telif [[ $prev == '=' ]]; then\n"
	      "\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\tfi\n"
	      "\tcase $prev in\n",
	      out);
	completion_rows(out, program->options, true);
	completion_rows(out, lull_builtin_options, true);
	fputs("\tesac\n", out);
	if (program->operands != NULL)
		fputs("\tif [[ $cur != -* ]]; then\n"
		      "\t\tcompopt -o filenames 2>/dev/null\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
		      "\t\treturn\n"
		      "\tfi\n",
		      out);
	fputs("\tmapfile -t COMPREPLY < <(compgen -W '", out);
	completion_rows(out, program->options, false);
	completion_rows(out, lull_builtin_options, false);
	fprintf(out, "' -- \"$cur\")\n}\ncomplete -F %s %s\n", function, program->name);
}
