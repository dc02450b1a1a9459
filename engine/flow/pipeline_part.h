/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Parts of a pipeline: memory of its loops, made and freed. Rings come later, pipeline.c.
 */
#ifndef LULL_PIPELINE_PART_H
#define LULL_PIPELINE_PART_H

#include "stage.h"

/** Make part @p index and hang it into @p pipeline; 0 or -errno and the sentence. */
int pipeline_make_io(struct lull_pipeline *pipeline, uint32_t index, struct lull_error *error);
int pipeline_make_worker(struct lull_pipeline *pipeline, uint32_t index, struct lull_error *error);
int pipeline_make_aggregator(struct lull_pipeline *pipeline, uint32_t index,
			     struct lull_error *error);
int pipeline_make_output(struct lull_pipeline *pipeline, struct lull_error *error);

/** With the packets in it and the rings it feeds; NULL is ignored. */
void pipeline_free_io(struct flow_io *io);
void pipeline_free_worker(struct flow_worker *worker);
void pipeline_free_aggregator(struct flow_aggregator *aggregator);
void pipeline_free_output(struct flow_output *output);

#endif
