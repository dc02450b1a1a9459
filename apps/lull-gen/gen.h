/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Gen: one run of lull-gen, from open ports to the result.
 *
 * Threads: main thread; the settings are behind the lock while telemetry runs.
 * Memory:  one struct, too large for a stack.
 */
#ifndef LULL_GEN_H
#define LULL_GEN_H

#include <jansson.h>
#include <pthread.h>
#include <signal.h>

#include <lull/engine.h>
#include <lull/generator.h>

#include "settings.h"

/** Why the run ended, for the result. */
enum gen_end { GEN_END_SIGNAL, GEN_END_DURATION, GEN_END_COUNT, GEN_END_REPLAY };

struct gen {
	pthread_mutex_t lock;
	struct gen_settings settings;

	bool engine; /* is up */
	struct lull_replay *replay;
	struct lull_traffic_config traffic;
	struct lull_port ports[2]; /* sending, receiving */
	uint32_t port_count;       /* open ones; 1 when one port does both */
	struct lull_loop *loop;
	struct lull_loop *loops[1]; /* for telemetry */
	const void *state;          /* of the traffic stage */
	struct lull_telemetry_config telemetry;
	sigset_t signals; /* that end the run, blocked in every thread */

	enum gen_end end;
	uint64_t begin_steal_ns;
};

/** Ports, loop, telemetry. 0 or -errno and the sentence; close in any case. */
int gen_open(struct gen *gen, struct lull_error *error);
/** Send and receive until the end, then drain. */
int gen_run(struct gen *gen, struct lull_error *error);
void gen_close(struct gen *gen);

/** The port that sends, the port that receives. */
const struct lull_port *gen_tx_port(const struct gen *gen);
const struct lull_port *gen_rx_port(const struct gen *gen);

/** Fill in gen->telemetry. */
void gen_control_init(struct gen *gen);
/** Stop the traffic from the main thread; retries while the mailbox is full. */
void gen_control_off(struct gen *gen);

/** One progress line about what happened since the last one. */
struct gen_progress {
	uint64_t begin_ns, now_ns;
	uint64_t offered, received;
};
void gen_progress_print(const struct gen *gen, struct gen_progress *last);

/** The result as a new object, NULL when there is no memory. */
json_t *gen_result(struct gen *gen);

#endif
