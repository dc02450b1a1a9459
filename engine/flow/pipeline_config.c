/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The config of a pipeline: defaults, what its parts must agree on, ranges.
 */
#include <errno.h>

#include "base/range.h"
#include "host/error.h"
#include "pipeline_config.h"

#define DEFAULT_RING_PKTS 1024
#define DEFAULT_AGGREGATOR_RING 4096
#define DEFAULT_BURST_PKTS 32
#define DEFAULT_FLUSH_NS (20 * LULL_NS_PER_US)
#define DEFAULT_IDLE_NS (30 * LULL_NS_PER_S)
#define DEFAULT_ENTRIES 65536u
#define DEFAULT_BUCKET_BITS 16
#define DEFAULT_WINDOW_PKTS 4096
#define MERGE_RECORDS_MAX (1u << 20)
#define CONNECTION_BITS_MIN 10
#define CONNECTION_BITS_MAX 20
/* A loop that rests reads clocks, and tells its own, that often at least. */
#define LATE_NS_MIN (100 * LULL_NS_PER_MS)
#define DAY_NS (24 * 3600 * LULL_NS_PER_S)

static void
config_default(struct lull_pipeline_config *config)
{
	struct {
		uint32_t *member, value;
	} defaults[] = {
		{ &config->io_count, 1 },
		{ &config->worker_count, 1 },
		{ &config->aggregator_count, 1 },
		{ &config->ring_pkts, DEFAULT_RING_PKTS },
		{ &config->aggregator_ring, DEFAULT_AGGREGATOR_RING },
		{ &config->burst_pkts, DEFAULT_BURST_PKTS },
		{ &config->flush_pkts, DEFAULT_BURST_PKTS },
		{ &config->dispatch.bucket_bits, DEFAULT_BUCKET_BITS },
		{ &config->resequence.window_pkts, DEFAULT_WINDOW_PKTS },
		{ &config->table.entries_max, DEFAULT_ENTRIES },
	};

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		if (*defaults[i].member == 0)
			*defaults[i].member = defaults[i].value;
	}
	if (config->flush_ns == 0)
		config->flush_ns = DEFAULT_FLUSH_NS;
	if (config->table.idle_ns == 0)
		config->table.idle_ns = DEFAULT_IDLE_NS;
	if (config->dispatch.idle_ns == 0)
		config->dispatch.idle_ns = DEFAULT_IDLE_NS;
}

static uint32_t
config_merge_records(const struct lull_pipeline_config *config)
{
	uint64_t together = (uint64_t)config->worker_count * config->table.entries_max;

	/* Each entry may be announced; what half-open flows leave behind comes on top. */
	if (config->worker_count > 1)
		together += together / 4;

	return (uint32_t)LULL_MIN(together, (uint64_t)MERGE_RECORDS_MAX);
}

/*
 * Buckets are kept as soon as a flow can have packets at two workers, be it after a live change.
 * They outlast a flow's longest silence, also seen through the one clock of a burst (span_ns of
 * struct flow_io): else a flow could move without its packets being marked as shared.
 */
static void
config_connections(struct lull_pipeline_config *config)
{
	/* Where workers read each has its own. */
	uint32_t workers = config->workers_read ? 1 : config->worker_count;
	uint64_t entries = 2ull * workers * config->table.entries_max;
	uint32_t bits = CONNECTION_BITS_MIN;

	while (bits < CONNECTION_BITS_MAX && 1ull << bits < entries)
		bits++;
	if (config->connections.bits == 0)
		config->connections.bits = bits;
	config->connections.idle_ns = config->table.idle_ns;
	config->connections.closed_ns = config->table.closed_ns;
}

static void
config_agree(struct lull_pipeline_config *config)
{
	uint32_t io_bits = config->io_count > 2 ? 2 : config->io_count - 1;
	uint64_t outlast_ns = LULL_MIN(2 * config->table.idle_ns, DAY_NS);

	config->dispatch.worker_count = config->worker_count;
	config->dispatch.tracks =
		(config->worker_count > 1 || config->io_count > 1) && !config->workers_read;
	config->dispatch.idle_ns = LULL_MAX(config->dispatch.idle_ns, outlast_ns);
	/* What stays where it is needs no buckets to be in order. */
	if (config->workers_read && config->dispatch.order == LULL_ORDER_DRAIN)
		config->dispatch.order = LULL_ORDER_NONE;
	config_connections(config);
	config->table.announce_all = config->io_count > 1;
	config->table.extra_bytes = config->identify ? sizeof(struct lull_identify_flow) : 0;
	config->resequence.bucket_bits = config->dispatch.bucket_bits + io_bits;
	config->output = config->output || config->dispatch.order == LULL_ORDER_RESEQUENCE;
	if (config->merge_records == 0)
		config->merge_records = config_merge_records(config);
}

