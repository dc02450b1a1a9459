/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/range.h"
#include "pipeline_state.h"

#define PROGRESS_ITERATIONS 4096
#define PROGRESS_PKTS 65536
#define LOAD_MAX_PPM 4000000

enum { STREAM_GAP = 201, STREAM_SERVICE };

/* ---- config ---- */

static int
pipeline_numbers_check(const struct lull_sim_pipeline_config *config, struct lull_range *error)
{
	const struct lull_range ranges[] = {
		{ "load_ppm", config->load_ppm, 1, LOAD_MAX_PPM },
		{ "pkts", config->pkts, 1, UINT64_MAX / 4 },
		{ "lead_pkts", config->lead_pkts, 0, UINT64_MAX / 4 },
		{ "rx_ring_pkts", config->rx_ring_pkts, 1, 1u << 20 },
		{ "burst_pkts", config->burst_pkts, 1, LULL_SIM_PIPELINE_BURST_MAX },
		{ "flush_pkts", config->flush_pkts, 1, LULL_SIM_PIPELINE_BURST_MAX },
		{ "flush_ns", config->flush_ns, 0, LULL_NS_PER_S },
		{ "io_iteration_ns", config->io_iteration_ns, 1, LULL_NS_PER_S },
		{ "io_pkt_ns", config->io_pkt_ns, 0, LULL_NS_PER_S },
		{ "ring_pkts", config->ring_pkts, 1, 1u << 20 },
		{ "worker_burst_pkts", config->worker_burst_pkts, 1, LULL_SIM_PIPELINE_BURST_MAX },
		{ "service_ns", config->service_ns, 1, LULL_NS_PER_S },
		{ "jitter_ppm", config->jitter_ppm, 0, LULL_PPM },
		{ "identify_ns", config->identify_ns, 0, LULL_NS_PER_S },
		{ "identify_pkts", config->identify_pkts, 0, 255 },
		{ "wake_ns", config->wake_ns, 0, LULL_NS_PER_S },
		{ "stall_every_ns", config->stall_every_ns, 0, 1000 * LULL_NS_PER_S },
		{ "stall_ns", config->stall_ns, 0, LULL_NS_PER_S },
		{ "stall_worker", config->stall_worker, 0, LULL_DISPATCH_WORKERS_MAX - 1 },
		{ "watch_pkts", config->watch_pkts, 0, 1u << 16 },
	};

	return LULL_RANGES_CHECK(ranges, error);
}

/* What other modules ask for, as they get it. */
static struct lull_sim_flows_config
pipeline_flows(const struct lull_sim_pipeline_config *config)
{
	struct lull_sim_flows_config flows = config->flows;

	flows.worker_count = config->dispatch.worker_count;
	flows.seed = config->seed;
	/* one more than the Rx ring holds arrives; a worker has its ring and what it took */
	flows.inside_pkts =
		1 + config->rx_ring_pkts +
		flows.worker_count * (config->ring_pkts + 3 * LULL_SIM_PIPELINE_BURST_MAX) +
		(config->resequence.window_pkts > 0 ? config->resequence.window_pkts : 65536) + 1;
	return flows;
}

static struct lull_resequence_config
pipeline_resequence(const struct lull_sim_pipeline_config *config)
{
	struct lull_resequence_config resequence = config->resequence;

	resequence.bucket_bits = config->dispatch.bucket_bits;
	return resequence;
}

int
lull_sim_pipeline_config_check(const struct lull_sim_pipeline_config *config,
			       struct lull_range *error)
{
	struct lull_sim_flows_config flows = pipeline_flows(config);
	struct lull_resequence_config resequence = pipeline_resequence(config);
	int rc = pipeline_numbers_check(config, error);

	if (rc == 0)
		rc = lull_dispatch_config_check(&config->dispatch, error);
	if (rc == 0)
		rc = lull_sim_flows_config_check(&flows, error);
	if (rc == 0)
		rc = lull_resequence_config_check(&resequence, error);
	return rc;
}

/* ---- create ---- */

static void *
pipeline_lines(size_t size)
{
	return aligned_alloc(LULL_CACHE_LINE,
			     (size + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE);
}

/* Smallest power of two not below it. */
static uint64_t
pipeline_round(uint64_t count)
{
	uint64_t size = 1;

	while (size < count)
		size *= 2;
	return size;
}

static int
pipeline_create_workers(struct lull_sim_pipeline *pipeline)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	/* what a worker has taken lies behind its ring until it is done */
	uint64_t room = pipeline_round(config->ring_pkts + config->worker_burst_pkts);

	for (uint32_t w = 0; w < pipeline->worker_count; w++) {
		struct lull_sim_pipeline_worker *worker = &pipeline->workers[w];
		bool stalls = config->stall_ns > 0 && config->stall_every_ns > 0 &&
			      w == config->stall_worker;

		worker->mask = room - 1;
		worker->stall_at_ns = stalls ? config->stall_every_ns : NEVER;
		worker->pkts = calloc(room, sizeof(*worker->pkts));
		worker->watch = calloc(config->watch_pkts + 1, 1);
		if (worker->pkts == NULL || worker->watch == NULL)
			return -ENOMEM;
		pipeline->worker_ns[w] = NEVER;
	}
	return 0;
}

