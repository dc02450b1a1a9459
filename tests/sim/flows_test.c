/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <lull/dispatch.h>

#include "case.h"
#include "sim/flows.h"

static struct lull_sim_flows_config
config_of(uint32_t flow_count, uint32_t zipf_milli)
{
	return (struct lull_sim_flows_config){
		.flow_count = flow_count,
		.zipf_milli = zipf_milli,
		.worker_count = 4,
		.inside_pkts = 10,
		.seed = 7,
	};
}

/* Probability of a rank, as the table of aliases has it. */
static double
share_of(const struct lull_sim_flows *flows, uint32_t rank)
{
	uint32_t count = flows->config.flow_count;
	double share = 0;

	for (uint32_t i = 0; i < count; i++) {
		double keep = flows->aliases[i].keep / 4294967296.0;

		if (i == rank)
			share += keep;
		if (flows->aliases[i].other == rank)
			share += 1 - keep;
	}
	return share / count;
}

TEST(init__shares_as_zipf_says)
{
	static const uint32_t exponents[] = { 0, 1, 800, 1100, 4000 };
	struct lull_sim_flows flows;

	for (size_t e = 0; e < sizeof(exponents) / sizeof(exponents[0]); e++) {
		struct lull_sim_flows_config config = config_of(1000, exponents[e]);
		double whole = 0;

		for (uint32_t i = 1; i <= 1000; i++)
			whole += pow(i, -(double)exponents[e] / 1000);
		assert_int_equal(lull_sim_flows_init(&flows, &config), 0);
		for (uint32_t i = 0; i < 1000; i++) {
			double want = pow(i + 1, -(double)exponents[e] / 1000) / whole;

			assert_true(fabs(share_of(&flows, i) - want) < 1e-8);
		}
		lull_sim_flows_done(&flows);
	}
}

TEST(next__gives_the_elephant_its_share)
{
	struct lull_sim_flows_config config = config_of(100, 1000);
	uint32_t counts[100] = { 0 };
	struct lull_sim_flows flows;

	config.elephant_ppm = 500000;
	assert_int_equal(lull_sim_flows_init(&flows, &config), 0);
	assert_true(share_of(&flows, 0) < 1e-8);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t slot = lull_sim_flows_next(&flows);

		counts[slot]++;
		lull_sim_flows_left(&flows, slot);
	}
	/* five standard deviations */
	assert_in_range(counts[0], 50000 - 800, 50000 + 800);
	/* the second has the Zipf share of the first of the others, 1 / H(99) of a half */
	assert_in_range(counts[1], 9660 - 480, 9660 + 480);
	lull_sim_flows_done(&flows);
}

static uint16_t
worker_of(const char *scheduler, const struct lull_sim_flow *flow)
{
	struct lull_dispatch_config config = { .scheduler = lull_scheduler_find(scheduler),
					       .worker_count = 4,
					       .bucket_bits = 8 };
	struct lull_dispatch_load loads[4] = {
		{ 0, 64, 0, 0 }, { 0, 64, 0, 0 }, { 0, 64, 0, 0 }, { 0, 64, 0, 0 }
	};
	size_t size = (lull_dispatch_size(&config) + 63) / 64 * 64;
	void *memory = aligned_alloc(64, size);
	struct lull_dispatch *dispatch;
	uint16_t worker;

	assert_non_null(memory);
	assert_int_equal(lull_dispatch_init(memory, &config, &dispatch), 0);
	lull_dispatch_burst(dispatch, 0, loads, &flow->digest, &flow->crc, 1, &worker, NULL);
	free(memory);
	return worker;
}

