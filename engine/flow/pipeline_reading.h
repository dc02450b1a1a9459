/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Reading: the cells of a pipeline's loops, copied one after the other.
 *
 * Each cell is of one moment; which moments depends on the order of the calls.
 * Threads: any.
 */
#ifndef LULL_PIPELINE_READING_H
#define LULL_PIPELINE_READING_H

#include "stage.h"

struct pipeline_reading {
	struct flow_io_words ios[LULL_PIPELINE_IO_MAX];
	struct flow_worker_words workers[FLOW_WORKERS];
	struct flow_aggregator_words aggregators[LULL_PIPELINE_AGGREGATOR_MAX];
};

void pipeline_read_aggregators(const struct lull_pipeline *pipeline,
			       struct pipeline_reading *reading);
void pipeline_read_workers(const struct lull_pipeline *pipeline, struct pipeline_reading *reading);
void pipeline_read_ios(const struct lull_pipeline *pipeline, struct pipeline_reading *reading);

#endif
