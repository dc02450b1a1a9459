/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Merge: what its two files share.
 */
#ifndef LULL_FLOW_MERGE_H
#define LULL_FLOW_MERGE_H

#include <lull/flow.h>

/** The config with its defaults. */
struct lull_flow_merge_config lull_flow_merge_config_full(
	const struct lull_flow_merge_config *config);

#endif
