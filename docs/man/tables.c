/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints a counter table as rows of a manual page, so that lull(7) lists what there is, or the
 * names of the governors, so that a test can see whether it tells of all.
 * tables governors|idle|forward|traffic|tally
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/engine.h>
#include <lull/generator.h>
#include <lull/idle.h>
#include <lull/traffic.h>

/* One row; a hyphen would become typographic. */
static void
print_row(const char *name, const char *unit, const char *help)
{
	printf(".TP\n.B ");
	for (; *name != '\0'; name++)
		printf(*name == '-' ? "\\-" : "%c", *name);
	printf("\n%s", help);
	printf(strcmp(unit, "ns") == 0 ? ", ns\n" : "\n");
}

static void
print_counters(const struct lull_counter_info *table)
{
	for (; table->name != NULL; table++)
		print_row(table->name, table->unit, table->help);
}

static void
print_governors(void)
{
	for (uint32_t i = 0; lull_idle_governors[i] != NULL; i++)
		puts(lull_idle_governor_name(lull_idle_governors[i]));
}

int
main(int argc, char **argv)
{
	const char *table = argc == 2 ? argv[1] : "";

	if (strcmp(table, "governors") == 0)
		print_governors();
	else if (strcmp(table, "idle") == 0)
		print_counters(lull_idle_counter_table);
	else if (strcmp(table, "forward") == 0)
		print_counters(lull_stage_forward.counters);
	else if (strcmp(table, "traffic") == 0)
		print_counters(lull_traffic_counter_table);
	else if (strcmp(table, "tally") == 0)
		print_counters(lull_tally_counter_table);
	else
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
