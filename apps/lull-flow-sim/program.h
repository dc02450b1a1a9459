/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Program: one call of lull-flow-sim; its runs one after the other, and what they gave.
 */
#ifndef LULL_FLOW_SIM_PROGRAM_H
#define LULL_FLOW_SIM_PROGRAM_H

#include <jansson.h>
#include <stdio.h>

#include "settings.h"

/** One run, or one search. */
struct flow_sim_run {
	const struct lull_scheduler *scheduler;
	struct lull_sim_pipeline_config config;
	bool warm;
	/* of a search; the config's load is the one found */
	uint32_t seed_count;
};

struct flow_sim {
	struct flow_sim_settings settings;
	json_t *runs, *bisections;
	uint64_t pkts;
	double wall_s;
	bool table; /* print rows as they come */
};

/** All runs. 0 or -errno and the sentence. */
int flow_sim_run_all(struct flow_sim *program, struct lull_error *error);

/** Rows of a finished run, and the whole; the caller owns them. */
json_t *flow_sim_result_run(const struct flow_sim_run *run,
			    const struct lull_sim_pipeline_result *result);
json_t *flow_sim_result_bisection(const struct flow_sim_run *run);
json_t *flow_sim_result(const struct flow_sim *program);

/** The table for people. */
void flow_sim_table_head(FILE *out, bool bisect);
void flow_sim_table_run(FILE *out, const struct flow_sim_run *run,
			const struct lull_sim_pipeline_result *result);
void flow_sim_table_bisection(FILE *out, const struct flow_sim_run *run);

#endif
