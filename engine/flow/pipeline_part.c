/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops' parts of a pipeline. Each is hung into the pipeline before it is whole, so that
 * destroying it works after a failure too.
 */
#include "pipeline_part.h"

#include <errno.h>

#include <rte_random.h>

#include "engine/dpdk/memory.h"
#include "host/error.h"
#include "pipeline_config.h"

/* Flows of a worker that are being identified at once: 700 bytes each. */
#define IDENTIFIED_MAX 65536u

static void *
pipeline_zalloc(size_t bytes, struct lull_error *error)
{
	void *memory = lull_memory_zalloc("lull_pipeline", bytes, LULL_MEMORY_ANY_NODE);

	if (memory == NULL)
		lull_error_set(error, -ENOMEM,
			       "pipeline: no memory for %zu KB; fewer workers, smaller tables "
			       "or more memory",
			       bytes >> 10);
	return memory;
}

static int
part_make_connections(const struct lull_pipeline_config *config,
		      struct lull_flow_connections **connections, struct lull_error *error)
{
	void *memory = pipeline_zalloc(lull_flow_connections_size(&config->connections), error);

	if (memory != NULL &&
	    lull_flow_connections_init(memory, &config->connections, connections) != 0)
		lull_memory_free(memory);
	return *connections != NULL ? 0 : -ENOMEM;
}

int
pipeline_make_io(struct lull_pipeline *pipeline, uint32_t index, struct lull_error *error)
{
	const struct lull_pipeline_config *config = &pipeline->config;
	struct flow_io *io = pipeline_zalloc(sizeof(*io), error);
	void *dispatch, *parser;
	int rc = 0;

	if (io == NULL)
		return -ENOMEM;
	pipeline->ios[index] = io;
	io->pipeline = pipeline;
	io->index = index;
	io->worker_count = config->worker_count;
	io->from_source = config->sources[index].read != NULL;
	io->several = config->io_count > 1;
	io->burst_pkts = config->burst_pkts;
	io->idle_ns = config->table.idle_ns;
	io->span_ns = config->dispatch.idle_ns - config->table.idle_ns;
	dispatch = pipeline_zalloc(lull_dispatch_size(&config->dispatch), error);
	parser = pipeline_zalloc(lull_flow_parser_size(&config->parser), error);
	if (!config->workers_read)
		rc = part_make_connections(config, &io->connections, error);
	if (dispatch != NULL && lull_dispatch_init(dispatch, &config->dispatch, &io->dispatch) != 0)
		lull_memory_free(dispatch);
	if (parser != NULL && lull_flow_parser_init(parser, &config->parser, &io->parser) != 0)
		lull_memory_free(parser);
	if (io->dispatch == NULL || io->parser == NULL || rc != 0)
		return -ENOMEM;
	if (index == 0 && config->trace != NULL)
		lull_dispatch_trace(io->dispatch, config->trace, config->trace_arg);
	flow_send_init(io, config);
	if (!io->staging.marks)
		return 0;
	pipeline->boards[index] =
		pipeline_zalloc(sizeof(uint32_t) << config->dispatch.bucket_bits, error);
	if (pipeline->boards[index] == NULL || io->several)
		return pipeline->boards[index] != NULL ? 0 : -ENOMEM;
	pipeline->splits = pipeline_zalloc(sizeof(uint64_t) << config->dispatch.bucket_bits, error);
	io->splits = pipeline->splits;
	io->bucket_mask = (1u << config->dispatch.bucket_bits) - 1;
	return io->splits != NULL ? 0 : -ENOMEM;
}

