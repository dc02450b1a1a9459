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
worker_of(const char *scheduler, uint32_t digest)
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
	lull_dispatch_burst(dispatch, 0, loads, &digest, 1, &worker, NULL);
	free(memory);
	return worker;
}

TEST(digests_find__suits_both_schedulers)
{
	uint32_t digests[200], seen = 0;
	struct lull_prng prng;

	for (uint32_t target = 1; target <= 2; target++) {
		lull_prng_init(&prng, 3, target);
		assert_int_equal(lull_sim_digests_find(&prng, 4, target, digests, 200), 200);
		for (uint32_t i = 0; i < 200; i++) {
			uint16_t worker = worker_of("hrw", digests[i]);

			assert_true(digests[i] <= LULL_DIGEST_MAX && worker < target);
			assert_int_equal(worker_of("crc32", digests[i]), worker);
			seen |= 1u << worker;
		}
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
