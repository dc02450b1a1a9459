/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run says that resting added is never less than the truth. The truth beside it: the same
 * packets met by a thread that never rests.
 */

#include "case.h"
#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

static double
mean(const struct lull_histogram *histogram)
{
	return histogram->count == 0 ? 0 : (double)histogram->sum / (double)histogram->count;
}

/* Rings per thread, threads: several rings are looked at one after the other. */
static const struct {
	uint32_t queues, threads;
} shapes[] = { { 1, 1 }, { 4, 1 }, { 16, 1 }, { 2, 2 } };

static const enum lull_arrival_kind kinds[] = { LULL_ARRIVAL_CONSTANT, LULL_ARRIVAL_POISSON,
						LULL_ARRIVAL_ONOFF, LULL_ARRIVAL_SELFSIMILAR,
						LULL_ARRIVAL_INCAST };

static struct lull_sim_config
shaped(const char *governor, uint32_t shape, enum lull_arrival_kind kind, double pps)
{
	struct lull_arrival_config arrival = stand_arrival(kind, pps);
	struct lull_sim_config config = stand_config(governor, &arrival);

	config.queue_count = shapes[shape].queues;
	config.thread_count = config.core_count = shapes[shape].threads;
	config.ring_pkts = 16384; /* nothing is lost: the packets are the same */
	config.duration_ns = 4 * MS;
	config.seed = 13;
	return config;
}

TEST(added__is_never_below_the_truth)
{
	static const double rates[] = { 2e4, 1e6, 6e6 };

	for (uint32_t i = 0; i < COUNT(shapes) * COUNT(kinds) * COUNT(rates); i++) {
		uint32_t shape = i % COUNT(shapes);
		enum lull_arrival_kind kind = kinds[i / COUNT(shapes) % COUNT(kinds)];
		double pps = rates[i / COUNT(shapes) / COUNT(kinds)];
		struct lull_sim_config config = shaped("spin", shape, kind, pps);
		struct lull_sim_result spin, rested;

		stand_run(&config, &spin);
		for (uint32_t g = 0; lull_idle_governors[g] != NULL; g++) {
			const char *name = lull_idle_governor_name(lull_idle_governors[g]);
			double truth_ns;

			config = shaped(name, shape, kind, pps);
			stand_run(&config, &rested);
			assert_int_equal(spin.lost + rested.lost, 0);
			truth_ns = mean(&rested.latency) - mean(&spin.latency);
			/* those that are still in the ring at the end are not the same */
			if (mean(&rested.added) < truth_ns * 0.98 - 2)
				fail_msg("%s, %u queues, traffic %d at %g, seed 13: %f ns, the "
					 "truth is %f",
					 name, config.queue_count, (int)kind, pps,
					 mean(&rested.added), truth_ns);
		}
	}
}

/* Who never rests adds nothing but the unlucky part of an empty look. */
TEST(added__of_spin_is_nothing)
{
	for (uint32_t shape = 0; shape < COUNT(shapes); shape++) {
		struct lull_sim_config config = shaped("spin", shape, LULL_ARRIVAL_POISSON, 2e4);
		struct lull_sim_result result;
		uint64_t round_ns = 60 + 40 * (config.queue_count + 1);

		config.duration_ns = 20 * MS;
		stand_run(&config, &result);
		assert_true(result.delivered > 350);
		assert_true(mean(&result.added) <= (double)round_ns / 2);
		assert_true(lull_histogram_quantile(&result.added, 990000) <= 2 * round_ns);
	}
}

/* One ring at a low rate: a rest of 50 us adds 25 in the mean, and 50 at most. */
TEST(added__of_a_fixed_rest)
{
	struct lull_sim_config config = shaped("fixed", 0, LULL_ARRIVAL_POISSON, 2e4);
	struct lull_sim_result result;

	config.machine = stand_machine();
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = 50 * US;
	config.duration_ns = LULL_NS_PER_S;
	stand_run(&config, &result);
	assert_true(mean(&result.added) > 24500 && mean(&result.added) < 25500);
	assert_in_range(result.added.max, 49900, 50500);
}
