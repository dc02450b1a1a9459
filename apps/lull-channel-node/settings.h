/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-channel-node can be told.
 *
 * Threads: plain data. Memory: the caller's struct, copied whole.
 */
#ifndef LULL_CHANNEL_NODE_SETTINGS_H
#define LULL_CHANNEL_NODE_SETTINGS_H

#include <limits.h>

#include "program/resting.h"
#include "program/rows.h"

struct node_settings {
	struct lull_option_list rails;
	char socket[PATH_MAX];
	bool check, unchecked;
	char eal[512];
	uint32_t neighbours; /* of an attachment */
	uint32_t governor;   /* index in lull_idle_governors */
	uint64_t max_latency_ns;
	struct lull_cpu_list cpu;
	uint64_t duration_ns, stats_ns;
	char json[PATH_MAX];
};

extern const struct lull_option node_options[];
/** 0, or -EINVAL and the sentence. */
int node_settings_check(const struct node_settings *settings, struct lull_error *error);

#endif
