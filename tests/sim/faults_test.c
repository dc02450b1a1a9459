/* SPDX-License-Identifier: BSD-3-Clause */
/* Stolen time, late wake-ups and bursts at line rate. */

#include "case.h"
#include "base/prng.h"
#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

TEST(stall__takes_its_share_of_the_time)
{
	static const struct {
		uint64_t every_ns, ns;
	} stalls[] = { { MS, 100 * US }, { 200 * US, 300 * US }, { 5 * MS, 20 * US } };

	for (size_t i = 0; i < COUNT(stalls); i++) {
		double share = (double)stalls[i].ns / (double)(stalls[i].ns + stalls[i].every_ns);
		struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, 1e5);
		struct lull_sim_config config = stand_config("spin", &arrival);
		struct lull_sim_result result;

		config.machine = stand_machine();
		config.machine.iteration_ns =
			5000; /* coarse iterations, so that it takes less of mine */
		config.stall_every_ns = stalls[i].every_ns;
		config.stall_ns = stalls[i].ns;
		config.seed = 7;
		config.warmup_ns = 100 * MS;
		config.duration_ns = 10 * LULL_NS_PER_S;
		stand_run(&config, &result);
		stand_about((double)result.stolen_ns / (double)result.time_ns, share, 0.03,
			    "stolen, seed 7");
		assert_in_range(result.cpu_ns + result.stolen_ns, result.time_ns - stalls[i].ns,
				result.time_ns + stalls[i].ns);
		assert_true(result.latency.max >= stalls[i].ns);
	}
}

/* Lengths from a range come evenly from all of it. */
TEST(stall__lengths_are_spread_over_their_range)
{
	uint64_t low_ns = UINT64_MAX, high_ns = 0, sum_ns = 0;
	struct lull_sim_cpu cpu;
	const uint32_t count = 20000;

	lull_sim_cpu_init(&cpu, 10 * MS, 500 * US, 3 * MS, 4);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t ns = cpu.stall_end_ns - cpu.stall_begin_ns;

		low_ns = LULL_MIN(low_ns, ns);
		high_ns = LULL_MAX(high_ns, ns);
		sum_ns += ns;
		lull_sim_cpu_wake(&cpu, cpu.stall_end_ns);
	}
	assert_in_range(low_ns, 500 * US, 502 * US);
	assert_in_range(high_ns, 2998 * US, 3000 * US);
	stand_about((double)sum_ns / count, 1750e3, 0.01, "mean length, seed 4");
}

/* A host that turns bad later on. */
TEST(stall__begins_when_it_is_told_to)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, 1e4);
	struct lull_sim_config config = stand_config("spin", &arrival);
	struct lull_sim_result result;

	config.machine = stand_machine();
	config.machine.iteration_ns = 5000;
	config.stall_every_ns = 10 * MS;
	config.stall_ns = 5 * MS;
	config.stall_from_ns = LULL_NS_PER_S;
	config.seed = 9;
	config.duration_ns = LULL_NS_PER_S;
	stand_run(&config, &result);
	assert_int_equal(result.stolen_ns, 0);
	config.duration_ns = 4 * LULL_NS_PER_S;
	stand_run(&config, &result);
	stand_about((double)result.stolen_ns, 1e9, 0.15, "stolen in 3 s, seed 9");
}

/* Two threads of one core lose the time of that core once. */
TEST(stall__of_a_shared_core_counts_once)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, 1e4);
	struct lull_sim_config config = stand_config("spin", &arrival);
	struct lull_sim_result result;

	config.machine = stand_machine();
	config.machine.iteration_ns = 5000;
	config.thread_count = 2;
	config.stall_every_ns = MS;
	config.stall_ns = MS / 2;
	config.seed = 8;
	config.duration_ns = 6 * LULL_NS_PER_S;
	stand_run(&config, &result);
	stand_about((double)result.stolen_ns, (double)config.duration_ns / 3, 0.03,
		    "stolen, seed 8");
}

