/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has become of all packets, read while all loops run. Cells are read downstream first, so
 * nothing seems to have arrived that was not sent; what was sent since is in flight.
 */
#include "pipeline_reading.h"
#include "engine/dpdk/port_watch.h"

#include <errno.h>

/* Tries to see no more in flight than there is room for: the reader may lose its CPU in between. */
#define READINGS_MAX 64

/* ---- cells ---- */

void
pipeline_read_aggregators(const struct lull_pipeline *pipeline, struct pipeline_reading *reading)
{
	for (uint32_t i = 0; i < pipeline->config.aggregator_count; i++)
		lull_cell_read(&pipeline->aggregators[i]->sequence,
			       &pipeline->aggregators[i]->words, &reading->aggregators[i],
			       sizeof(reading->aggregators[i]));
}

void
pipeline_read_workers(const struct lull_pipeline *pipeline, struct pipeline_reading *reading)
{
	for (uint32_t i = 0; i < pipeline->config.worker_count; i++)
		lull_cell_read(&pipeline->workers[i]->sequence, &pipeline->workers[i]->words,
			       &reading->workers[i], sizeof(reading->workers[i]));
}

void
pipeline_read_ios(const struct lull_pipeline *pipeline, struct pipeline_reading *reading)
{
	for (uint32_t i = 0; i < pipeline->config.io_count; i++)
		lull_cell_read(&pipeline->ios[i]->sequence, &pipeline->ios[i]->words,
			       &reading->ios[i], sizeof(reading->ios[i]));
}

/* ---- totals ---- */

static void
totals_add_ports(const struct lull_pipeline *pipeline, struct lull_encode_totals *totals)
{
	for (uint32_t i = 0; i < pipeline->port_count; i++) {
		struct lull_port_reading reading, begin = pipeline->ports[i].begin;

		lull_port_reading(pipeline->ports[i].port_id, &reading);
		totals->missed += reading.missed - begin.missed;
		totals->nombuf += reading.nombuf - begin.nombuf;
		totals->errors += reading.errors - begin.errors;
	}
}

static void
totals_add_ios(const struct lull_pipeline *pipeline, const struct pipeline_reading *reading,
	       struct lull_pipeline_totals *all)
{
	struct lull_encode_totals *totals = &all->totals;

	for (uint32_t i = 0; i < pipeline->config.io_count; i++) {
		const struct flow_io_words *words = &reading->ios[i];

		totals->rx += words->rx;
		totals->dispatched += words->dispatched;
		totals->not_ip += words->causes[LULL_FLOW_NOT_IP];
		totals->malformed += words->causes[LULL_FLOW_MALFORMED];
		totals->truncated += words->causes[LULL_FLOW_TRUNCATED];
		totals->link += words->causes[LULL_FLOW_LINK];
		totals->drop_ring += words->dropped;
		all->staged += words->staged;
	}
}

static void
totals_add_workers(const struct lull_pipeline *pipeline, const struct pipeline_reading *reading,
		   struct lull_pipeline_totals *all)
{
	uint64_t finished = 0;

	for (uint32_t i = 0; i < pipeline->config.worker_count; i++) {
		const struct flow_worker_words *words = &reading->workers[i];
		const struct lull_flow_table_counters *table =
			lull_flow_table_counters(pipeline->workers[i]->table);

		finished += words->pkts + words->unrecorded;
		all->totals.unrecorded += words->unrecorded;
		all->totals.evicted += LULL_COUNTER_READ(table->evicted);
		all->reordered += words->reordered;
		all->open_flows += LULL_COUNTER_READ(table->entries);
	}
	all->in_flight = all->totals.dispatched - finished;
	all->open = finished - all->totals.unrecorded;
}

static void
totals_add_aggregators(const struct lull_pipeline *pipeline, const struct pipeline_reading *reading,
		       struct lull_pipeline_totals *all)
{
	for (uint32_t i = 0; i < pipeline->config.aggregator_count; i++) {
		const struct lull_flow_merge_counters *merge =
			lull_flow_merge_counters(pipeline->aggregators[i]->merge);

		all->totals.recorded += reading->aggregators[i].pkts;
		all->totals.records += reading->aggregators[i].records;
		all->totals.evicted += LULL_COUNTER_READ(merge->evicted);
	}
	all->open -= all->totals.recorded;
}

static uint64_t
totals_room(const struct lull_pipeline *pipeline)
{
	const struct lull_pipeline_config *config = &pipeline->config;

	if (pipeline->feed != NULL)
		return flow_feed_room(pipeline);
	return (uint64_t)config->worker_count *
	       (config->io_count * config->ring_pkts + FLOW_HANDS(config->io_count));
}

static void
totals_read(const struct lull_pipeline *pipeline, struct lull_pipeline_totals *all)
{
	struct pipeline_reading reading;

	pipeline_read_aggregators(pipeline, &reading);
	pipeline_read_workers(pipeline, &reading);
	pipeline_read_ios(pipeline, &reading);
	*all = (struct lull_pipeline_totals){ .in_flight_room = totals_room(pipeline) };
	totals_add_ios(pipeline, &reading, all);
	totals_add_workers(pipeline, &reading, all);
	totals_add_aggregators(pipeline, &reading, all);
}

void
lull_pipeline_totals(const struct lull_pipeline *pipeline, struct lull_pipeline_totals *totals)
{
	const struct flow_output *output = pipeline->output;

	for (int i = 0; i < READINGS_MAX; i++) {
		totals_read(pipeline, totals);
		if (totals->in_flight <= totals->in_flight_room)
			break;
	}
	totals_add_ports(pipeline, &totals->totals);
	if (output == NULL)
		return;
	totals->output = LULL_COUNTER_READ(output->counters.tx_pkts);
	totals->output_drops = LULL_COUNTER_READ(output->counters.tx_drops);
	for (uint32_t i = 0; i < pipeline->config.worker_count; i++)
		totals->output_drops +=
			LULL_COUNTER_READ(pipeline->workers[i]->counters.output_refused);
}

void
flow_totals(const struct lull_pipeline *pipeline, struct lull_encode_totals *totals)
{
	struct lull_pipeline_totals all;

	lull_pipeline_totals(pipeline, &all);
	*totals = all.totals;
}

int
lull_pipeline_port(struct lull_pipeline *pipeline, const struct lull_port *port)
{
	uint32_t i = pipeline->port_count;

	if (i == FLOW_PORTS_MAX)
		return -ENOSPC;
	pipeline->ports[i].port_id = port->port_id;
	lull_port_read(port->port_id, &pipeline->ports[i].begin);
	pipeline->port_count++;
	if (port->rx_stamps)
		pipeline->port_clocks |= UINT64_C(1) << port->port_id;
	return 0;
}
