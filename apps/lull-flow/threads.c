/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/dpdk/port.h"
#include "flow.h"

static const struct {
	const char *kind, *name;
	const struct lull_stage *stage;
} parts[] = {
	[FLOW_PART_IO] = { "io", "io", &lull_stage_flow_io },
	[FLOW_PART_WORKER] = { "worker", "worker", &lull_stage_flow_worker },
	[FLOW_PART_LOG] = { "log", "log", &lull_stage_flow_log },
	[FLOW_PART_OUTPUT] = { "output", "output", &lull_stage_flow_output },
};

/* With a port for each I/O thread they share the ports, else the queues of every port. */
static int
thread_queues(const struct flow *flow, struct flow_thread *thread, struct lull_loop_config *config,
	      struct lull_error *error)
{
	bool deal = flow->port_queues == 1;

	if (flow_settings_from_files(&flow->settings))
		return 0;
	for (uint32_t p = 0; p < flow->port_count; p++) {
		const struct lull_ring_facts rings = lull_port_rings(&flow->ports[p]);

		if (deal && p % flow->settings.io != thread->place.index)
			continue;
		if (config->queue_count == LULL_IDLE_QUEUES_MAX)
			return lull_error_set(error, -E2BIG,
					      "more than %d ports for one I/O thread; give --io",
					      LULL_IDLE_QUEUES_MAX);
		lull_ring_facts_add(&thread->rings, &rings);
		config->queues[config->queue_count++] = (struct lull_loop_queue){
			.port_id = flow->ports[p].port_id,
			.queue_id = deal ? 0 : (uint16_t)thread->place.index,
		};
	}
	return 0;
}

int
flow_thread_limits(const struct flow_thread *thread, struct lull_idle_limits *limits,
		   struct lull_error *error)
{
	const struct lull_resting *resting = &thread->resting;
	struct lull_range wrong;

	*limits = lull_resting_limits(resting, &thread->rings);
	if (limits->envelope == LULL_ENVELOPE_LINK && limits->pps_max == 0) {
		if (thread->part == FLOW_PART_IO)
			return lull_error_set(
				error, -EINVAL,
				"pps-max: an input tells no link rate; say learned or a number");
		limits->envelope = LULL_ENVELOPE_LEARNED; /* rings in here have no link */
	}
	if (lull_idle_config_check(limits, &wrong) != 0)
		return lull_error_range(error, &wrong);
	return 0;
}

static int
thread_open(struct flow *flow, enum flow_part part, uint32_t index, struct lull_error *error)
{
	struct flow_thread *thread = &flow->threads[flow->thread_count];
	struct lull_loop_config config = {
		.kind = parts[part].kind,
		.lcore_id = flow->thread_count + 1,
		.burst_pkts = (uint16_t)flow->settings.burst,
		.governor = lull_resting_governor(&flow->settings.resting),
		.sched_policy = (enum lull_sched_policy)flow->settings.resting.sched_policy,
		.stage = parts[part].stage,
		.stage_config = &thread->place,
	};
	char text[LULL_ERROR_SIZE];
	int rc;

	snprintf(config.name, sizeof(config.name), "%s%u", parts[part].name, index);
	thread->part = part;
	thread->place = (struct lull_pipeline_place){ flow->pipeline, index };
	thread->resting = flow->settings.resting;
	rc = part == FLOW_PART_IO ? thread_queues(flow, thread, &config, error) : 0;
	if (thread->rings.count == 0) /* files, and what is inside of the program */
		thread->rings.ring_pkts = flow->settings.ring;
	if (rc == 0)
		rc = flow_thread_limits(thread, &config.limits, error);
	if (rc != 0)
		return rc;
	rc = lull_loop_create(&config, &thread->loop, text);
	if (rc != 0)
		return lull_error_set(error, rc, "%s", text);
	flow->loops[flow->thread_count++] = thread->loop;
	return 0;
}

int
flow_open_threads(struct flow *flow, struct lull_error *error)
{
	const uint32_t counts[] = {
		[FLOW_PART_IO] = flow->settings.io,
		[FLOW_PART_WORKER] = flow->settings.workers,
		[FLOW_PART_LOG] = flow->settings.logs,
		[FLOW_PART_OUTPUT] = flow_settings_has_output(&flow->settings),
	};
	int rc = 0;

	for (int part = FLOW_PART_IO; part <= FLOW_PART_OUTPUT; part++) {
		for (uint32_t i = 0; rc == 0 && i < counts[part]; i++)
			rc = thread_open(flow, (enum flow_part)part, i, error);
	}
	return rc;
}