/* What the parser reads in the frame is what the schedulers get. */
TEST(init__reads_the_headers_of_each_flow)
{
	struct lull_sim_flows_config config = config_of(500, 1100);
	struct lull_flow_parser *parser = lull_sim_parser_create(config.seed);
	uint32_t protos[256] = { 0 }, versions[16] = { 0 };
	struct lull_sim_flows flows;

	assert_non_null(parser);
	assert_int_equal(lull_sim_flows_init(&flows, &config), 0);
	for (uint32_t i = 0; i < 500; i++) {
		const struct lull_sim_flow *flow = &flows.flows[i];
		uint32_t bytes = LULL_SIM_HEADER_BYTES_MAX;
		struct lull_flow_packet packet;

		assert_int_equal(lull_flow_parse(parser, 1, flow->frame, bytes, bytes, 0, &packet),
				 LULL_FLOW_OK);
		assert_int_equal(flow->digest,
				 lull_flow_digest((uint32_t)config.seed, &packet.key));
		assert_int_equal(flow->crc, lull_flow_key_crc32(&packet.key));
		protos[packet.key.proto]++;
		versions[packet.key.version]++;
	}
	assert_int_equal(protos[LULL_FLOW_PROTO_TCP] + protos[LULL_FLOW_PROTO_UDP], 500);
	assert_in_range(protos[LULL_FLOW_PROTO_TCP], 200, 300);
	assert_in_range(versions[6], 40, 90);
	assert_int_equal(versions[4] + versions[6], 500);
	lull_sim_flows_done(&flows);
	lull_sim_parser_free(parser);
}

TEST(init__targets_suit_both_schedulers)
{
	uint32_t seen = 0;

	for (uint32_t target = 1; target <= 2; target++) {
		struct lull_sim_flows_config config = config_of(200, 1100);
		struct lull_sim_flows flows;

		config.target_count = target;
		assert_int_equal(lull_sim_flows_init(&flows, &config), 0);
		for (uint32_t i = 0; i < 200; i++) {
			uint16_t worker = worker_of("hrw", &flows.flows[i]);

			assert_true(worker < target);
			assert_int_equal(worker_of("crc32", &flows.flows[i]), worker);
			seen |= 1u << worker;
		}
		lull_sim_flows_done(&flows);
	}
	assert_int_equal(seen, 3);
}

TEST(next__replaces_flows_but_no_slot_in_use)
{
	enum { INSIDE = 10, COUNT = 20000 };
	struct lull_sim_flows_config config = config_of(50, 1100);
	uint32_t slots[INSIDE], digests[INSIDE];
	struct lull_sim_flows flows;

	config.churn_ppm = 200000;
	config.target_count = 1;
	assert_int_equal(lull_sim_flows_init(&flows, &config), 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t at = i % INSIDE;

		if (i >= INSIDE) {
			assert_int_equal(flows.flows[slots[at]].digest, digests[at]);
			lull_sim_flows_left(&flows, slots[at]);
		}
		slots[at] = lull_sim_flows_next(&flows);
		digests[at] = flows.flows[slots[at]].digest;
		assert_true(flows.flows[slots[at]].inside >= 1);
	}
	assert_int_equal(flows.born, 50 + COUNT / 5);
	lull_sim_flows_done(&flows);
}

TEST(config_check__names_what_is_wrong)
{
	struct lull_sim_flows_config good = config_of(10, 1100), bad = good;
	struct lull_range error;

	assert_int_equal(lull_sim_flows_config_check(&good, &error), 0);
	bad.flow_count = 0;
	assert_int_equal(lull_sim_flows_config_check(&bad, &error), -EINVAL);
	assert_string_equal(error.field, "flow_count");
	bad = good;
	bad.zipf_milli = 4001;
	assert_int_equal(lull_sim_flows_config_check(&bad, &error), -EINVAL);
	assert_string_equal(error.field, "zipf_milli");
	bad = good;
	bad.target_count = 5;
	assert_int_equal(lull_sim_flows_config_check(&bad, NULL), -EINVAL);
	bad = good;
	bad.elephant_ppm = 1000001;
	assert_int_equal(lull_sim_flows_config_check(&bad, NULL), -EINVAL);
}
