/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include "engine/dpdk/port.h"
#include "program/live/ports.h"
#include "flow.h"

static const struct {
	const char *kind, *name;
	const struct lull_stage *stage;
} parts[] = {
	[FLOW_PART_IO] = { "io", "io", &lull_stage_flow_io },
	[FLOW_PART_WORKER] = { "worker", "worker", &lull_stage_flow_worker },
	[FLOW_PART_AGGREGATOR] = { "aggregator", "aggregator", &lull_stage_flow_aggregator },
	[FLOW_PART_OUTPUT] = { "output", "output", &lull_stage_flow_output },
	[FLOW_PART_WHOLE] = { "flow", "flow", &lull_stage_flow_whole },
};

/* With a port for each I/O thread they share the ports, else the queues of every port. */
static int
thread_queues(struct flow *flow, uint32_t index, struct lull_loop_config *config,
	      struct lull_error *error)
{
	struct lull_live_loop *item = &flow->loops.items[flow->loops.count];
	bool deal = flow->port_queues == 1;

	if (flow_settings_from_files(&flow->settings))
		return 0;
	for (uint32_t p = 0; p < flow->port_count; p++) {
		const struct lull_ring_facts rings = lull_port_rings(&flow->ports[p]);

		if (deal && p % flow->settings.io != index)
			continue;
		if (config->queue_count == LULL_IDLE_QUEUES_MAX)
			return lull_error_set(error, -E2BIG,
					      "more than %d ports for one I/O thread; give --io",
					      LULL_IDLE_QUEUES_MAX);
		lull_ring_facts_add(&item->rings, &rings);
		config->queues[config->queue_count++] = (struct lull_loop_queue){
			.port_id = flow->ports[p].port_id,
			.queue_id = deal ? 0 : (uint16_t)index,
		};
	}
	return 0;
}

static int
thread_open(struct flow *flow, enum flow_part part, uint32_t index, struct lull_error *error)
{
	struct flow_thread *thread = &flow->threads[flow->loops.count];
	struct lull_live_loop *item = &flow->loops.items[flow->loops.count];
	struct lull_loop_config config = {
		.kind = parts[part].kind,
		.lcore_id = flow->loops.count + 1,
		.burst_pkts = (uint16_t)flow->settings.burst,
		.stage = parts[part].stage,
		.stage_config = &thread->place,
	};
	int rc;

	snprintf(config.name, sizeof(config.name), "%s%u", parts[part].name, index);
	thread->part = part;
	thread->place = (struct lull_pipeline_place){ flow->pipeline, index };
	item->resting = flow->settings.resting;
	item->inner = part != FLOW_PART_IO && part != FLOW_PART_WHOLE;
	rc = item->inner ? 0 : thread_queues(flow, index, &config, error);
	if (item->rings.count == 0) /* files, and what is inside of the program */
		item->rings.ring_pkts = flow->settings.ring;
	if (rc == 0)
		rc = lull_live_loops_create(&flow->loops, &config, error);
	if (rc == 0)
		lull_live_tell_nodes(flow->run.program->name,
				     flow->loops.loops[flow->loops.count - 1], &config, flow->ports,
				     flow->port_count);
	return rc;
}

bool
flow_workers_read(const struct flow *flow)
{
	return flow_settings_undispatched(&flow->settings) && flow_files_stay(&flow->files);
}

uint32_t
flow_aggregator_count(const struct flow *flow)
{
	if (flow_workers_read(flow))
		return LULL_MIN(flow->settings.workers, (uint32_t)LULL_PIPELINE_AGGREGATOR_MAX);
	return flow->settings.aggregators;
}

/* One thread for all, and one for each further worker, which may be just like it. */
static int
thread_open_whole(struct flow *flow, struct lull_error *error)
{
	enum flow_part further = flow_workers_read(flow) ? FLOW_PART_WHOLE : FLOW_PART_WORKER;
	int rc = thread_open(flow, FLOW_PART_WHOLE, 0, error);

	for (uint32_t i = 1; rc == 0 && i < flow->settings.workers; i++)
		rc = thread_open(flow, further, i, error);
	return rc;
}

int
flow_open_threads(struct flow *flow, struct lull_error *error)
{
	const uint32_t counts[] = {
		[FLOW_PART_IO] = flow->settings.io,
		[FLOW_PART_WORKER] = flow->settings.workers,
		[FLOW_PART_AGGREGATOR] = flow->settings.aggregators,
		[FLOW_PART_OUTPUT] = flow_settings_has_output(&flow->settings),
	};
	int rc = 0;

	if (flow_settings_whole(&flow->settings))
		return thread_open_whole(flow, error);
	for (int part = FLOW_PART_IO; part <= FLOW_PART_OUTPUT; part++) {
		for (uint32_t i = 0; rc == 0 && i < counts[part]; i++)
			rc = thread_open(flow, (enum flow_part)part, i, error);
	}
	return rc;
}
