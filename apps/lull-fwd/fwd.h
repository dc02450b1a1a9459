/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fwd: one run of lull-fwd, from open ports to the result.
 *
 * Functions that take a void pointer get the struct fwd: they are steps of the program.
 * Threads: main thread; settings and those of loops are behind the lock while telemetry runs.
 * Memory:  one struct, too large for a stack.
 */
#ifndef LULL_FWD_H
#define LULL_FWD_H

#include <lull/generator.h>

#include "idle/share.h"
#include "program/live/loops.h"
#include "settings.h"

struct fwd {
	struct lull_run run;
	struct fwd_settings settings;

	struct lull_port ports[FWD_PORTS_MAX];
	uint32_t port_count;
	struct lull_forward_config forward[FWD_THREADS_MAX];
	struct lull_share *share;  /* NULL: each thread has its queues to itself */
	struct lull_loop *traffic; /* NULL: none in this process */
	struct lull_port traffic_port;
	struct lull_traffic_config traffic_config;

	struct lull_live_loops loops; /* forwarding threads, then traffic */
	struct lull_live live;
};

/** What rows cannot say about each other. */
int fwd_check(void *state, struct lull_error *error);
/** Can the threads share so many queues? 0 or -EINVAL. */
int fwd_share_check(const struct fwd_settings *settings, uint32_t queues, struct lull_error *error);
/** Ports, loops, telemetry. */
int fwd_open(void *state, struct lull_error *error);
/** Forward until a signal or the duration is over; loops have stopped afterwards. */
int fwd_run(void *state, struct lull_error *error);
void fwd_close(void *state);
void fwd_result(void *state, json_t *result);
/** What it came to in the end, on stderr. */
void fwd_print(void *state);

/** Start telemetry. */
int fwd_control_start(struct fwd *fwd, struct lull_error *error);
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

#endif
