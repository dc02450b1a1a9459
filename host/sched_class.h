/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Class: the threads whose scheduling class is ours to change, and what is done to them.
 *
 * Threads: sched_class_sample() is the watch's, one at a time. The lock around the threads hands
 *          priority on: an ordinary thread that holds it while the watch waits for it runs.
 */
#ifndef LULL_SCHED_CLASS_H
#define LULL_SCHED_CLASS_H

#include <lull/rest.h>

#include "cpu_latency.h"
#include "sched_calls.h"
#include "sched_rule.h"

/* Loops have 1 to 6, so that kernel threads of interrupts (50) are far above; the watch has: */
#define SCHED_WATCH_PRIORITY 10
#define SCHED_LATENCY_NS (200 * LULL_NS_PER_US) /* objective, unless it is told */

struct lull_rest_thread {
	struct lull_rest_thread *next; /* of those that have entered */
	const struct sched_calls *calls;
	const uint64_t *rests[2]; /* counters of rests; NULL: none */
	struct lull_rest_thread_config config;
	int tid; /* 0: has not entered */
	bool entered;
	bool lost;      /* the thread has ended without a word */
	bool touched;   /* its class has been changed */
	bool no_rights; /* refused for want of rights, not for what the class is */
	int refused;    /* errno */
	struct sched_attributes original;
	uint32_t class_policy; /* when it left */
	uint32_t priority;     /* of SCHED_FIFO */
	uint32_t priority_max; /* below the watch */
	uint32_t budget_ppm;   /* of SCHED_DEADLINE, as the kernel has it */
	struct sched_rule rule;
	uint64_t due_ns; /* next sample */
	uint64_t changes, forced;
	uint64_t wait_begin_ns, wait_ns;
	struct cpu_latency *cpu_latency; /* under locks of its own */
};

/* sched_class.c */
/** Look at all threads that are due. Returns after how long to come again, ns. */
uint64_t sched_class_sample(uint64_t now_ns);
/** Other system calls from now on, NULL: the real ones. No thread has entered. For tests. */
void sched_class_use(const struct sched_calls *calls);
/**
 * The thread itself looks where it runs, about every 10 ms: bound to another CPU, it needs that
 * one's C-states limited.
 */
void sched_class_follow(struct lull_rest_thread *thread);
/** What it was told last. */
void sched_class_config(const struct lull_rest_thread *thread,
			struct lull_rest_thread_config *config);
/** A copy for the explanation. */
void sched_class_copy(const struct lull_rest_thread *thread, struct lull_rest_thread *copy,
		      uint32_t *class_policy);
/** Kernel number of a class: "fifo". */
const char *sched_class_name(uint32_t class_policy);

/* sched_thread.c: under the lock of sched_class.c */
/** Is there a class for it to have? */
bool sched_thread_wants(const struct lull_rest_thread *thread);
/** SCHED_FIFO or SCHED_RR. */
bool sched_thread_ranked(const struct sched_attributes *attributes);
/** A policy begins for a thread that has its original class; @p watch_rc: there is no watch. */
void sched_thread_begin(struct lull_rest_thread *thread, int watch_rc);
void sched_thread_sample(struct lull_rest_thread *thread, uint64_t now_ns);
/** Is it still the one that entered? */
bool sched_thread_alive(struct lull_rest_thread *thread);
int sched_thread_put_inside(struct lull_rest_thread *thread);
int sched_thread_put_back(struct lull_rest_thread *thread, struct sched_attributes attributes);
uint64_t sched_thread_wait_ns(const struct lull_rest_thread *thread);
/** The only CPU that a thread may run on; -1: several, or it is gone. Any thread. */
int sched_only_cpu(int tid);
/** Its class now, as the kernel numbers them. */
uint32_t sched_thread_class(const struct lull_rest_thread *thread);

#endif
