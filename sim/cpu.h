/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * CPU: a core that other programs or the hypervisor take now and then, and
 * that several threads may share.
 *
 * Stolen time comes at random (exponential gaps, lengths fixed or evenly from a
 * range) and stops whoever runs; a thread that should wake during it wakes at
 * its end. Threads share a core as under a fair scheduler: the one that had
 * least runs, for a slice at most; one that wakes takes over when it had much
 * less. One of a real-time class takes over at once and keeps the core until it
 * rests. A competitor (competitor.h) shares a core with one thread only.
 */
#ifndef LULL_SIM_CPU_H
#define LULL_SIM_CPU_H

#include <lull/base.h>

#include "base/prng.h"
#include "competitor.h"

#define LULL_SIM_SLICE_NS (3 * LULL_NS_PER_MS)
#define LULL_SIM_GRANULE_NS LULL_NS_PER_MS /* ahead by so much is "much" */
#define LULL_SIM_CPU_THREADS_MAX 16

struct lull_sim_cpu {
	uint64_t stall_begin_ns, stall_end_ns; /* the next one that matters */
	uint64_t stall_every_ns;               /* 0: none */
	uint64_t stall_ns, stall_ns_max;       /* length, or from it to the longest */
	struct lull_prng prng;
	uint64_t stolen_ns;
	uint32_t thread_count; /* that live here */
	uint32_t running;      /* index of the thread on the core, UINT32_MAX: none */
	uint64_t slice_ns;     /* when its slice ends */
	uint32_t waiting_count;
	uint32_t waiting[LULL_SIM_CPU_THREADS_MAX];
	struct lull_sim_competitor competitor;
};

/** Stolen time about every @p every_ns, from @p low_ns to @p high_ns long; 0: never. */
void lull_sim_cpu_init(struct lull_sim_cpu *cpu, uint64_t every_ns, uint64_t low_ns,
		       uint64_t high_ns, uint64_t seed);
/** No stolen time before @p until_ns; right after the above. */
void lull_sim_cpu_quiet(struct lull_sim_cpu *cpu, uint64_t until_ns);
/** The competitor has the core until @p until_ns, but for what is stolen. */
void lull_sim_cpu_lend(struct lull_sim_cpu *cpu, uint64_t until_ns);
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
