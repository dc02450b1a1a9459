/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * CPU: a core that other programs or the hypervisor take now and then, and
 * that several threads may share.
 *
 * Stolen time comes at random (exponential gaps, fixed length) and stops
 * whoever runs; a thread that should wake during it wakes at its end. Threads
 * share a core as under a fair scheduler: the one that had least runs, for a
 * slice at most; one that wakes takes over when it had much less.
 */
#ifndef LULL_SIM_CPU_H
#define LULL_SIM_CPU_H

#include <lull/base.h>

#include "base/prng.h"

#define LULL_SIM_SLICE_NS (3 * LULL_NS_PER_MS)
#define LULL_SIM_GRANULE_NS LULL_NS_PER_MS /* ahead by so much is "much" */
#define LULL_SIM_CPU_THREADS_MAX 16

struct lull_sim_cpu {
	uint64_t stall_begin_ns, stall_end_ns; /* the next one that matters */
	uint64_t stall_every_ns, stall_ns;     /* 0: none */
	struct lull_prng prng;
	uint64_t stolen_ns;
	uint32_t thread_count; /* that live here */
	uint32_t running;      /* index of the thread on the core, UINT32_MAX: none */
	uint64_t slice_ns;     /* when its slice ends */
	uint32_t waiting_count;
	uint32_t waiting[LULL_SIM_CPU_THREADS_MAX];
};

void lull_sim_cpu_init(struct lull_sim_cpu *cpu, uint64_t stall_every_ns, uint64_t stall_ns,
		       uint64_t seed);
/** Slow paths of the two below. */
uint64_t lull_sim_cpu_stalled(struct lull_sim_cpu *cpu, uint64_t begin_ns, uint64_t ns);
uint64_t lull_sim_cpu_woken(struct lull_sim_cpu *cpu, uint64_t at_ns);

/** When work of @p ns begun at @p begin_ns is done. */
static inline uint64_t
lull_sim_cpu_work(struct lull_sim_cpu *cpu, uint64_t begin_ns, uint64_t ns)
{
	if (begin_ns + ns <= cpu->stall_begin_ns)
		return begin_ns + ns;
	return lull_sim_cpu_stalled(cpu, begin_ns, ns);
}

/** When a thread really wakes that should at @p at_ns. */
static inline uint64_t
lull_sim_cpu_wake(struct lull_sim_cpu *cpu, uint64_t at_ns)
{
	return at_ns < cpu->stall_begin_ns ? at_ns : lull_sim_cpu_woken(cpu, at_ns);
}

#endif
