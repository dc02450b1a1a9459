/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "flow.h"

static_assert(FLOW_LOOPS_MAX <= LULL_LOOPS_MAX, "telemetry shows every loop");

/*
 * A CPU per thread as long as they last. Else workers share those that no I/O thread has, and the
 * aggregators and the output, which have less to do, those of the I/O threads.
 */
static void
placement_assign(const struct flow_settings *settings, struct lull_placement *placement,
		 const int *cpus, uint32_t cpu_count)
{
	uint32_t io = settings->io, workers = settings->workers, behind;

	for (uint32_t i = 0; i < placement->count; i++) {
		if (cpu_count >= placement->count)
			placement->cpus[i] = cpus[i];
		else if (i < io)
			placement->cpus[i] = cpus[i % cpu_count];
		else if (i < io + workers && cpu_count > io)
			placement->cpus[i] = cpus[io + (i - io) % (cpu_count - io)];
		else if (i < io + workers)
			placement->cpus[i] = cpus[(i - io) % cpu_count];
		else {
			behind = i - io - workers;
			placement->cpus[i] = cpus[behind % LULL_MIN(cpu_count, io)];
		}
	}
}

static void
placement_warn(const struct flow_settings *settings, uint32_t count)
{
	const char *governor = lull_idle_governor_name(lull_resting_governor(&settings->resting));

	if (strcmp(governor, "spin") == 0)
		fprintf(stderr,
			"lull-flow: %u threads share CPUs and governor spin never lets go of one: "
			"each waits for the others; give more --cpus, or --governor ramp\n",
			count);
}

void
flow_place(struct flow_settings *settings, struct lull_placement *placement)
{
	int cpus[LULL_CPU_MAX + 1];
	uint32_t cpu_count = lull_placement_cpus(&settings->cpus, cpus);
	bool shared;

	placement->count = settings->io + settings->workers + settings->aggregators +
			   flow_settings_has_output(settings);
	if (flow_settings_whole(settings))
		placement->count = settings->workers;
	placement_assign(settings, placement, cpus, cpu_count);
	lull_placement_rest(placement);
	shared = cpu_count < placement->count;
	flow_settings_choose_governor(settings, shared);
	if (shared)
		placement_warn(settings, placement->count);
}
