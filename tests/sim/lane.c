/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "lane.h"

#include <inttypes.h>

struct lull_sim_pipeline_config
lane_config(const char *scheduler)
{
	return (struct lull_sim_pipeline_config){
		.dispatch = { .scheduler = lull_scheduler_find(scheduler), .worker_count = 4 },
		.flows = { .flow_count = 10000, .zipf_milli = 1100 },
		.load_ppm = 700000,
		.pkts = 100000,
		.rx_ring_pkts = 1024,
		.burst_pkts = 32,
		.flush_pkts = 32,
		.flush_ns = 20000,
		.io_iteration_ns = 50,
		.io_pkt_ns = 20,
		.ring_pkts = 1024,
		.worker_burst_pkts = 32,
		.service_ns = 300,
		.jitter_ppm = 250000,
		.identify_ns = 1300,
		.identify_pkts = 8,
		.seed = 1,
	};
}

struct lull_sim_pipeline_config
lane_config_plain(const char *scheduler, uint32_t worker_count)
{
	struct lull_sim_pipeline_config config = lane_config(scheduler);

	config.dispatch.worker_count = worker_count;
	config.flows = (struct lull_sim_flows_config){ .flow_count = 1 };
	config.gaps = LULL_SIM_GAPS_CONSTANT;
	config.load_ppm = 500000;
	config.pkts = 1000;
	config.burst_pkts = 1;
	config.flush_pkts = 1;
	config.io_iteration_ns = 10;
	config.io_pkt_ns = 0;
	config.service_ns = 100;
	config.jitter_ppm = 0;
	config.identify_pkts = 0;
	return config;
}

static void
lane_fail(const struct lull_sim_pipeline_config *config, const char *what)
{
	struct lull_range error = { "nothing", 0, 0, 0 };

	lull_sim_pipeline_config_check(config, &error);
	fail_msg("%s: %s, seed %" PRIu64 "; wrong: %s %" PRIu64, what,
		 lull_scheduler_name(config->dispatch.scheduler), config->seed, error.field,
		 error.value);
}

void
lane_run(const struct lull_sim_pipeline_config *config, struct lull_sim_pipeline_result *result)
{
	struct lull_sim_pipeline *pipeline;

	if (lull_sim_pipeline_create(config, &pipeline) != 0)
		lane_fail(config, "no pipeline");
	if (lull_sim_pipeline_run(pipeline, NULL, NULL) != 0)
		lane_fail(config, "no run");
	*result = *lull_sim_pipeline_read(pipeline);
	lull_sim_pipeline_free(pipeline);
}

uint32_t
lane_bisect(const struct lull_sim_pipeline_config *config, uint32_t seed_count)
{
	const struct lull_sim_pipeline_search search = { seed_count, 10000, 1200000 };
	uint32_t load_ppm = 0;

	if (lull_sim_pipeline_bisect(config, &search, NULL, NULL, &load_ppm) != 0)
		lane_fail(config, "no search");
	print_message("%s: no loss up to %g, seeds %" PRIu64 " and %" PRIu32 " more\n",
		      lull_scheduler_name(config->dispatch.scheduler), load_ppm / 1e6, config->seed,
		      seed_count - 1);
	return load_ppm;
}

static void
digest_add(uint64_t *digest, uint64_t value)
{
	for (int i = 0; i < 8; i++) {
		*digest = (*digest ^ (value & 255)) * 0x100000001b3;
		value >>= 8;
	}
}

static void
digest_add_histogram(uint64_t *digest, const struct lull_histogram *histogram)
{
	digest_add(digest, histogram->count);
	digest_add(digest, histogram->sum);
	digest_add(digest, histogram->max);
	for (uint32_t i = 0; i < LULL_HISTOGRAM_BINS; i++)
		digest_add(digest, histogram->bins[i]);
}

uint64_t
lane_digest(const struct lull_sim_pipeline_result *result)
{
	uint64_t digest = 0xcbf29ce484222325;

	digest_add(&digest, result->offered);
	digest_add(&digest, result->delivered);
	digest_add(&digest, result->lost_rx);
	digest_add(&digest, result->lost_ring);
	digest_add(&digest, result->reordered);
	digest_add(&digest, result->reordered_output);
	digest_add(&digest, result->identified);
	digest_add(&digest, result->flows);
	digest_add(&digest, result->partials);
	digest_add(&digest, result->span_ns);
	digest_add(&digest, result->dispatch.moves);
	for (uint32_t w = 0; w < result->worker_count; w++) {
		digest_add(&digest, result->worker_pkts[w]);
		digest_add(&digest, result->worker_busy_ns[w]);
	}
	digest_add_histogram(&digest, &result->latency);
	digest_add_histogram(&digest, &result->wait);
	return digest;
}
