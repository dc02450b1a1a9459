/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loops without packets that rest, spin or want a lock, and an ordinary process beside them.
 */
#ifndef CLASS_STAND_H
#define CLASS_STAND_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#include <lull/rest.h>

#include "case.h"

#define PATIENCE_NS (20 * LULL_NS_PER_S)

/* Waits for a condition, not for time. */
#define WAIT(condition)                                                                            \
	do {                                                                                       \
		uint64_t wait_begin_ns = lull_clock_ns();                                          \
		while (!(condition)) {                                                             \
			assert_true(lull_clock_ns() - wait_begin_ns < PATIENCE_NS);                \
			usleep(1000);                                                              \
		}                                                                                  \
	} while (0)

enum mood { RESTING, SPINNING, LOCKING, ENDING };

/* A loop without packets, as a program of the library's users has it. */
struct loop {
	pthread_t thread;
	int cpu; /* -1: any */
	uint64_t latency_ns;
	enum lull_sched_policy policy;
	struct lull_idle *idle;
	struct lull_rest_thread *class;
	int tid;
	enum mood mood;
	uint64_t stopped_ns; /* resting, since then */
	uint64_t iterations;
	pthread_spinlock_t *lock; /* of LOCKING */
};

/* CPU of pinned loops, and all of them. */
extern int test_cpu;
extern cpu_set_t all_cpus;

void pin(int cpu);
/* Start its thread, which enters; end it, and give all back. */
void loop_begin(struct loop *loop);
void loop_end(struct loop *loop);
void loop_set(struct loop *loop, enum mood mood);
/* Does its thread have a real-time class? */
bool loop_inside(const struct loop *loop);
/* May this user have one? */
bool may_have_class(void);

/* An ordinary process that wants test_cpu, as ksoftirqd does when packets come in masses. */
pid_t hog_begin(void);
void hog_end(pid_t hog);
uint64_t hog_cpu_ns(pid_t hog);

#endif