int
pipeline_make_worker(struct lull_pipeline *pipeline, uint32_t index, struct lull_error *error)
{
	const struct lull_pipeline_config *config = &pipeline->config;
	struct lull_flow_table_config table_config = config->table;
	struct flow_worker *worker = pipeline_zalloc(sizeof(*worker), error);
	void *table;

	if (worker == NULL)
		return -ENOMEM;
	pipeline->workers[index] = worker;
	worker->pipeline = pipeline;
	worker->index = index;
	worker->io_count = config->io_count;
	worker->aggregator_count = config->aggregator_count;
	worker->wait = config->wait;
	worker->alone =
		(config->worker_count == 1 && config->io_count == 1) || config->workers_read;
	worker->splits = pipeline->splits;
	worker->bucket_mask = (1u << config->dispatch.bucket_bits) - 1;
	worker->record_bytes = (uint32_t)lull_flow_record_bytes(config->table.payload_bytes);
	worker->feed = pipeline->feed;
	worker->strict = config->io_count > 1;
	worker->ordered = config->wait && config->io_count == 1 && config->sources[0].read != NULL;
	for (uint32_t i = 0; i < config->io_count; i++) {
		worker->strict = worker->strict && config->sources[i].read != NULL;
		worker->live = worker->live || config->sources[i].read == NULL;
	}
	if (config->workers_read && part_make_connections(config, &worker->connections, error) != 0)
		return -ENOMEM;
	table_config.worker_index = index;
	table = pipeline_zalloc(lull_flow_table_size(&table_config), error);
	if (table == NULL)
		return -ENOMEM;
	if (lull_flow_table_init(table, &table_config, flow_record_hand, worker, &worker->table) !=
	    0) {
		lull_memory_free(table);
		return lull_error_set(error, -EINVAL, "pipeline: flow table");
	}
	if (!config->identify)
		return 0;
	return lull_identify_create(LULL_MIN(config->table.entries_max, IDENTIFIED_MAX),
				    &worker->identify, error);
}

static void
aggregator_give(void *arg, const struct lull_flow_record *record)
{
	const struct flow_aggregator *aggregator = arg;

	aggregator->sink.record(aggregator->sink.arg, record);
}

int
pipeline_make_aggregator(struct lull_pipeline *pipeline, uint32_t index, struct lull_error *error)
{
	const struct lull_pipeline_config *config = &pipeline->config;
	struct lull_flow_merge_config merge_config = pipeline_config_merge(config);
	struct flow_aggregator *aggregator = pipeline_zalloc(sizeof(*aggregator), error);
	void *merge;

	if (aggregator == NULL)
		return -ENOMEM;
	pipeline->aggregators[index] = aggregator;
	aggregator->pipeline = pipeline;
	aggregator->index = index;
	aggregator->worker_count = config->worker_count;
	aggregator->record_bytes = (uint32_t)lull_flow_record_bytes(config->table.payload_bytes);
	aggregator->late_ns = config->worker_count > 1 ? config->late_ns : 0;
	/* A sink that waits has time; else a worker that stands still would cost records. */
	aggregator->full_records =
		config->wait ? config->merge_records - config->merge_records / 4 : UINT32_MAX;
	aggregator->sink = config->sinks[index];
	if (aggregator->sink.record == NULL || aggregator->sink.iterate == NULL)
		return lull_error_set(error, -EINVAL, "pipeline: aggregator %u has no sink", index);
	aggregator->messages =
		pipeline_zalloc((size_t)FLOW_RECORDS * aggregator->record_bytes, error);
	merge_config.seed = rte_rand(); /* DPDK seeds it from the kernel's entropy */
	merge = pipeline_zalloc(lull_flow_merge_size(&merge_config), error);
	if (merge != NULL && lull_flow_merge_init(merge, &merge_config, aggregator_give, aggregator,
						  &aggregator->merge) != 0)
		lull_memory_free(merge);
	return aggregator->messages != NULL && aggregator->merge != NULL ? 0 : -ENOMEM;
}

