/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the verdict of objective says feasible, it is kept: exact waits, every packet. */

#include "case.h"
#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

#define LINK_BPS 10000000000ULL
#define FRAME_BYTES 508 /* 512 with CRC */

static const double loads[] = { 0.01, 0.1, 0.5, 0.9 };
static const enum lull_arrival_kind kinds[] = { LULL_ARRIVAL_POISSON, LULL_ARRIVAL_ONOFF,
						LULL_ARRIVAL_SELFSIMILAR };
static const uint64_t objectives_ns[] = { 50 * US, 200 * US };
static const char *const machines[] = { "metal", "guest" };
#define CELLS 48

static struct lull_sim_config
cell_config(uint32_t cell)
{
	double line_pps = (double)LINK_BPS / ((FRAME_BYTES + LULL_SIM_WIRE_BYTES) * 8);
	enum lull_arrival_kind kind = kinds[cell % 3];
	/* on/off: half of the time, at a rate the link still takes */
	double load = loads[cell / 12] * (kind == LULL_ARRIVAL_ONOFF ? 1.05 : 1);
	struct lull_arrival_config arrival = stand_arrival(kind, load * line_pps);
	struct lull_sim_config config;
	struct lull_idle_limits *limits;

	arrival.size_bytes[0] = FRAME_BYTES;
	config = stand_config("objective", &arrival);
	limits = &config.policy[LULL_SIM_SIDE_RECEIVE].limits;
	config.machine = *lull_sim_machine_find(machines[cell / 3 % 2]);
	config.link_bps = LINK_BPS;
	config.ring_pkts = 4096;
	config.seed = 1700 + cell;
	config.warmup_ns = 300 * MS;
	config.duration_ns = 300 * MS;
	limits->latency_ns = objectives_ns[cell / 6 % 2];
	limits->percentile_ppm = 990000;
	limits->envelope = LULL_ENVELOPE_STATED;
	limits->pps_max = (uint64_t)line_pps;
	return config;
}

TEST(objective__keeps_what_it_calls_feasible)
{
	uint32_t feasible = 0;

	/* a third of the cells, each load with each traffic, objective and machine in turn */
	for (uint32_t i = 0; i < CELLS; i += 3) {
		uint32_t cell = i + i / 3 % 3;
		struct lull_sim_config config = cell_config(cell);
		uint64_t latency_ns = config.policy[LULL_SIM_SIDE_RECEIVE].limits.latency_ns;
		struct lull_sim_result result;
		uint64_t p99_ns;

		stand_run(&config, &result);
		p99_ns = lull_histogram_quantile(&result.added, 990000);
		print_message("seed %llu: %s, %s, p99 of %llu within %llu ns, lost %llu, CPU "
			      "%.1f %%\n",
			      (unsigned long long)config.seed, config.machine.name,
			      lull_verdict_state_name(result.verdict.state),
			      (unsigned long long)p99_ns, (unsigned long long)latency_ns,
			      (unsigned long long)result.lost,
			      (double)result.cpu_ns * 100 / (double)result.time_ns);
		if (result.verdict.state != LULL_VERDICT_FEASIBLE ||
		    result.samples_feasible < result.samples)
			continue;
		feasible++;
		assert_true(result.delivered > 1000);
		assert_true(p99_ns <= latency_ns);
		assert_int_equal(result.lost, 0);
		assert_true(result.cpu_ns < result.time_ns);
	}
	assert_true(feasible >= 8);
}
