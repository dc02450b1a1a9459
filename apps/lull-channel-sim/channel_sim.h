/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Program: one call of lull-channel-sim, a world or many scenarios, and what came of it.
 */
#ifndef LULL_CHANNEL_SIM_CHANNEL_SIM_H
#define LULL_CHANNEL_SIM_CHANNEL_SIM_H

#include <stdio.h>

#include "program/program.h"
#include "settings.h"

struct channel_sim {
	struct lull_run run;
	struct channel_sim_settings settings;
	struct lull_sim_channel_config config;  /* of the world */
	struct lull_sim_channel_result *result; /* of the world, or of the last scenario */
	uint64_t scenarios;                     /* done */
	uint64_t digest;                        /* of all of them */
	uint64_t sent, received, falls, attacks, wire_pkts;
	bool table; /* print what came of it */
};

int channel_sim_check(void *state, struct lull_error *error);
int channel_sim_open(void *state, struct lull_error *error);
int channel_sim_run(void *state, struct lull_error *error);
void channel_sim_close(void *state);
void channel_sim_result(void *state, json_t *result);
/** The table for people. */
void channel_sim_table(FILE *out, const struct channel_sim *program);
/** Rate of what the job delivered, as a share of the rates of its rails. */
double channel_sim_share(const struct channel_sim *program);

#endif
