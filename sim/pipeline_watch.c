/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pipeline, how likely a loss is: of the packets sent to a worker while its ring was filled above
 * the threshold, how many saw one of the worker's next watch_pkts packets lost.
 */
#include "pipeline_state.h"

void
lull_sim_pipeline_watch_sent(struct lull_sim_pipeline *pipeline, uint32_t index, bool filled)
{
	struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];

	filled = filled && pipeline->measuring;
	worker->watch[worker->watch_count++ % pipeline->config.watch_pkts] = filled;
	pipeline->result.watched += filled;
}

void
lull_sim_pipeline_watch_lost(struct lull_sim_pipeline *pipeline, uint32_t index)
{
	struct lull_sim_pipeline_worker *worker = &pipeline->workers[index];
	uint32_t watch_pkts = pipeline->config.watch_pkts;
	uint64_t at = worker->watch_open;

	if (worker->watch_count > watch_pkts)
		at = LULL_MAX(at, worker->watch_count - watch_pkts);
	for (; at < worker->watch_count; at++)
		pipeline->result.watched_lost += worker->watch[at % watch_pkts];
	worker->watch_open = worker->watch_count;
}
