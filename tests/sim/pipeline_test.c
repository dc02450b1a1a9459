/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "lane.h"
#include "sim/pipeline_state.h"

static struct lull_sim_pipeline_result result;

/* ---- by hand ---- */

TEST(run__is_exact_to_the_ns)
{
	struct lull_sim_pipeline_config config = lane_config_plain("hrw", 1);

	/* A packet every 200 ns is seen at once, is sent an iteration later, and served for 100. */
	lane_run(&config, &result);
	assert_int_equal(result.delivered, 1000);
	assert_int_equal(result.latency.max, 110);
	assert_int_equal(result.latency.sum, 110 * 1000);
	assert_int_equal(result.worker_busy_ns[0], 100 * 1000);
	/* first packet seen at 200, last one finished at 200 * 1000 + 110 */
	assert_int_equal(result.span_ns, 200 * 1000 + 110 - 200);
	assert_true(fabs(result.capacity_pps - 1e7) < 1);
	/* A worker that rests begins later; iterations of 30 see a packet up to 20 later. */
	config.wake_ns = 40;
	lane_run(&config, &result);
	assert_int_equal(result.latency.sum, 150 * 1000);
	config.wake_ns = 0;
	config.io_iteration_ns = 100;
	config.io_pkt_ns = 7;
	config.pkts = 1;
	lane_run(&config, &result);
	assert_int_equal(result.latency.max, 207);
}

TEST(run__flushes_by_number_and_by_time)
{
	struct lull_sim_pipeline_config config = lane_config_plain("hrw", 1);

	/* 200 ns apart; the fourth takes the three before it along, 10 after it was seen. */
	config.flush_pkts = 4;
	config.flush_ns = 1000000;
	lane_run(&config, &result);
	/* waits of 600, 400, 200, 0 before, 100 .. 400 of service */
	assert_int_equal(result.latency.sum, 250 * (4 * 10 + 1200 + 1000));
	assert_int_equal(result.latency.max, 710);
	/* The first is sent after 500: with it the third, which came after 400. */
	config.flush_ns = 500;
	lane_run(&config, &result);
	assert_int_equal(result.latency.max, 600);
	assert_int_equal(result.delivered, 1000);
}

TEST(run__loses_what_has_no_room)
{
	struct lull_sim_pipeline_config config = lane_config_plain("hrw", 1);

	/* 50 ns apart, 100 of service: every other one is lost, but for what the ring takes */
	config.load_ppm = 2000000;
	config.ring_pkts = 8;
	config.worker_burst_pkts = 1;
	lane_run(&config, &result);
	assert_int_equal(result.lost_rx, 0);
	assert_int_equal(result.offered, result.delivered + result.lost_ring);
	assert_in_range(result.lost_ring, 490 - 2, 490 + 2);
	assert_int_equal(result.ring_pkts_max[0], 8);
	assert_int_equal(result.dispatch.refused, result.lost_ring);
	/* An I/O core that takes 200 per packet takes one of four and loses the others. */
	config.io_pkt_ns = 190;
	config.rx_ring_pkts = 4;
	lane_run(&config, &result);
	assert_int_equal(result.lost_ring, 0);
	assert_in_range(result.lost_rx, 750 - 6, 750);
}

TEST(run__counts_what_is_late)
{
	struct lull_sim_pipeline_config config = lane_config_plain("rr-packet", 2);

	/* A packet per 100 ns, by turns; nobody overtakes. */
	lane_run(&config, &result);
	assert_int_equal(result.reordered, 0);
	assert_int_equal(result.partials, 2);
	assert_int_equal(result.flows, 1);
	/*
	 * Worker 0 once stands still for 1000: ten of its packets end 100 apart instead of 200,
	 * the first 1000 late. The first nine end when one with a larger number has ended.
	 */
	config.stall_every_ns = 50000;
	config.stall_ns = 1000;
	config.pkts = 800;
	lane_run(&config, &result);
	assert_int_equal(result.reordered, 9);
	assert_int_equal(result.reordered_output, 9);
}

TEST(run__resequences)
{
	struct lull_sim_pipeline_config config = lane_config_plain("rr-packet", 2);

	config.dispatch.order = LULL_ORDER_RESEQUENCE;
	config.stall_every_ns = 50000;
	config.stall_ns = 1000;
	config.pkts = 800;
	lane_run(&config, &result);
	assert_int_equal(result.reordered, 9);
	assert_int_equal(result.reordered_output, 0);
	assert_int_equal(result.wait.count, 800);
	/* the first overtaken ended 1000 late, the first that overtook it 100 after its time */
	assert_int_equal(result.wait.max, 900);
	assert_int_equal(result.resequence.late, 0);
	/* Nobody waits for longer than allowed: then they leave in the wrong order. */
	config.resequence.delay_ns = 1000;
	config.stall_ns = 5000;
	lane_run(&config, &result);
	assert_true(result.reordered_output > 0 && result.wait.max <= 1000);
	assert_int_equal(result.resequence.late, result.reordered_output);
}