static int
config_power(struct lull_error *error, const char *field, uint32_t value)
{
	if ((value & (value - 1)) == 0)
		return 0;
	return lull_error_set(error, -EINVAL, "%s: %u is not a power of two", field, value);
}

static int
config_own(const struct lull_pipeline_config *config, struct lull_error *error)
{
	const struct lull_range ranges[] = {
		{ "io_count", config->io_count, 1, LULL_PIPELINE_IO_MAX },
		{ "worker_count", config->worker_count, 1, FLOW_WORKERS },
		{ "aggregator_count", config->aggregator_count, 1, LULL_PIPELINE_AGGREGATOR_MAX },
		{ "ring_pkts", config->ring_pkts, 64, 65536 },
		{ "aggregator_ring", config->aggregator_ring, 64, 1u << 20 },
		{ "burst_pkts", config->burst_pkts, 1, LULL_BURST_MAX },
		{ "flush_pkts", config->flush_pkts, 1, LULL_BURST_MAX },
		{ "flush_ns", config->flush_ns, 1, LULL_NS_PER_S },
		{ "late_ns", config->late_ns, config->late_ns > 0 ? LATE_NS_MIN : 0, DAY_NS },
	};
	struct lull_range wrong;
	int rc = config_power(error, "ring_pkts", config->ring_pkts);

	if (rc == 0)
		rc = config_power(error, "aggregator_ring", config->aggregator_ring);
	if (rc == 0 && LULL_RANGES_CHECK(ranges, &wrong) != 0)
		rc = lull_error_range(error, &wrong);
	return rc;
}

struct lull_flow_merge_config
pipeline_config_merge(const struct lull_pipeline_config *config)
{
	return (struct lull_flow_merge_config){
		.records_max = config->merge_records,
		.idle_ns = config->table.idle_ns,
		.active_ns = config->table.active_ns,
		.payload_bytes = config->table.payload_bytes,
		.hold = (config->worker_count > 1 || config->io_count > 1) && !config->workers_read,
	};
}

/* What needs a dispatcher that sees all packets, and one after the other. */
static int
config_workers_read(const struct lull_pipeline_config *config, struct lull_error *error)
{
	const struct lull_dispatch_config *dispatch = &config->dispatch;

	if (!config->workers_read)
		return 0;
	if (config->io_count != 1 || config->sources[0].read == NULL || !config->sources[0].stays)
		return lull_error_set(error, -EINVAL,
				      "workers read one source whose data stays, and no ports");
	if (dispatch->scheduler == NULL || lull_scheduler_splits(dispatch->scheduler) ||
	    dispatch->shadow != NULL || config->trace != NULL || config->output)
		return lull_error_set(error, -EINVAL,
				      "workers read without a dispatcher: no scheduler that splits "
				      "flows, no shadow, trace or output");
	if (config->aggregator_count > config->worker_count)
		return lull_error_set(error, -EINVAL,
				      "workers read: %u aggregators, but %u workers",
				      config->aggregator_count, config->worker_count);
	return 0;
}

static int
config_parts(const struct lull_pipeline_config *config, struct lull_error *error)
{
	struct lull_flow_merge_config merge = pipeline_config_merge(config);
	struct lull_range wrong;
	int rc = lull_dispatch_config_check(&config->dispatch, &wrong);

	if (rc == 0)
		rc = lull_flow_parser_config_check(&config->parser, &wrong);
	if (rc == 0)
		rc = lull_flow_connections_config_check(&config->connections, &wrong);
	if (rc == 0)
		rc = lull_flow_table_config_check(&config->table, &wrong);
	if (rc == 0)
		rc = lull_flow_merge_config_check(&merge, &wrong);
	if (rc == 0 && config->dispatch.order == LULL_ORDER_RESEQUENCE)
		rc = lull_resequence_config_check(&config->resequence, &wrong);
	return rc == 0 ? 0 : lull_error_range(error, &wrong);
}

int
pipeline_config_fill(const struct lull_pipeline_config *config, struct lull_pipeline_config *full,
		     struct lull_error *error)
{
	int rc;

	*full = *config;
	config_default(full);
	rc = config_own(full, error);
	if (rc != 0)
		return rc;
	config_agree(full);
	rc = config_workers_read(full, error);
	return rc == 0 ? config_parts(full, error) : rc;
}

uint64_t
lull_pipeline_bytes(const struct lull_pipeline_config *config)
{
	struct lull_pipeline_config full = *config;
	struct lull_flow_merge_config merge;
	uint64_t record, worker;

	config_default(&full);
	config_agree(&full);
	merge = pipeline_config_merge(&full);
	record = lull_flow_record_bytes(full.table.payload_bytes);
	worker = lull_flow_table_size(&full.table) +
		 full.aggregator_count * record * full.aggregator_ring;
	return full.worker_count * worker + full.aggregator_count * lull_flow_merge_size(&merge) +
	       full.io_count * (lull_dispatch_size(&full.dispatch) +
				lull_flow_connections_size(&full.connections));
}
