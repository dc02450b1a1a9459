/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What others may see of a pipeline: counters of its parts, the heaviest flows.
 */
#include <stdlib.h>
#include <string.h>

#include "stage.h"

const struct lull_dispatch_counters *
lull_pipeline_dispatch(const struct lull_pipeline *pipeline, uint32_t io_index)
{
	return lull_dispatch_counters(pipeline->ios[io_index]->dispatch);
}

const struct lull_flow_parser_counters *
lull_pipeline_parser(const struct lull_pipeline *pipeline, uint32_t io_index)
{
	return lull_flow_parser_counters(pipeline->ios[io_index]->parser);
}

const struct lull_flow_connections_counters *
lull_pipeline_connections(const struct lull_pipeline *pipeline, uint32_t io_index)
{
	return lull_flow_connections_counters(pipeline->ios[io_index]->connections);
}

const struct lull_flow_table_counters *
lull_pipeline_table(const struct lull_pipeline *pipeline, uint32_t worker_index)
{
	return lull_flow_table_counters(pipeline->workers[worker_index]->table);
}

const struct lull_flow_merge_counters *
lull_pipeline_merge(const struct lull_pipeline *pipeline, uint32_t aggregator_index)
{
	return lull_flow_merge_counters(pipeline->aggregators[aggregator_index]->merge);
}

const struct lull_resequence_counters *
lull_pipeline_resequence(const struct lull_pipeline *pipeline)
{
	if (pipeline->output == NULL || pipeline->output->resequence == NULL)
		return NULL;
	return lull_resequence_counters(pipeline->output->resequence);
}

const struct lull_histogram *
lull_pipeline_resequence_wait(const struct lull_pipeline *pipeline)
{
	if (pipeline->output == NULL || pipeline->output->resequence == NULL)
		return NULL;
	return &pipeline->output->wait_histogram;
}

/* ---- the heaviest flows ---- */

/* All workers' lists, the parts of one flow put together. */
struct info_flows {
	uint32_t count;
	struct lull_flow_record records[FLOW_WORKERS * LULL_FLOW_TOP_MAX];
	struct lull_flow_top top; /* of one worker */
};

static void
info_add(struct info_flows *flows, const struct lull_flow_record *record)
{
	for (uint32_t i = 0; i < flows->count; i++) {
		struct lull_flow_record *known = &flows->records[i];

		if (known->digest == record->digest && known->cut == record->cut &&
		    known->connection == record->connection &&
		    lull_flow_key_same(&known->key, &record->key)) {
			lull_flow_record_join(known, record, 0);
			return;
		}
	}
	flows->records[flows->count++] = *record;
}

void
lull_pipeline_top(const struct lull_pipeline *pipeline, struct lull_flow_top *top)
{
	struct info_flows *flows = malloc(sizeof(*flows));

	lull_flow_top_clear(top);
	if (flows == NULL)
		return;
	flows->count = 0;
	for (uint32_t i = 0; i < pipeline->config.worker_count; i++) {
		const struct flow_worker *worker = pipeline->workers[i];

		lull_cell_read(&worker->top_sequence, &worker->top_words, &flows->top,
			       sizeof(flows->top));
		for (uint32_t j = 0; j < flows->top.count; j++)
			info_add(flows, &flows->top.records[j]);
	}
	for (uint32_t i = 0; i < flows->count; i++)
		lull_flow_top_offer(top, &flows->records[i]);
	free(flows);
}
