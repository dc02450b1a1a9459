/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * System calls for host/sched_class.c that refuse what a test wants refused.
 */
#ifndef SCHED_KERNEL_H
#define SCHED_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "sched_calls.h"

#define TID 4711
#define THREADS 3

/* A kernel with a few threads, numbered from TID on. */
struct sched_kernel {
	struct {
		struct sched_attributes attributes;
		uint64_t rests, cpu_ns;
	} threads[THREADS];
	int set_rc[8]; /* by class */
	int priority_max;
	int limit;
	int watch_priority;
	uint32_t sets, starts, stops, looks;
	bool sticky; /* nobody may stop resetting on fork */
};
extern struct sched_kernel kernel;

/* All of them ordinary, at nice 5; nothing is refused. */
void sched_kernel_init(void);
extern const struct sched_calls sched_kernel_calls;

#endif
