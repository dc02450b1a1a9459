/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "flow.h"

/* CPUs to choose from: those named, or all. */
static uint32_t
seats_cpus(const struct flow_settings *settings, int *cpus)
{
	if (settings->cpus.count == 0)
		return (uint32_t)lull_cpus_allowed(cpus);
	for (uint32_t i = 0; i < settings->cpus.count; i++)
		cpus[i] = settings->cpus.cpus[i];
	return settings->cpus.count;
}

static bool
seats_taken(const struct flow_seats *seats, int cpu)
{
	for (uint32_t i = 0; i < seats->count; i++) {
		if (seats->cpus[i] == cpu)
			return true;
	}
	return false;
}

/* All else wants little, but not from a loop: the first CPU without one. */
static int
seats_rest(const struct flow_seats *seats)
{
	int cpus[LULL_CPU_MAX + 1], count = lull_cpus_allowed(cpus);

	for (int i = 0; i < count; i++) {
		if (!seats_taken(seats, cpus[i]))
			return cpus[i];
	}
	return cpus[0];
}

/*
 * A CPU per thread as long as they last. Else workers share those that no I/O thread has, and the
 * logs and the output, which have less to do, those of the I/O threads.
 */
static void
seats_assign(const struct flow_settings *settings, struct flow_seats *seats, const int *cpus,
	     uint32_t cpu_count)
{
	uint32_t io = settings->io, workers = settings->workers, behind;

	for (uint32_t i = 0; i < seats->count; i++) {
		if (cpu_count >= seats->count)
			seats->cpus[i] = cpus[i];
		else if (i < io)
			seats->cpus[i] = cpus[i % cpu_count];
		else if (i < io + workers && cpu_count > io)
			seats->cpus[i] = cpus[io + (i - io) % (cpu_count - io)];
		else if (i < io + workers)
			seats->cpus[i] = cpus[(i - io) % cpu_count];
		else {
			behind = i - io - workers;
			seats->cpus[i] = cpus[behind % LULL_MIN(cpu_count, io)];
		}
	}
}

static void
seats_warn(const struct flow_settings *settings, const struct flow_seats *seats)
{
	const char *governor = lull_idle_governor_name(lull_resting_governor(&settings->resting));

	if (seats->shared && strcmp(governor, "spin") == 0)
		fprintf(stderr,
			"lull-flow: %u threads share CPUs and governor spin never lets go of one: "
			"each waits for the others; give more --cpus, or --governor ramp\n",
			seats->count);
}

void
flow_seats_choose(struct flow_settings *settings, struct flow_seats *seats)
{
	int cpus[LULL_CPU_MAX + 1];
	uint32_t cpu_count = seats_cpus(settings, cpus);

	memset(seats, 0, sizeof(*seats));
	seats->count = settings->io + settings->workers + settings->logs +
		       flow_settings_has_output(settings);
	seats_assign(settings, seats, cpus, cpu_count);
	seats->shared = cpu_count < seats->count;
	seats->rest = seats_rest(seats);
	flow_settings_choose_governor(settings, seats->shared);
	seats_warn(settings, seats);
}
