/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Program: one call of lull-sim; its runs one after the other, and what they gave.
 */
#ifndef LULL_SIM_PROGRAM_H
#define LULL_SIM_PROGRAM_H

#include <jansson.h>
#include <stdio.h>

#include "capture_file.h"
#include "settings.h"

#define SIM_VERDICT_TEXT 256 /* bytes of a verdict's sentence */

/** One governor's run. */
struct sim_run {
	struct sim_governor governor;
	struct lull_sim_config config;
	struct lull_sim_result *sides[LULL_SIM_SIDE_COUNT]; /* NULL: the path has no such side */
	uint64_t pkts;                                      /* simulated, warm-up included */
};

struct sim_program {
	struct sim_settings settings;
	struct sim_capture capture;
	json_t *runs, *sweep;
	uint64_t pkts;
	double wall_s;
	bool table; /* print rows as they come */
};

/** All runs. 0 or -errno and the sentence. */
int sim_program_run(struct sim_program *program, struct lull_error *error);

/** Rows of a finished run, and the whole; the caller owns them. */
json_t *sim_result_side(const struct sim_run *run, enum lull_sim_side side, bool bins);
json_t *sim_result_sweep_row(const struct sim_run *run);
json_t *sim_result(const struct sim_program *program);
json_t *sim_result_machine(const struct sim_settings *settings);

/** The table for people. */
void sim_table_head(FILE *out, bool competitor);
void sim_table_run(FILE *out, const struct sim_run *run);

#endif
