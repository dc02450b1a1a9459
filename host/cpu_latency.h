/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * CPU latency: how long the CPU of a resting thread may take to leave its C-state.
 *
 * The kernel picks a C-state by how long it expects the CPU to rest, and knows no objective. Its
 * file power/pm_qos_resume_latency_us of each CPU limits the exit latency of those it may pick.
 * While a thread rests there for an objective this module holds the limit that the objective
 * leaves: a C-state fits if the shortest rest that pays for it (its target residency) and the way
 * out of it are over within max-latency, less an eleventh, and before the ring has filled. The
 * limit is the longest exit latency of those that fit, never below that of the lightest: a CPU that
 * may not idle at all saves nothing. Where all fit there is no limit.
 *
 * A stricter limit of somebody else stays. Of several threads on one CPU the strictest counts. The
 * value that was found comes back when the last has left, and at exit; one that somebody else has
 * written meanwhile is theirs and stays. A process that is killed leaves its value behind.
 *
 * Threads: any; it reads and writes files under a lock.
 * Memory:  the caller's struct, which stays where it is while it holds.
 */
#ifndef LULL_CPU_LATENCY_H
#define LULL_CPU_LATENCY_H

#include <lull/rest.h>

#define CPU_STATES_MAX 16

/** A C-state, as cpuidle lists it. */
struct cpu_state {
	char name[16];
	uint64_t exit_us, residency_us;
	bool disabled;
};

enum cpu_latency_status {
	CPU_LATENCY_OFF,      /**< not asked for, or the thread has left */
	CPU_LATENCY_HELD,     /**< by this process */
	CPU_LATENCY_UNNEEDED, /**< each C-state fits */
	CPU_LATENCY_STRICTER, /**< what was found there is */
	CPU_LATENCY_TAKEN,    /**< somebody else has changed it meanwhile */
	CPU_LATENCY_UNBOUND,  /**< the thread may run on several CPUs */
	CPU_LATENCY_REFUSED,  /**< by the kernel, see errno */
	CPU_LATENCY_NO_STATES /**< the kernel tells of none */
};

/** What a thread wants, and what came of it. */
struct cpu_latency {
	struct cpu_latency *next;
	int cpu;           /**< -1: none */
	uint64_t limit_us; /**< wanted; 0: none */
	uint64_t found_us; /**< that stands there instead */
	enum cpu_latency_status status;
	int refused;  /**< errno */
	bool wants;   /**< any limit; atomic */
	int cpu_seen; /**< the thread's own: where it ran at its last look */
};

/** What an objective leaves. */
struct cpu_latency_wish {
	uint64_t limit_ns;   /**< 0: off, LULL_CPU_LATENCY_AUTO, or the limit itself */
	uint64_t latency_ns; /**< max-latency */
	uint64_t ring_ns;    /**< the ring fills in; 0: nothing depends on it */
};

/**
 * The longest exit latency to allow, us; 0: no limit is needed.
 *
 * @param room_ns  see above
 */
uint64_t cpu_latency_choose(const struct cpu_state *states, uint32_t count, uint64_t room_ns);

/**
 * Hold for a thread that rests on @p cpu, or hold something else than before; -1: it may run on
 * several.
 */
void cpu_latency_hold(struct cpu_latency *holder, int cpu, const struct cpu_latency_wish *wish);
void cpu_latency_release(struct cpu_latency *holder);
/** Copy what came of it. */
void cpu_latency_read(const struct cpu_latency *holder, struct cpu_latency *copy);
/** One sentence, or "". Returns @p text. */
char *cpu_latency_explain(const struct cpu_latency *holder, char *text, size_t size);

/** Another folder than the kernel's, NULL: that. Nobody holds. For tests. */
void cpu_latency_use(const char *folder);
/** As at exit. For tests. */
void cpu_latency_give_back(void);

#endif