static int
pipeline_create_dispatch(struct lull_sim_pipeline *pipeline)
{
	void *memory;
	int rc;

	pipeline->config.dispatch.seed = pipeline->config.seed;
	memory = pipeline_lines(lull_dispatch_size(&pipeline->config.dispatch));
	if (memory == NULL)
		return -ENOMEM;
	rc = lull_dispatch_init(memory, &pipeline->config.dispatch, &pipeline->dispatch);
	if (rc != 0) {
		free(memory);
		return rc;
	}
	pipeline->tracks = lull_dispatch_tracks(pipeline->dispatch);
	return 0;
}

static int
pipeline_create_output(struct lull_sim_pipeline *pipeline)
{
	struct lull_resequence_config config = pipeline_resequence(&pipeline->config);
	uint32_t window = config.window_pkts > 0 ? config.window_pkts : 65536;
	void *memory;

	pipeline->output_ns = NEVER;
	if (pipeline->config.dispatch.order != LULL_ORDER_RESEQUENCE)
		return 0;
	memory = pipeline_lines(lull_resequence_size(&config));
	if (memory == NULL)
		return -ENOMEM;
	if (lull_resequence_init(memory, &config, &pipeline->resequence) != 0) {
		free(memory);
		return -EINVAL;
	}
	pipeline->held_room = window + 1;
	pipeline->held = calloc(pipeline->held_room, sizeof(*pipeline->held));
	pipeline->unused = calloc(pipeline->held_room, sizeof(struct lull_sim_pipeline_pkt *));
	pipeline->out = calloc(pipeline->held_room, sizeof(void *));
	if (pipeline->held == NULL || pipeline->unused == NULL || pipeline->out == NULL)
		return -ENOMEM;
	while (pipeline->unused_count < pipeline->held_room) {
		pipeline->unused[pipeline->unused_count] = &pipeline->held[pipeline->unused_count];
		pipeline->unused_count++;
	}
	return 0;
}

static int
pipeline_create_parts(struct lull_sim_pipeline *pipeline)
{
	const struct lull_sim_pipeline_config *config = &pipeline->config;
	struct lull_sim_flows_config flows = pipeline_flows(config);
	int rc = lull_sim_flows_init(&pipeline->flows, &flows);

	if (rc == 0)
		rc = pipeline_create_workers(pipeline);
	if (rc == 0)
		rc = pipeline_create_dispatch(pipeline);
	if (rc == 0)
		rc = lull_sim_pipeline_staging_init(pipeline);
	if (rc == 0)
		rc = pipeline_create_output(pipeline);
	if (rc != 0)
		return rc;
	pipeline->rx_mask = pipeline_round(config->rx_ring_pkts) - 1;
	pipeline->rx = calloc(pipeline->rx_mask + 1, sizeof(*pipeline->rx));
	/* every packet that workers finish during an iteration may bring one */
	pipeline->note_room = pipeline->worker_count * LULL_SIM_PIPELINE_BURST_MAX;
	pipeline->notes = calloc(pipeline->note_room, sizeof(*pipeline->notes));
	return pipeline->rx == NULL || pipeline->notes == NULL ? -ENOMEM : 0;
}

int
lull_sim_pipeline_create(const struct lull_sim_pipeline_config *config,
			 struct lull_sim_pipeline **pipeline)
{
	struct lull_sim_pipeline *made;
	int rc = lull_sim_pipeline_config_check(config, NULL);

	if (rc != 0)
		return rc;
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return -ENOMEM;
	made->config = *config;
	made->worker_count = config->dispatch.worker_count;
	if (made->config.dispatch.threshold_ppm == 0)
		made->config.dispatch.threshold_ppm = LULL_PPM / 4;
	made->result.worker_count = made->worker_count;
	rc = pipeline_create_parts(made);
	if (rc != 0) {
		lull_sim_pipeline_free(made);
		return rc;
	}
	lull_prng_init(&made->gap_prng, config->seed, STREAM_GAP);
	lull_prng_init(&made->service_prng, config->seed, STREAM_SERVICE);
	made->jitter_span = config->service_ns * config->jitter_ppm / LULL_PPM * 2;
	made->service_low_ns = LULL_MAX(config->service_ns - made->jitter_span / 2, 1);
	*pipeline = made;
	return 0;
}

void
lull_sim_pipeline_free(struct lull_sim_pipeline *pipeline)
{
	if (pipeline == NULL)
		return;
	for (uint32_t w = 0; w < pipeline->worker_count; w++) {
		free(pipeline->workers[w].pkts);
		free(pipeline->workers[w].watch);
	}
	lull_sim_flows_done(&pipeline->flows);
	free(pipeline->staging);
	free(pipeline->staged_pkts);
	free(pipeline->spare);
	free(pipeline->dispatch);
	free(pipeline->resequence);
	free(pipeline->rx);
	free(pipeline->notes);
	free(pipeline->held);
	free(pipeline->unused);
	free(pipeline->out);
	free(pipeline);
}

