/* SPDX-License-Identifier: BSD-3-Clause */
#include "placement.h"

uint32_t
lull_placement_cpus(const struct lull_cpu_list *wanted, int *cpus)
{
	if (wanted->count == 0)
		return (uint32_t)lull_cpus_allowed(cpus);
	for (uint32_t i = 0; i < wanted->count; i++)
		cpus[i] = wanted->cpus[i];
	return wanted->count;
}

static bool
placement_taken(const struct lull_placement *placement, uint32_t count, int cpu)
{
	for (uint32_t i = 0; i < count; i++)
		if (placement->cpus[i] == cpu)
			return true;
	return false;
}

void
lull_placement_rest(struct lull_placement *placement)
{
	int cpus[LULL_CPU_MAX + 1], count = lull_cpus_allowed(cpus), i = 0;

	while (i < count && placement_taken(placement, placement->count, cpus[i]))
		i++;
	placement->rest = cpus[i < count ? i : 0];
}

int
lull_placement_shared(const struct lull_placement *placement)
{
	for (uint32_t i = 0; i < placement->count; i++)
		if (placement_taken(placement, i, placement->cpus[i]))
			return placement->cpus[i];
	return -1;
}
