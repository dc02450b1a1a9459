/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Spec: words for the values of lull-flow-sim that are more than a number.
 *
 * Each pair fits a custom row of an option table; a parse that fails leaves
 * its member alone.
 */
#ifndef LULL_FLOW_SIM_SPEC_H
#define LULL_FLOW_SIM_SPEC_H

#include <stddef.h>

#include "host/error.h"

/** NAME,... or all */
int flow_sim_schedulers_parse(const char *text, void *member, struct lull_error *error);
char *flow_sim_schedulers_print(const void *member, char *text, size_t size);
/** LOAD,... in 0.0001..4 */
int flow_sim_loads_parse(const char *text, void *member, struct lull_error *error);
char *flow_sim_loads_print(const void *member, char *text, size_t size);
/** EVERY:TIME or none */
int flow_sim_stall_parse(const char *text, void *member, struct lull_error *error);
char *flow_sim_stall_print(const void *member, char *text, size_t size);

#endif
