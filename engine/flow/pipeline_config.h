/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pipeline config: defaults and checks.
 */
#ifndef LULL_PIPELINE_CONFIG_H
#define LULL_PIPELINE_CONFIG_H

#include "stage.h"

/** Fill in defaults and what the parts must agree on; -EINVAL and the sentence. */
int pipeline_config_fill(const struct lull_pipeline_config *config,
			 struct lull_pipeline_config *full, struct lull_error *error);
/** Of each aggregator, from a filled config. */
struct lull_flow_merge_config pipeline_config_merge(const struct lull_pipeline_config *config);

#endif
