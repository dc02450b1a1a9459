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

static void
info_add_connections(const struct lull_flow_connections *connections,
		     struct lull_flow_connections_counters *sum)
{
	const uint64_t *from = (const void *)lull_flow_connections_counters(connections);
	uint64_t *to = (void *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += LULL_COUNTER_READ(from[i]);
}

void
lull_pipeline_connections(const struct lull_pipeline *pipeline, uint32_t io_index,
			  struct lull_flow_connections_counters *counters)
{
	*counters = (struct lull_flow_connections_counters){ 0 };
	if (pipeline->feed == NULL)
		info_add_connections(pipeline->ios[io_index]->connections, counters);
	for (uint32_t i = 0; pipeline->feed != NULL && i < pipeline->config.worker_count; i++)
		info_add_connections(pipeline->workers[i]->connections, counters);
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

/* ---- late workers ---- */

static void
info_late_worker(const struct flow_aggregator *aggregator, uint64_t now_ns, uint32_t worker,
		 struct lull_pipeline_late *late)
{
	bool is_late = (LULL_COUNTER_READ(aggregator->late) >> worker & 1) != 0;
	uint64_t begin_ns = LULL_COUNTER_READ(aggregator->late_begin_ns[worker]);
	uint64_t ns = LULL_COUNTER_READ(aggregator->late_total_ns[worker]);

	if (is_late && now_ns > begin_ns)
		ns += now_ns - begin_ns;
	late->workers |= (uint64_t)is_late << worker;
	late->times[worker] =
		LULL_MAX(late->times[worker], LULL_COUNTER_READ(aggregator->late_times[worker]));
	late->ns[worker] = LULL_MAX(late->ns[worker], ns);
}

void
lull_pipeline_late(const struct lull_pipeline *pipeline, struct lull_pipeline_late *late)
{
	uint64_t now_ns = lull_clock_ns();

	*late = (struct lull_pipeline_late){ 0 };
	for (uint32_t i = 0; i < pipeline->config.aggregator_count; i++) {
		const struct flow_aggregator *aggregator = pipeline->aggregators[i];
		const struct lull_flow_merge_counters *merge =
			lull_flow_merge_counters(aggregator->merge);

		late->records += LULL_COUNTER_READ(merge->late);
		late->parts += LULL_COUNTER_READ(merge->late_parts);
		for (uint32_t j = 0; j < pipeline->config.worker_count; j++)
			info_late_worker(aggregator, now_ns, j, late);
	}
	for (uint32_t i = 0; i < pipeline->config.worker_count; i++)
		late->behind += LULL_COUNTER_READ(
			lull_flow_table_counters(pipeline->workers[i]->table)->behind);
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
