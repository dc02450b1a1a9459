/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Spec: values of options that have a grammar of their own. */
#ifndef LULL_CHANNEL_SIM_SPEC_H
#define LULL_CHANNEL_SIM_SPEC_H

#include <stddef.h>

#include "host/error.h"

/** RATE,...: a struct channel_sim_rails. */
int channel_sim_rails_parse(const char *text, void *member, struct lull_error *error);
char *channel_sim_rails_print(const void *member, char *text, size_t size);
/** KEY=VALUE,...: a struct lull_sim_path_config. */
int channel_sim_wire_parse(const char *text, void *member, struct lull_error *error);
char *channel_sim_wire_print(const void *member, char *text, size_t size);
/** RAIL@TIME,...: a struct channel_sim_events. */
int channel_sim_events_parse(const char *text, void *member, struct lull_error *error);
char *channel_sim_events_print(const void *member, char *text, size_t size);
/** RAIL:RATE@TIME,...: the same. */
int channel_sim_speeds_parse(const char *text, void *member, struct lull_error *error);
char *channel_sim_speeds_print(const void *member, char *text, size_t size);

#endif