/* A wake-up that falls into a stall comes at its end. */
TEST(cpu_wake__waits_for_the_end_of_a_stall)
{
	struct lull_sim_cpu cpu;
	uint64_t begin_ns, end_ns;

	lull_sim_cpu_init(&cpu, MS, 100 * US, 100 * US, 3);
	for (uint32_t i = 0; i < 1000; i++) {
		begin_ns = cpu.stall_begin_ns;
		end_ns = cpu.stall_end_ns;
		assert_int_equal(end_ns - begin_ns, 100 * US);
		assert_int_equal(lull_sim_cpu_wake(&cpu, begin_ns - 1), begin_ns - 1);
		assert_int_equal(lull_sim_cpu_wake(&cpu, begin_ns), end_ns);
		assert_int_equal(lull_sim_cpu_wake(&cpu, end_ns - 1), end_ns);
		assert_int_equal(lull_sim_cpu_work(&cpu, begin_ns - 10, 10), begin_ns);
		if (i % 2 == 0)
			assert_true(lull_sim_cpu_work(&cpu, begin_ns - 10, 11) >= end_ns + 1);
		assert_true(lull_sim_cpu_wake(&cpu, end_ns) >= end_ns);
		assert_true(cpu.stall_begin_ns > end_ns);
	}
}

TEST(late__lengthens_its_share_of_the_rests)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, 1e3);
	struct lull_sim_config config = stand_config("fixed", &arrival);
	struct lull_sim_result result;
	uint64_t late = 0;

	config.machine = stand_machine();
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = 50 * US;
	config.late_ppm = 100000;
	config.late_ns = 300 * US;
	config.seed = 17;
	config.duration_ns = 2 * LULL_NS_PER_S;
	stand_run(&config, &result);
	for (uint32_t i = lull_histogram_bin(350 * US); i < LULL_HISTOGRAM_BINS; i++)
		late += result.rest.bins[i];
	stand_about((double)late / (double)result.rest.count, 0.1, 0.03, "late rests, seed 17");
	assert_int_equal(result.rest.max, 350 * US);
	assert_int_equal(result.counters.overshoot_ns, late * config.late_ns);
}

/* Bursts of 500 every 10 ms beside a trickle: the link sets them apart. */
TEST(line_bursts__come_at_line_rate)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_CONSTANT, 100);
	struct lull_sim_config config = stand_config("spin", &arrival);
	struct lull_sim_result result;

	config.link_bps = 10000000000ULL;
	config.line_every_ns = 10 * MS;
	config.line_pkts = 500;
	config.duration_ns = 205 * MS;
	stand_run(&config, &result);
	assert_in_range(result.offered, 20 * 500 + 20, 21 * 500 + 21);
	assert_int_equal(result.lost, 0);
	/* 67.2 ns apart, and a look at least every 100 + 150 ns: few wait together */
	assert_true(result.latency.max < 2 * US);

	/* a ring that rests through a whole burst loses what does not fit */
	config.policy[LULL_SIM_SIDE_RECEIVE].governor = lull_idle_governor_find("fixed");
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = MS;
	config.ring_pkts = 128;
	stand_run(&config, &result);
	assert_true(result.lost > 15 * (500 - 128) && result.lost <= 21 * (500 - 128));
}

/* A burst is one flow, so one ring of several gets all of it; each ring has its turn. */
TEST(line_bursts__go_to_one_ring_each)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_OFF, 0);
	struct lull_sim_config config = stand_config("fixed", &arrival);
	struct lull_sim_result result;

	config.link_bps = 10000000000ULL;
	config.line_every_ns = 10 * MS;
	config.line_pkts = 500;
	config.duration_ns = 205 * MS;
	config.queue_count = 8;
	config.ring_pkts = 128;
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = MS;
	stand_run(&config, &result);
	assert_true(result.lost > 15 * (500 - 128) && result.lost <= 21 * (500 - 128));
}

/* All of it to the second of three rings: the others' room is no help. */
TEST(weights__share_packets_out)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_CONSTANT, 100000);
	struct lull_sim_config config = stand_config("fixed", &arrival);
	struct lull_sim_result even, uneven;

	config.queue_count = 3;
	config.ring_pkts = 64;
	config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = MS;
	stand_run(&config, &even);
	assert_int_equal(even.lost, 0);
	config.queue_weights[1] = 7;
	stand_run(&config, &uneven);
	assert_true(uneven.lost > uneven.offered / 4);
	assert_in_range(uneven.offered, even.offered - 100, even.offered + 100);
}