/* Pollaczek and Khinchine: packets wait load / (2 * (1 - load)) of a constant service. */
TEST(run__waits_as_theory_has_it)
{
	struct lull_sim_pipeline_config config = lane_config_plain("hrw", 1);
	double wait_ns, want_ns;

	config.gaps = LULL_SIM_GAPS_POISSON;
	config.service_ns = 1000;
	config.io_iteration_ns = 1;
	config.pkts = 400000;
	for (uint32_t load = 3; load <= 7; load += 2) {
		config.load_ppm = load * 100000;
		lane_run(&config, &result);
		assert_int_equal(result.delivered, config.pkts);
		wait_ns = (double)result.latency.sum / (double)config.pkts - 1000 - 1;
		want_ns = 1000.0 * load / 10 / (2 * (1 - load / 10.0));
		print_message("load 0.%u: waits %.1f ns, theory %.1f\n", load, wait_ns, want_ns);
		assert_true(fabs(wait_ns - want_ns) < 0.05 * want_ns);
	}
}

/* ---- identification ---- */

TEST(run__identifies_on_each_worker_unless_told)
{
	struct lull_sim_pipeline_config config = lane_config("hrw");
	uint64_t once, twice;

	config.load_ppm = 300000;
	config.flows.flow_count = 200;
	lane_run(&config, &result);
	once = result.identified;
	assert_int_equal(once, 200 * 8);
	assert_int_equal(result.partials, result.flows);
	config.dispatch.scheduler = lull_scheduler_find("rr-packet");
	lane_run(&config, &result);
	assert_true(result.identified > 3 * once);
	assert_true(result.partials > 3 * result.flows);
	/* By turns all workers come to know a flow together. Moved later it need not be asked. */
	config.dispatch.scheduler = lull_scheduler_find("subflow");
	config.flows.flow_count = 2000;
	config.flows.target_count = 1;
	config.load_ppm = 600000;
	lane_run(&config, &result);
	twice = result.identified;
	config.hand_over = true;
	lane_run(&config, &result);
	print_message("identified %" PRIu64 ", handed over %" PRIu64 "\n", twice,
		      result.identified);
	assert_true(result.identified < twice / 10 * 9);
	assert_true(result.dispatch.notes > 0);
}

TEST(run__begins_warm_after_a_lead)
{
	struct lull_sim_pipeline_config config = lane_config("hrw");
	double cold_pps;

	config.flows.zipf_milli = 0;
	config.flows.flow_count = 1000;
	config.load_ppm = 500000;
	config.pkts = 50000;
	lane_run(&config, &result);
	assert_int_equal(result.identified, 8000);
	cold_pps = result.capacity_pps;
	/* 50000 * 300 + 8000 * 1300 ns of work for four */
	assert_true(fabs(cold_pps - 4 * 50000 / 25.4e-3) < 1);
	config.lead_pkts = 50000;
	lane_run(&config, &result);
	assert_int_equal(result.identified, 0);
	assert_int_equal(result.offered, 50000);
	assert_int_equal(result.latency.count, 50000);
	assert_in_range(result.dispatch.pkts, 50000, 50031);
	assert_true(result.capacity_pps > cold_pps);
}

/* ---- what is watched ---- */

TEST(watch__counts_who_sees_a_loss)
{
	struct lull_sim_pipeline *pipeline = calloc(1, sizeof(*pipeline));
	uint8_t watch[4];

	assert_non_null(pipeline);
	pipeline->config.watch_pkts = 3;
	pipeline->measuring = true;
	pipeline->workers[0].watch = watch;
	for (int i = 0; i < 5; i++)
		lull_sim_pipeline_watch_sent(pipeline, 0, i != 3);
	assert_int_equal(pipeline->result.watched, 4);
	/* of the last three, two were sent to a filled ring */
	lull_sim_pipeline_watch_lost(pipeline, 0);
	assert_int_equal(pipeline->result.watched_lost, 2);
	lull_sim_pipeline_watch_lost(pipeline, 0);
	assert_int_equal(pipeline->result.watched_lost, 2);
	lull_sim_pipeline_watch_sent(pipeline, 0, true);
	lull_sim_pipeline_watch_lost(pipeline, 0);
	assert_int_equal(pipeline->result.watched_lost, 3);
	free(pipeline);
}