/* ---- run ---- */

/*
 * The same packets as the run's, on their own: how many of those measured are among the first of
 * their flows. Without churn nothing is counted any more once all flows are known.
 */
static int
pipeline_count_identified(const struct lull_sim_pipeline_config *config,
			  lull_sim_pipeline_progress *progress, void *arg, uint64_t *identified)
{
	struct lull_sim_flows_config flows_config = pipeline_flows(config);
	uint64_t total = config->lead_pkts + config->pkts, known = 0;
	struct lull_sim_flows flows;
	int rc;

	*identified = 0;
	if (config->identify_ns == 0 || config->identify_pkts == 0)
		return 0;
	flows_config.inside_pkts = 0;
	rc = lull_sim_flows_init(&flows, &flows_config);
	for (uint64_t i = 0; rc == 0 && i < total; i++) {
		uint32_t slot = lull_sim_flows_next(&flows);
		uint8_t *seen = &flows.seen[(size_t)slot * flows_config.worker_count];

		lull_sim_flows_left(&flows, slot);
		if (*seen < config->identify_pkts) {
			known += ++*seen == config->identify_pkts;
			*identified += i >= config->lead_pkts;
		}
		if (flows_config.churn_ppm == 0 && known == flows_config.flow_count)
			break;
		if (i % PROGRESS_PKTS == 0 && progress != NULL && !progress(arg, 0, total))
			rc = -EINTR;
	}
	lull_sim_flows_done(&flows);
	return rc;
}

/* Of events at one time workers come first, then the output, then the I/O core; false: no more. */
static bool
pipeline_step(struct lull_sim_pipeline *pipeline)
{
	uint32_t first = 0;
	uint64_t first_ns = pipeline->worker_ns[0];

	for (uint32_t w = 1; w < pipeline->worker_count; w++)
		if (pipeline->worker_ns[w] < first_ns) {
			first_ns = pipeline->worker_ns[w];
			first = w;
		}
	if (first_ns <= pipeline->output_ns && first_ns <= pipeline->io_ns) {
		if (first_ns == NEVER)
			return false;
		pipeline->now_ns = first_ns;
		lull_sim_pipeline_worker_iterate(pipeline, first);
	} else if (pipeline->output_ns <= pipeline->io_ns) {
		pipeline->now_ns = pipeline->output_ns;
		lull_sim_pipeline_output_iterate(pipeline);
	} else {
		pipeline->now_ns = pipeline->io_ns;
		lull_sim_pipeline_io_iterate(pipeline);
	}
	return true;
}

static void
pipeline_end(struct lull_sim_pipeline *pipeline)
{
	struct lull_sim_pipeline_result *result = &pipeline->result;
	const struct lull_counter_info *row;

	result->dispatch = *lull_dispatch_counters(pipeline->dispatch);
	for (row = lull_dispatch_counter_table; row->name != NULL; row++) {
		uint64_t lead;
		char *member = (char *)&result->dispatch + row->offset;
		uint64_t value;

		memcpy(&lead, (const char *)&pipeline->lead + row->offset, sizeof(lead));
		memcpy(&value, member, sizeof(value));
		value -= lead;
		memcpy(member, &value, sizeof(value));
	}
	for (uint32_t w = 0; w < pipeline->worker_count; w++) {
		result->dispatch.worker_pkts[w] -= pipeline->lead.worker_pkts[w];
		result->dispatch.shadow_pkts[w] -= pipeline->lead.shadow_pkts[w];
	}
	if (pipeline->resequence != NULL)
		result->resequence = *lull_resequence_counters(pipeline->resequence);
	if (pipeline->measuring)
		result->span_ns = pipeline->now_ns - pipeline->begin_ns;
}

int
lull_sim_pipeline_run(struct lull_sim_pipeline *pipeline, lull_sim_pipeline_progress *progress,
		      void *arg)
{
	struct lull_sim_pipeline_result *result = &pipeline->result;
	uint64_t total = pipeline->config.lead_pkts + pipeline->config.pkts;
	uint64_t iterations = 0, identified;
	int rc = pipeline_count_identified(&pipeline->config, progress, arg, &identified);

	if (rc != 0)
		return rc;
	lull_sim_pipeline_source_init(pipeline, identified);
	while (pipeline_step(pipeline)) {
		if (pipeline->lost && pipeline->config.stop_at_loss)
			break;
		if (pipeline->iterations < iterations + PROGRESS_ITERATIONS)
			continue;
		iterations = pipeline->iterations;
		if (progress != NULL && !progress(arg, pipeline->arrived, total))
			return -EINTR;
	}
	pipeline_end(pipeline);
	if (!pipeline->lost || !pipeline->config.stop_at_loss)
		LULL_ASSERT(result->offered == pipeline->config.pkts &&
			    result->offered ==
				    result->delivered + result->lost_rx + result->lost_ring);
	return 0;
}

const struct lull_sim_pipeline_result *
lull_sim_pipeline_read(const struct lull_sim_pipeline *pipeline)
{
	return &pipeline->result;
}