int
pipeline_make_output(struct lull_pipeline *pipeline, struct lull_error *error)
{
	const struct lull_pipeline_config *config = &pipeline->config;
	struct flow_output *output = pipeline_zalloc(sizeof(*output), error);
	size_t buckets = (size_t)1 << config->resequence.bucket_bits;
	void *resequence;

	if (output == NULL)
		return -ENOMEM;
	pipeline->output = output;
	output->pipeline = pipeline;
	output->worker_count = config->worker_count;
	output->bucket_bits = config->dispatch.bucket_bits;
	output->send = config->output_send;
	output->wait = config->wait;
	output->port_id = config->output_port;
	output->queue_id = config->output_queue;
	if (pipeline->boards[0] != NULL) {
		output->next = pipeline_zalloc(buckets * sizeof(uint32_t), error);
		if (output->next == NULL)
			return -ENOMEM;
	}
	if (config->dispatch.order != LULL_ORDER_RESEQUENCE)
		return 0;
	resequence = pipeline_zalloc(lull_resequence_size(&config->resequence), error);
	if (resequence != NULL &&
	    lull_resequence_init(resequence, &config->resequence, &output->resequence) != 0)
		lull_memory_free(resequence);
	output->released = pipeline_zalloc(
		((size_t)config->resequence.window_pkts + 1) * sizeof(void *), error);
	return output->resequence != NULL && output->released != NULL ? 0 : -ENOMEM;
}

/* ---- undone ---- */

/* Frames go with what they belong to. */
static void
part_free_pkt(struct rte_mbuf *pkt)
{
	if (pkt->pool != NULL)
		rte_pktmbuf_free(pkt);
}

static void
part_free_pkts(struct rte_mbuf **pkts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		part_free_pkt(pkts[i]);
}

static void
part_free_ring(struct rte_ring *ring, bool of_pkts)
{
	void *pkt;

	while (ring != NULL && of_pkts && rte_ring_sc_dequeue(ring, &pkt) == 0)
		part_free_pkt(pkt);
	lull_memory_free(ring);
}

static void
part_free_early(struct lull_flow_parser *parser)
{
	struct lull_flow_packet *packet;
	uint64_t due_ns;

	while (parser != NULL &&
	       (packet = lull_flow_parser_release(parser, UINT64_MAX, &due_ns)) != NULL)
		part_free_pkt(flow_mbuf(packet));
}

void
pipeline_free_io(struct flow_io *io)
{
	if (io == NULL)
		return;
	if (!io->pipeline->config.workers_read)
		part_free_early(io->parser);
	for (uint32_t i = 0; i < io->worker_count; i++) {
		part_free_pkts((struct rte_mbuf **)io->staging.workers[i].pkts,
			       io->staging.workers[i].count);
		part_free_ring(io->rings[i], true);
		part_free_ring(io->notes[i], false);
	}
	flow_frames_destroy(io->frames);
	lull_memory_free(io->dispatch);
	lull_memory_free(io->parser);
	lull_memory_free(io->connections);
	lull_memory_free(io);
}

void
pipeline_free_worker(struct flow_worker *worker)
{
	if (worker == NULL)
		return;
	for (uint32_t i = 0; i < worker->io_count; i++)
		part_free_pkts(worker->inputs[i].pkts + worker->inputs[i].head,
			       worker->inputs[i].count - worker->inputs[i].head);
	part_free_pkts(worker->pending, worker->pending_count);
	for (uint32_t i = 0; i < worker->aggregator_count; i++)
		part_free_ring(worker->aggregators[i], false);
	part_free_ring(worker->out, true);
	lull_identify_destroy(worker->identify);
	lull_memory_free(worker->connections);
	lull_memory_free(worker->table);
	lull_memory_free(worker);
}

void
pipeline_free_aggregator(struct flow_aggregator *aggregator)
{
	if (aggregator == NULL)
		return;
	lull_memory_free(aggregator->messages);
	lull_memory_free(aggregator->merge);
	lull_memory_free(aggregator);
}

void
pipeline_free_output(struct flow_output *output)
{
	if (output == NULL)
		return;
	if (output->resequence != NULL)
		part_free_pkts(
			(struct rte_mbuf **)output->released,
			lull_resequence_expire(output->resequence, UINT64_MAX, output->released));
	lull_memory_free(output->resequence);
	lull_memory_free(output->released);
	lull_memory_free(output->next);
	lull_memory_free(output);
}
