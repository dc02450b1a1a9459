/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints a counter table as rows of a manual page, so that lull(7) lists what there is, or the
 * names of the governors or schedulers, so that a test can see whether it tells of all.
 * tables governors|schedulers|NAME, a NAME as in main()
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/bundle.h>
#include <lull/camera.h>
#include <lull/engine.h>
#include <lull/generator.h>
#include <lull/idle.h>
#include <lull/pipeline.h>
#include <lull/traffic.h>

#include "export/sink.h"
#include "idle/share.h"
#include "lull-channel-node/counters.h"

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

static void
print_schedulers(void)
{
	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++)
		puts(lull_scheduler_name(lull_schedulers[i]));
}

static int
print_table(const char *name)
{
	const struct {
		const char *name;
		const struct lull_counter_info *table;
	} tables[] = {
		{ "idle", lull_idle_counter_table },
		{ "share", lull_share_counter_table },
		{ "forward", lull_stage_forward.counters },
		{ "traffic", lull_traffic_counter_table },
		{ "tally", lull_tally_counter_table },
		{ "totals", lull_encode_totals_table },
		{ "dispatch", lull_dispatch_counter_table },
		{ "parser", lull_flow_parser_counter_table },
		{ "table", lull_flow_table_counter_table },
		{ "merge", lull_flow_merge_counter_table },
		{ "resequence", lull_resequence_counter_table },
		{ "io", lull_stage_flow_io.counters },
		{ "worker", lull_stage_flow_worker.counters },
		{ "aggregator", lull_stage_flow_aggregator.counters },
		{ "output", lull_stage_flow_output.counters },
		{ "whole", lull_stage_flow_whole.counters },
		{ "export", flow_sink_counter_table },
		{ "camera", lull_camera_counter_table },
		{ "receiver", lull_receiver_totals_table },
		{ "assembler", lull_assembler_counter_table },
		{ "bundle", lull_bundle_counter_table },
		{ "node", node_counter_table },
		{ "bundle-path", lull_bundle_path_counter_table },
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (strcmp(name, tables[i].name) != 0)
			continue;
		print_counters(tables[i].table);
		return EXIT_SUCCESS;
	}
	return EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	const char *name = argc == 2 ? argv[1] : "";

	if (strcmp(name, "governors") == 0)
		print_governors();
	else if (strcmp(name, "schedulers") == 0)
		print_schedulers();
	else
		return print_table(name);
	return EXIT_SUCCESS;
}
