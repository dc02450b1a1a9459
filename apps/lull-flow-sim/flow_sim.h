/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Program: one call of lull-flow-sim; its runs one after the other, and what they gave.
 */
#ifndef LULL_FLOW_SIM_FLOW_SIM_H
#define LULL_FLOW_SIM_FLOW_SIM_H

#include <stdio.h>

#include "program/program.h"
#include "settings.h"

/** One run, or one search. */
struct flow_sim_trial {
	const struct lull_scheduler *scheduler;
	struct lull_sim_pipeline_config config;
	bool warm;
	/* of a search; the config's load is the one found */
	uint32_t seed_count;
};

struct flow_sim {
	struct lull_run run;
	struct flow_sim_settings settings;
	json_t *runs, *bisections;
	uint64_t pkts;
	bool table; /* print rows as they come */
};

/** What rows cannot say about each other. */
int flow_sim_check(void *state, struct lull_error *error);
int flow_sim_open(void *state, struct lull_error *error);
/** All runs. */
int flow_sim_run(void *state, struct lull_error *error);
void flow_sim_close(void *state);
void flow_sim_result(void *state, json_t *result);

/** Rows of a finished run; the caller owns them. */
json_t *flow_sim_result_run(const struct flow_sim_trial *run,
			    const struct lull_sim_pipeline_result *result);
json_t *flow_sim_result_bisection(const struct flow_sim_trial *run);

/** The table for people. */
void flow_sim_table_head(FILE *out, bool bisect);
void flow_sim_table_run(FILE *out, const struct flow_sim_trial *run,
			const struct lull_sim_pipeline_result *result);
void flow_sim_table_bisection(FILE *out, const struct flow_sim_trial *run);

#endif
