/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loops: those of a program with what it keeps beside each: settings of its own, the rings it
 * rests for, what it had used when it started.
 *
 * Threads: main thread; changes under the lock of the run.
 * Memory:  the caller's struct.
 */
#ifndef LULL_LIVE_LOOPS_H
#define LULL_LIVE_LOOPS_H

#include <jansson.h>

#include <lull/engine.h>
#include <lull/generator.h>

#include "idle/share.h"

#include "live.h"
#include "program/resting.h"

struct lull_live_loop {
	struct lull_loop *loop;
	struct lull_resting resting;     /**< may be changed for this loop alone */
	struct lull_share_member *share; /**< NULL: it has its queues to itself */
	bool rests;                      /**< by those settings */
	bool inner;                      /**< on rings in this process, which have no link */
	struct lull_ring_facts rings;    /**< that it polls */
	uint64_t begin_ns, begin_cpu_ns, begin_steal_ns;
};

struct lull_live_loops {
	struct lull_live_loop items[LULL_LOOPS_MAX];
	struct lull_loop *loops[LULL_LOOPS_MAX]; /**< the same, for telemetry */
	uint32_t count;
};

/** Limits as its settings and ports have them; -EINVAL and the sentence. */
int lull_live_loop_limits(const struct lull_live_loop *item, struct lull_idle_limits *limits,
			  struct lull_error *error);
/** Can threads with these settings share queues? -EINVAL and the sentence. */
int lull_live_share_check(const struct lull_resting *resting, struct lull_error *error);
/** Create the loop of the next item; governor, limits and class come from its settings. */
int lull_live_loops_create(struct lull_live_loops *loops, struct lull_loop_config *config,
			   struct lull_error *error);
/** The same with governor, limits and class as they are in @p config. */
int lull_live_loops_add(struct lull_live_loops *loops, const struct lull_loop_config *config,
			struct lull_error *error);
/** Start one; its thread runs afterwards. */
int lull_live_loop_start(struct lull_live_loop *item, struct lull_error *error);
/** On stderr, once: they may not have the scheduling class that was asked for. */
void lull_live_loops_report_class(const struct lull_live_loops *loops, const char *program);
void lull_live_loops_stop(struct lull_live_loops *loops);
void lull_live_loops_destroy(struct lull_live_loops *loops);

/**
 * Change a row of the resting settings in all loops, or in the one that is named.
 *
 * @param resting  where they are in the changed settings
 */
int lull_live_loops_change(struct lull_live_loops *loops, const struct lull_live_change *change,
			   const struct lull_resting *resting, struct lull_error *error);

/** What a loop did until @p end_ns, when it had stopped. */
json_t *lull_live_loop_result(const struct lull_live_loop *item, uint64_t end_ns);
/** An array of those. */
json_t *lull_live_loops_result(const struct lull_live_loops *loops, uint64_t end_ns);
json_t *lull_live_port_result(const struct lull_port *port);
/** CPU time since its start. */
uint64_t lull_live_loop_cpu_ns(const struct lull_live_loop *item);

/** For telemetry: of a loop with the traffic stage. */
void lull_live_traffic(void *arg, const struct lull_loop *loop,
		       void (*put)(void *put_arg, const char *key, uint64_t value), void *put_arg);
const struct lull_histogram *lull_live_latency(void *arg, const struct lull_loop *loop);

#endif