TEST(watch__tells_overload_from_none)
{
	struct lull_sim_pipeline_config config = lane_config("hrw");

	config.watch_pkts = 64;
	config.flows.target_count = 1;
	lane_run(&config, &result);
	assert_true(result.watched > 0 && result.watched_lost > result.watched / 2);
	assert_true(result.watched_lost <= result.watched);
	config.load_ppm = 50000;
	lane_run(&config, &result);
	assert_int_equal(result.watched_lost, 0);
}

/* ---- promises ---- */

TEST(seed__gives_the_result_written_down)
{
	static const struct {
		const char *scheduler;
		enum lull_order order;
		uint64_t digest;
	} pinned[] = {
		{ "rr-packet", LULL_ORDER_NONE, 0x2ff1f8682a4582b0 },
		{ "crc32", LULL_ORDER_NONE, 0xee2544111c96605f },
		{ "hrw", LULL_ORDER_NONE, 0xe6bd51dab57ff25c },
	};
	bool differs = false;

	for (size_t i = 0; i < sizeof(pinned) / sizeof(pinned[0]); i++) {
		struct lull_sim_pipeline_config config = lane_config(pinned[i].scheduler);
		uint64_t digest;

		config.flows.elephant_ppm = 100000;
		config.flows.churn_ppm = 5000;
		config.wake_ns = 100;
		config.load_ppm = 800000;
		config.dispatch.order = pinned[i].order;
		lane_run(&config, &result);
		digest = lane_digest(&result);
		differs = differs || digest != pinned[i].digest;
		print_message("{ \"%s\", 0x%016" PRIx64 " },\n", pinned[i].scheduler, digest);
	}
	if (differs)
		fail_msg("the rows above are not those written down");
}

/* Every scheduler under every contract: conserved (the run asserts it), repeatable, in order. */
TEST(run__keeps_what_contracts_promise)
{
	for (uint32_t s = 0; lull_schedulers[s] != NULL; s++)
		for (int order = LULL_ORDER_NONE; order <= LULL_ORDER_RESEQUENCE; order++) {
			struct lull_sim_pipeline_config config =
				lane_config(lull_scheduler_name(lull_schedulers[s]));
			uint64_t digest;

			config.pkts = 20000;
			config.dispatch.order = (enum lull_order)order;
			config.flows.target_count = 2;
			config.flows.churn_ppm = 10000;
			config.stall_every_ns = 1000000;
			config.stall_ns = 300000;
			config.load_ppm = 900000;
			config.seed = s + 1;
			lane_run(&config, &result);
			digest = lane_digest(&result);
			assert_int_equal(result.offered, 20000);
			assert_int_equal(result.dispatch.refused, result.lost_ring);
			if (order == LULL_ORDER_DRAIN || !lull_scheduler_splits(lull_schedulers[s]))
				assert_int_equal(result.reordered, 0);
			if (order == LULL_ORDER_NONE)
				assert_int_equal(result.reordered, result.reordered_output);
			lane_run(&config, &result);
			assert_int_equal(lane_digest(&result), digest);
		}
}

TEST(config_check__names_what_is_wrong)
{
	struct lull_sim_pipeline_config good = lane_config("hrw"), bad = good;
	struct lull_range error;
	struct lull_sim_pipeline *pipeline;

	assert_int_equal(lull_sim_pipeline_config_check(&good, &error), 0);
	bad.burst_pkts = 257;
	assert_int_equal(lull_sim_pipeline_config_check(&bad, &error), -EINVAL);
	assert_string_equal(error.field, "burst_pkts");
	assert_int_equal(error.high, 256);
	bad = good;
	bad.dispatch.worker_count = 0;
	assert_int_equal(lull_sim_pipeline_create(&bad, &pipeline), -EINVAL);
	bad = good;
	bad.flows.flow_count = 0;
	assert_int_equal(lull_sim_pipeline_create(&bad, &pipeline), -EINVAL);
	bad = good;
	bad.resequence.window_pkts = 100000;
	assert_int_equal(lull_sim_pipeline_create(&bad, &pipeline), -EINVAL);
	bad = good;
	bad.load_ppm = 0;
	assert_int_equal(lull_sim_pipeline_create(&bad, &pipeline), -EINVAL);
}

static bool
progress_end(void *arg, uint64_t done_pkts, uint64_t total_pkts)
{
	uint32_t *calls = arg;

	assert_true(done_pkts <= total_pkts);
	return ++*calls < 3;
}

TEST(run__ends_when_told)
{
	struct lull_sim_pipeline_config config = lane_config("hrw");
	struct lull_sim_pipeline *pipeline;
	uint32_t calls = 0;

	assert_int_equal(lull_sim_pipeline_create(&config, &pipeline), 0);
	assert_int_equal(lull_sim_pipeline_run(pipeline, progress_end, &calls), -EINTR);
	assert_int_equal(calls, 3);
	lull_sim_pipeline_free(pipeline);
}
