/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fwd: one run of lull-fwd, from open ports to the result.
 *
 * Threads: main thread; settings and loop settings are behind the lock while
 *          telemetry runs.
 * Memory:  one struct, too large for a stack.
 */
#ifndef LULL_FWD_H
#define LULL_FWD_H

#include <jansson.h>
#include <pthread.h>
#include <signal.h>

#include <lull/engine.h>
#include <lull/generator.h>

#include "settings.h"

/** Why the run ended, for the result. */
enum fwd_end { FWD_END_SIGNAL, FWD_END_DURATION };

/** One forwarding thread. */
struct fwd_thread {
	struct lull_loop *loop;
	struct lull_forward_config forward;
	struct fwd_settings settings; /* may be changed for this thread alone */
	struct lull_ring_facts rings; /* that it polls */
};

/** What a loop had used when it started. */
struct fwd_begin {
	uint64_t now_ns, cpu_ns, steal_ns;
};

struct fwd {
	pthread_mutex_t lock;
	struct fwd_settings settings;
	sigset_t signals; /* that end the run, blocked in every thread */

	bool engine; /* is up */
	struct lull_port ports[FWD_PORTS_MAX];
	uint32_t port_count;
	struct fwd_thread threads[FWD_THREADS_MAX];
	uint32_t thread_count;
	struct lull_loop *traffic; /* NULL: none in this process */
	struct lull_port traffic_port;
	struct lull_traffic_config traffic_config;

	struct lull_loop *loops[FWD_THREADS_MAX + 1]; /* threads, then traffic */
	struct fwd_begin begin[FWD_THREADS_MAX + 1];
	uint32_t loop_count;
	struct lull_telemetry_config telemetry;

	enum fwd_end end;
	uint64_t begin_ns, end_ns;
};

/** Ports, loops, telemetry. 0 or -errno and the sentence; close in any case. */
int fwd_open(struct fwd *fwd, struct lull_error *error);
/** Forward until a signal or the duration is over; loops have stopped afterwards. */
int fwd_run(struct fwd *fwd, struct lull_error *error);
void fwd_close(struct fwd *fwd);

/** CPUs of the threads, of the generator and of the rest of the program. */
struct fwd_seats {
	int threads[FWD_THREADS_MAX];
	int traffic, rest;
};
/** From the settings, or the last, the first and one between; warns when loops share one. */
void fwd_seats_choose(const struct fwd_settings *settings, struct fwd_seats *seats);

/** Limits of a thread as its settings and ports have it; -EINVAL and the sentence. */
int fwd_thread_limits(const struct fwd_thread *thread, struct lull_idle_limits *limits,
		      struct lull_error *error);

/** Fill in fwd->telemetry. */
void fwd_control_init(struct fwd *fwd);
/** Stop the generator from the main thread. */
void fwd_control_traffic_off(struct fwd *fwd);

/** Progress since the last line; all zero at first. */
struct fwd_progress {
	uint64_t now_ns;
	struct {
		uint64_t cpu_ns, pkts, rests;
	} loops[FWD_THREADS_MAX + 1];
};
void fwd_progress_print(const struct fwd *fwd, struct fwd_progress *last);
/** What it came to in the end, on stderr. */
void fwd_summary_print(const struct fwd *fwd);

/** The result as a new object, NULL when there is no memory. */
json_t *fwd_result(struct fwd *fwd);

#endif
