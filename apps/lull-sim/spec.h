/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Spec: words for the values of lull-sim that are more than a number.
 *
 * Each pair fits a custom row of an option table; a parse that fails leaves
 * its member alone.
 */
#ifndef LULL_SIM_SPEC_H
#define LULL_SIM_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "host/error.h"

/** NAME[:REST],... */
int sim_governors_parse(const char *text, void *member, struct lull_error *error);
char *sim_governors_print(const void *member, char *text, size_t size);
/** original or a factor */
/** Machines for a CHOICE. */
const char *sim_machine_name(uint32_t index);
const char *sim_machine_help(uint32_t index);
/** PACKETS:TIME,... with rising PACKETS */
int sim_burst_cost_parse(const char *text, void *member, struct lull_error *error);
char *sim_burst_cost_print(const void *member, char *text, size_t size);
/** PERCENT:TIME,... with rising PERCENT */
int sim_overshoot_parse(const char *text, void *member, struct lull_error *error);
char *sim_overshoot_print(const void *member, char *text, size_t size);
/** REST:TIME,... with rising REST */
int sim_exit_latency_parse(const char *text, void *member, struct lull_error *error);
char *sim_exit_latency_print(const void *member, char *text, size_t size);
/** NAME:TIME:WATTS,... with rising TIME */
int sim_cstates_parse(const char *text, void *member, struct lull_error *error);
char *sim_cstates_print(const void *member, char *text, size_t size);
/** PERCENT:TIME; a pair of parts per million and ns */
int sim_late_parse(const char *text, void *member, struct lull_error *error);
char *sim_late_print(const void *member, char *text, size_t size);
/** none, TIME:TIME or TIME:TIME-TIME */
int sim_stall_parse(const char *text, void *member, struct lull_error *error);
char *sim_stall_print(const void *member, char *text, size_t size);
/** none or PERCENT[:TIME] */
int sim_competitor_parse(const char *text, void *member, struct lull_error *error);
char *sim_competitor_print(const void *member, char *text, size_t size);
/** TIME:PACKETS */
int sim_line_bursts_parse(const char *text, void *member, struct lull_error *error);
char *sim_line_bursts_print(const void *member, char *text, size_t size);
/** none or TIME:PERCENT */
int sim_cost_change_parse(const char *text, void *member, struct lull_error *error);
char *sim_cost_change_print(const void *member, char *text, size_t size);
/** LOW-HIGH,STEPS */
int sim_sweep_parse(const char *text, void *member, struct lull_error *error);
char *sim_sweep_print(const void *member, char *text, size_t size);

#endif
