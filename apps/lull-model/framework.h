/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Framework: one run of lull-model, from open ports to the result.
 *
 * Functions that take a void pointer get the struct framework: they are steps of the program.
 * Threads: main thread; loops run on threads of their own.
 * Memory:  one struct, too large for a stack.
 */
#ifndef LULL_MODEL_FRAMEWORK_H
#define LULL_MODEL_FRAMEWORK_H

#include "program/live/loops.h"
#include "program/live/placement.h"
#include "settings.h"

/** Loops in the order in which they start: whoever takes packets is there before they come. */
enum model_role {
	MODEL_CONSUMER,
	MODEL_RECEIVER,
	MODEL_LINK,
	MODEL_SENDER,
	MODEL_PRODUCER,
	MODEL_ROLES
};

/** A measured loop at one moment. */
struct model_reading {
	uint64_t now_ns, cpu_ns, steal_ns;
	struct lull_idle_counters idle;
	struct lull_forward_counters forward;
};

struct model_loop {
	struct lull_loop *loop; /* NULL: not in this process */
	struct model_reading begin, end;
};

/** A ring, as two ports: what goes in at one comes out at the other. */
struct model_ring {
	struct lull_port in, out;
};

struct framework {
	struct lull_run run;
	struct model_settings settings;

	struct model_ring public_send, tx, rx, public_receive;
	struct lull_port ports[2]; /* the user's: sending, receiving */
	struct rte_mempool *pool;
	uint16_t number; /* in the probes */

	struct model_loop loops[MODEL_ROLES];
	struct lull_loop *measured[2]; /* for telemetry */
	uint32_t measured_count;
	struct lull_live live;

	struct lull_burst_cost *costs;
	uint32_t cost_count;
};

/** What rows cannot say about each other. */
int framework_check(void *state, struct lull_error *error);
/** Engine and ports, then loops and telemetry. */
int framework_open(void *state, struct lull_error *error);
/** Run, measure, let what is under way arrive; loops have stopped afterwards. Or fill in costs. */
int framework_run(void *state, struct lull_error *error);
void framework_close(void *state);
void framework_result(void *state, json_t *result);
/** The same in a few lines, unless stdout has the result. */
void framework_print(void *state);

/** Does this side run in this process? */
static inline bool
framework_has(const struct framework *framework, enum model_side side)
{
	return framework->settings.side == MODEL_BOTH || framework->settings.side == side;
}
/** Where the sender and the receiver are wired to; rings where the user named no ports. */
const struct lull_port *framework_tx_port(const struct framework *framework);
const struct lull_port *framework_rx_port(const struct framework *framework);

#endif
