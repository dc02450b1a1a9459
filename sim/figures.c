/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from the figures of a run: energy, and how little CPU could have done. */
#include "idle/limits.h"
#include "sim.h"

uint64_t
lull_sim_wakes(const struct lull_sim_result *result)
{
	const uint64_t *rests = result->counters.rests;

	return rests[LULL_IDLE_MONITOR] + rests[LULL_IDLE_SLEEP] + rests[LULL_IDLE_INTERRUPT];
}

double
lull_sim_energy_j(const struct lull_sim_machine *machine, const struct lull_sim_result *result)
{
	double joules = (double)result->active_ns * 1e-9 * machine->watts;

	for (uint32_t i = 0; i < machine->cstate_count; i++)
		joules += (double)result->cstate_ns[i] * 1e-9 * machine->cstates[i].watts;
	return joules;
}

/* Longest real rest by the percentile alone, when packets come independently of each other. */
static double
figures_rest_ns_max(const struct lull_sim_config *config, double idle)
{
	struct lull_idle_limits limits = config->policy[LULL_SIM_SIDE_RECEIVE].limits;
	double e, share;

	lull_limits_default(&limits);
	e = 1 - (double)limits.percentile_ppm / (double)LULL_PPM;
	share = idle > e ? e / idle : 1;
	return share < 1 ? (double)limits.latency_ns / (1 - share) : 1e18;
}

uint32_t
lull_sim_cpu_bound_ppm(const struct lull_sim_config *config, const struct lull_sim_result *result)
{
	const struct lull_sim_machine *machine = &config->machine;
	double each_ns = (double)(machine->iteration_ns +
				  lull_sim_curve_at(&machine->burst, config->burst_pkts)) /
			 config->burst_pkts;
	double work = (double)result->delivered * each_ns / (double)LULL_MAX(result->time_ns, 1);
	double idle = work < 1 ? 1 - work : 0;
	double rest_ns = figures_rest_ns_max(config, idle);
	double iteration_ns =
		(double)(machine->iteration_ns + lull_sim_curve_at(&machine->burst, 0));
	double wakes = (double)machine->rest_ns + iteration_ns;
	double bound = work + idle * (wakes < rest_ns ? wakes / rest_ns : 1);

	return bound < 1 ? (uint32_t)(bound * (double)LULL_PPM) : LULL_PPM;
}
