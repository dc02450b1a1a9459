/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Program: one call of lull-sim; its runs one after the other, and what they gave.
 */
#ifndef LULL_SIM_PROGRAM_H
#define LULL_SIM_PROGRAM_H

#include <stdio.h>

#include "program/program.h"
#include "capture_file.h"
#include "settings.h"

#define SIM_VERDICT_TEXT 256 /* bytes of a verdict's sentence */

/** One governor's run. */
struct sim_trial {
	struct sim_governor governor;
	struct lull_sim_config config;
	struct lull_sim_result *sides[LULL_SIM_SIDE_COUNT]; /* NULL: the path has no such side */
	uint64_t pkts;                                      /* simulated, warm-up included */
};

struct sim_program {
	struct lull_run run;
	struct sim_settings settings;
	struct sim_capture capture;
	json_t *runs, *sweep;
	uint64_t pkts;
	bool table; /* print rows as they come */
};

/** What the table leaves to the program. */
void sim_preset(void *settings);
/** What rows cannot say about each other. */
int sim_check(void *state, struct lull_error *error);
/** Show the costs of a machine, if that was asked for. */
int sim_describe(void *state, bool *done, struct lull_error *error);
int sim_open(void *state, struct lull_error *error);
/** All runs. */
int sim_run(void *state, struct lull_error *error);
void sim_close(void *state);
void sim_result(void *state, json_t *result);

/** Rows of a finished run; the caller owns them. */
json_t *sim_result_side(const struct sim_trial *trial, enum lull_sim_side side, bool bins);
json_t *sim_result_sweep_row(const struct sim_trial *trial);
json_t *sim_result_machine(const struct sim_settings *settings);

/** The table for people. */
void sim_table_head(FILE *out, bool competitor);
void sim_table_run(FILE *out, const struct sim_trial *trial);

#endif
