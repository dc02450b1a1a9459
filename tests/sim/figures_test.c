/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "case.h"
#include "base/prng.h"
#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

TEST(energy__is_time_by_watts)
{
	struct lull_sim_machine machine = stand_machine();
	struct lull_sim_result result;

	memset(&result, 0, sizeof(result));
	assert_true(fabs(lull_sim_energy_j(&machine, &result)) < 1e-12);
	result.active_ns = LULL_NS_PER_S;
	result.cstate_ns[0] = 2 * LULL_NS_PER_S;
	result.cstate_ns[1] = 3 * LULL_NS_PER_S;
	assert_true(fabs(lull_sim_energy_j(&machine, &result) - (8 + 2 * 4 + 3 * 1)) < 1e-9);
	machine.cstate_count = 0;
	assert_true(fabs(lull_sim_energy_j(&machine, &result) - 8) < 1e-9);
}

/*
 * No traffic: 200 ns of iteration and 2000 ns of rest awake, what is left of the rest in a state.
 */
TEST(energy__of_rests_by_hand)
{
	static const struct {
		uint64_t rest_ns;
		double watts;
	} rests[] = { { 30 * US, 4 }, { 51999, 4 }, { 52000, 1 }, { 500 * US, 1 } };
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_OFF, 0);

	for (size_t i = 0; i < COUNT(rests); i++) {
		struct lull_sim_config config = stand_config("fixed", &arrival);
		double cycle_ns = (double)rests[i].rest_ns + 200, watts;
		struct lull_sim_result result;

		config.machine = stand_machine();
		config.policy[LULL_SIM_SIDE_RECEIVE].limits.rest_ns = rests[i].rest_ns;
		stand_run(&config, &result);
		watts = (2200 * 8 + (cycle_ns - 2200) * rests[i].watts) / cycle_ns;
		watts -= lull_sim_energy_j(&config.machine, &result) * 1e9 / (double)result.time_ns;
		if (fabs(watts) > 0.001)
			fail_msg("rests of %llu ns: %f W away",
				 (unsigned long long)rests[i].rest_ns, watts);
		assert_in_range((double)result.cpu_ns / (double)result.time_ns * 1e6,
				2200 / cycle_ns * 1e6 - 100, 2200 / cycle_ns * 1e6 + 100);
	}
}

static bool
keeps_objective(const struct lull_sim_config *config, const struct lull_sim_result *result)
{
	return result->lost == 0 && lull_histogram_quantile(&result->added, 990000) <=
					    config->policy[LULL_SIM_SIDE_RECEIVE].limits.latency_ns;
}

/* Of the governors that keep the objective none is below the bound, the best fixed rest neither. */
TEST(cpu_bound__is_below_all_that_keep_the_objective)
{
	static const char *const machines[] = { "guest", "metal" };
	static const enum lull_arrival_kind kinds[] = { LULL_ARRIVAL_CONSTANT,
							LULL_ARRIVAL_POISSON };
	static const double rates[] = { 2e4, 2e5, 2e6 };
	static const uint64_t objectives_ns[] = { 50 * US, 200 * US };
	uint32_t kept = 0;

	for (uint32_t cell = 0; cell < 24; cell++)
		for (uint32_t g = 0; lull_idle_governors[g] != NULL; g++) {
			const char *name = lull_idle_governor_name(lull_idle_governors[g]);
			struct lull_arrival_config arrival =
				stand_arrival(kinds[cell / 2 % 2], rates[cell / 8]);
			struct lull_sim_config config = stand_config(name, &arrival);
			struct lull_sim_policy *policy = &config.policy[LULL_SIM_SIDE_RECEIVE];
			struct lull_sim_result result;

			config.machine = *lull_sim_machine_find(machines[cell % 2]);
			config.link_bps = 10000000000ULL;
			config.seed = cell + 1;
			config.warmup_ns = 8 * MS;
			config.duration_ns = 8 * MS;
			policy->limits.latency_ns = objectives_ns[cell / 4 % 2];
			policy->limits.rest_ns = objectives_ns[cell / 4 % 2] / 2;
			stand_run(&config, &result);
			if (!keeps_objective(&config, &result))
				continue;
			kept++;
			if (result.cpu_ns * LULL_PPM <
			    result.time_ns * lull_sim_cpu_bound_ppm(&config, &result))
				fail_msg("%s, cell %u: CPU %llu of %llu ns, bound %u ppm", name,
					 cell, (unsigned long long)result.cpu_ns,
					 (unsigned long long)result.time_ns,
					 lull_sim_cpu_bound_ppm(&config, &result));
		}
	assert_true(kept > 48);
}

TEST(cpu_bound__by_hand)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, 1e6);
	struct lull_sim_config config = stand_config("spin", &arrival);
	struct lull_idle_limits *limits = &config.policy[LULL_SIM_SIDE_RECEIVE].limits;
	struct lull_sim_result result;
	double work, idle, rest_ns, bound;

	memset(&result, 0, sizeof(result));
	config.machine = stand_machine();
	limits->percentile_ppm = 990000;
	limits->latency_ns = 100 * US;
	result.time_ns = LULL_NS_PER_S;
	result.delivered = 1000000;
	/* 32 packets take 100 + 100 + 1600 ns: 56.25 each; a wake-up takes 2000 + 200 */
	work = 0.05625;
	idle = 1 - work;
	rest_ns = 100000 / (1 - 0.01 / idle);
	bound = work + idle * 2200 / rest_ns;
	assert_in_range(lull_sim_cpu_bound_ppm(&config, &result), bound * 1e6 - 2, bound * 1e6 + 2);
	/* more than there is */
	result.delivered = 100000000;
	assert_int_equal(lull_sim_cpu_bound_ppm(&config, &result), LULL_PPM);
}
