/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Framework: one run of lull-model, from open ports to the result.
 *
 * Threads: main thread; loops run on threads of their own.
 * Memory:  one struct, too large for a stack.
 */
#ifndef LULL_MODEL_FRAMEWORK_H
#define LULL_MODEL_FRAMEWORK_H

#include <jansson.h>
#include <signal.h>

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
	struct model_settings settings;
	sigset_t signals; /* that end the run, blocked in every thread */
	bool engine;      /* is up */

	struct model_ring public_send, tx, rx, public_receive;
	struct lull_port ports[2]; /* the user's: sending, receiving */
	struct rte_mempool *pool;
	uint16_t run; /* number in the probes */

	struct model_loop loops[MODEL_ROLES];
	struct lull_loop *measured[2]; /* for telemetry */
	uint32_t measured_count;
	struct lull_telemetry_config telemetry;

	bool by_signal; /* what ended the run */
	struct lull_burst_cost *costs;
	uint32_t cost_count;
};

/** Engine and ports, then loops and telemetry; 0 or -errno and the sentence. Close in any case. */
int framework_open(struct framework *framework, struct lull_error *error);
/** Run, measure, let what is under way arrive; loops have stopped afterwards. */
int framework_run(struct framework *framework, struct lull_error *error);
/** Instead of running: fill in the costs. */
int framework_cost(struct framework *framework, struct lull_error *error);
void framework_close(struct framework *framework);

/** Does this side run in this process? */
static inline bool
framework_has(const struct framework *framework, enum model_side side)
{
	return framework->settings.side == MODEL_BOTH || framework->settings.side == side;
}
/** Where the sender and the receiver are wired to; rings where the user named no ports. */
const struct lull_port *framework_tx_port(const struct framework *framework);
const struct lull_port *framework_rx_port(const struct framework *framework);

/** CPUs of the loops, by role, and of the main thread. */
struct model_seats {
	int roles[MODEL_ROLES];
	int rest;
};
void framework_seats(const struct framework *framework, struct model_seats *seats);

/** The result as a new object, NULL when there is no memory. */
json_t *framework_result(const struct framework *framework);
/** The same in a few lines. */
void framework_print(const json_t *result, FILE *out);

#endif
