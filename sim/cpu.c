/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpu.h"

#include <string.h>

static void
cpu_next_stall(struct lull_sim_cpu *cpu)
{
	double gap_ns;

	if (cpu->stall_every_ns == 0) {
		cpu->stall_begin_ns = UINT64_MAX;
		cpu->stall_end_ns = UINT64_MAX;
		return;
	}
	gap_ns = (double)cpu->stall_every_ns * (double)lull_prng_exponential(&cpu->prng) /
		 (double)(1ULL << LULL_PRNG_UNIT_BITS);
	cpu->stall_begin_ns = cpu->stall_end_ns + (uint64_t)gap_ns + 1;
	cpu->stall_end_ns = cpu->stall_begin_ns + cpu->stall_ns;
	if (cpu->stall_ns_max > cpu->stall_ns)
		cpu->stall_end_ns +=
			lull_prng_below(&cpu->prng, cpu->stall_ns_max - cpu->stall_ns + 1);
}

void
lull_sim_cpu_init(struct lull_sim_cpu *cpu, uint64_t every_ns, uint64_t low_ns, uint64_t high_ns,
		  uint64_t seed)
{
	memset(cpu, 0, sizeof(*cpu));
	cpu->stall_every_ns = LULL_MAX(low_ns, high_ns) > 0 ? every_ns : 0;
	cpu->stall_ns = low_ns;
	cpu->stall_ns_max = high_ns;
	cpu->running = UINT32_MAX;
	lull_prng_init(&cpu->prng, seed, 0x6370);
	cpu_next_stall(cpu);
}

void
lull_sim_cpu_quiet(struct lull_sim_cpu *cpu, uint64_t until_ns)
{
	cpu->stall_end_ns = until_ns;
	cpu_next_stall(cpu);
}

uint64_t
lull_sim_cpu_stalled(struct lull_sim_cpu *cpu, uint64_t begin_ns, uint64_t ns)
{
	uint64_t end_ns = begin_ns + ns, part_ns;

	while (cpu->stall_end_ns <= begin_ns)
		cpu_next_stall(cpu);
	while (end_ns > cpu->stall_begin_ns) {
		part_ns = cpu->stall_end_ns - LULL_MAX(begin_ns, cpu->stall_begin_ns);
		end_ns += part_ns;
		cpu->stolen_ns += part_ns;
		cpu_next_stall(cpu);
	}
	return end_ns;
}

uint64_t
lull_sim_cpu_woken(struct lull_sim_cpu *cpu, uint64_t at_ns)
{
	while (cpu->stall_end_ns <= at_ns)
		cpu_next_stall(cpu);
	return at_ns < cpu->stall_begin_ns ? at_ns : cpu->stall_end_ns;
}

void
lull_sim_cpu_lend(struct lull_sim_cpu *cpu, uint64_t until_ns)
{
	struct lull_sim_competitor *competitor = &cpu->competitor;

	while (competitor->at_ns < until_ns) {
		while (cpu->stall_end_ns <= competitor->at_ns)
			cpu_next_stall(cpu);
		lull_sim_competitor_run(competitor, LULL_MIN(until_ns, cpu->stall_begin_ns));
		if (competitor->at_ns >= cpu->stall_begin_ns)
			lull_sim_competitor_skip(competitor, LULL_MIN(until_ns, cpu->stall_end_ns));
	}
}
