/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Calls: the system calls behind scheduling classes, as a table, so that tests can stand in for a
 * kernel that refuses.
 *
 * Threads: any. Memory: none.
 */
#ifndef LULL_SCHED_CALLS_H
#define LULL_SCHED_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* What sched_setattr(2) takes; the C library has no name for it. */
struct sched_attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

struct sched_calls {
	/** 0 or -errno, both. */
	int (*get)(int tid, struct sched_attributes *attributes);
	int (*set)(int tid, const struct sched_attributes *attributes);
	/** CPU time of a thread of this process; 0: it is gone. */
	uint64_t (*cpu_ns)(int tid);
	/** Time it was ready to run while another thread ran; 0: the kernel does not tell. */
	uint64_t (*wait_ns)(int tid);
	/** Does it sleep right now? */
	bool (*asleep)(int tid);
	/** Highest real-time priority that RLIMIT_RTPRIO grants. */
	int (*priority_limit)(void);
	/** Have a thread call sched_class_sample() again and again. 0 or -errno. */
	int (*watch_start)(int priority);
	/** End it, and wait until it has ended. */
	void (*watch_stop)(void);
	/** It shall look now: something has changed. */
	void (*watch_kick)(void);
};

/** Those of this machine. */
extern const struct sched_calls sched_calls_real;

#endif
