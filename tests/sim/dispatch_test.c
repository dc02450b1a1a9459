/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What dispatch promises, in short: bench/flow shows the whole with more packets and seeds. Ratios
 * leave room for that. With LULL_LONG set, searches are done with more than one seed.
 */
#include <stdlib.h>

#include <inttypes.h>

#include "case.h"
#include "lane.h"

static struct lull_sim_pipeline_result result;

static uint64_t
last_seed(uint64_t all)
{
	return getenv("LULL_LONG") != NULL ? all : 1;
}

static uint32_t
load_of(const struct lull_sim_pipeline_config *config, const char *scheduler)
{
	struct lull_sim_pipeline_config tried = *config;

	tried.dispatch.scheduler = lull_scheduler_find(scheduler);
	return lane_bisect(&tried, 1);
}

/*
 * What no dispatcher can pass: all workers take from one queue with the room of all their rings, no
 * packet waits while one of them rests, no flow is identified twice.
 */
static uint32_t
load_of_one_queue(const struct lull_sim_pipeline_config *config)
{
	struct lull_sim_pipeline_config one = *config;
	uint32_t worker_count = config->dispatch.worker_count;

	one.dispatch.worker_count = 1;
	one.flows.target_count = 0;
	one.ring_pkts *= worker_count;
	one.service_ns /= worker_count;
	one.identify_ns /= worker_count;
	return load_of(&one, "crc32");
}

/* A cold start: all that differs is what is identified first, and where. */
TEST(sticky__is_close_to_one_queue)
{
	struct lull_sim_pipeline_config config = lane_config("sticky");

	config.pkts = 500000;
	for (config.seed = 1; config.seed <= last_seed(2); config.seed++) {
		config.flows.target_count = 1;
		assert_true(100 * load_of(&config, "sticky") >= 96 * load_of_one_queue(&config));
		config.flows.target_count = 0;
		config.flows.elephant_ppm = 500000;
		assert_true(100 * load_of(&config, "sticky") >= 95 * load_of_one_queue(&config));
		config.flows.elephant_ppm = 0;
	}
}

/* Every flow is at home at worker 0. */
TEST(sticky__carries_what_hashes_to_one_worker)
{
	struct lull_sim_pipeline_config config = lane_config("sticky");
	uint32_t sticky_ppm;

	config.flows.target_count = 1;
	config.pkts = 200000;
	sticky_ppm = load_of(&config, "sticky");
	assert_true(2 * sticky_ppm >= 9 * load_of(&config, "hrw"));
	assert_true(2 * sticky_ppm >= 9 * load_of(&config, "crc32"));
	/* known flows: four workers are at most four times one */
	config.lead_pkts = 200000;
	sticky_ppm = load_of(&config, "sticky");
	assert_true(2 * sticky_ppm >= 7 * load_of(&config, "hrw"));
}

TEST(sticky__carries_an_elephant)
{
	struct lull_sim_pipeline_config config = lane_config("sticky");

	config.flows.elephant_ppm = 500000;
	config.pkts = 200000;
	assert_true(10 * load_of(&config, "sticky") >= 17 * load_of(&config, "hrw"));
}

TEST(sticky__is_not_below_hrw_on_zipf)
{
	struct lull_sim_pipeline_config config = lane_config("sticky");

	config.pkts = 200000;
	for (config.seed = 1; config.seed <= last_seed(3); config.seed++)
		assert_true(load_of(&config, "sticky") >= load_of(&config, "hrw"));
}

TEST(sticky__moves_few)
{
	static const struct {
		uint32_t zipf_milli, elephant_ppm, target_count;
	} traffics[] = { { 1100, 0, 0 }, { 1100, 500000, 0 }, { 1100, 0, 1 }, { 1100, 0, 2 } };

	for (size_t i = 0; i < sizeof(traffics) / sizeof(traffics[0]); i++) {
		struct lull_sim_pipeline_config config = lane_config("sticky");

		config.flows.zipf_milli = traffics[i].zipf_milli;
		config.flows.elephant_ppm = traffics[i].elephant_ppm;
		config.flows.target_count = traffics[i].target_count;
		/* cold, with more to identify than there is time for: moves cost most */
		config.pkts = 500000;
		lane_run(&config, &result);
		print_message("traffic %zu: %" PRIu64 " moves of %" PRIu64 " packets, seed %" PRIu64
			      "\n",
			      i, result.dispatch.moves, result.dispatch.pkts, config.seed);
		assert_true(result.dispatch.moves * 1000 <= 5 * result.dispatch.pkts);
	}
}

TEST(drain__never_reorders)
{
	static const char *const schedulers[] = { "rr-packet", "jsq", "subflow", "sticky" };

	for (size_t i = 0; i < sizeof(schedulers) / sizeof(schedulers[0]); i++) {
		struct lull_sim_pipeline_config config = lane_config(schedulers[i]);

		config.dispatch.order = LULL_ORDER_DRAIN;
		config.flows.elephant_ppm = 200000;
		config.stall_every_ns = 3000000;
		config.stall_ns = 500000;
		config.pkts = 300000;
		config.seed = i + 1;
		lane_run(&config, &result);
		print_message("%s: %" PRIu64 " moves, %" PRIu64 " reordered, seed %" PRIu64 "\n",
			      schedulers[i], result.dispatch.moves, result.reordered, config.seed);
		assert_true(result.dispatch.moves > 0);
		assert_int_equal(result.dispatch.moves_inflight, 0);
		assert_int_equal(result.reordered, 0);
	}
}

TEST(resequence__restores_order_within_the_delay)
{
	struct lull_sim_pipeline_config config = lane_config("sticky");

	config.dispatch.order = LULL_ORDER_RESEQUENCE;
	config.flows.elephant_ppm = 500000;
	config.lead_pkts = 100000;
	config.pkts = 300000;
	config.load_ppm = 750000;
	lane_run(&config, &result);
	print_message("%" PRIu64 " reordered at workers, %" PRIu64
		      " at the output, waits p99 %" PRIu64 " ns, seed %" PRIu64 "\n",
		      result.reordered, result.reordered_output,
		      lull_histogram_quantile(&result.wait, 990000), config.seed);
	assert_true(result.reordered > 0);
	assert_int_equal(result.reordered_output, 0);
	assert_int_equal(result.wait.count, config.pkts);
	assert_true(lull_histogram_quantile(&result.wait, 990000) <= 200000);
}
