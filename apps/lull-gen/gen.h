/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Gen: one run of lull-gen, from open ports to the result.
 *
 * Functions that take a void pointer get the struct gen: they are steps of the program.
 * Threads: main thread; the settings are behind the lock while telemetry runs.
 * Memory:  one struct, too large for a stack.
 */
#ifndef LULL_GEN_H
#define LULL_GEN_H

#include <lull/generator.h>

#include "program/live/loops.h"
#include "settings.h"

struct gen {
	struct lull_run run;
	struct gen_settings settings;

	struct lull_replay *replay;
	struct lull_traffic_config traffic;
	struct lull_port ports[2];    /* sending, receiving */
	uint32_t port_count;          /* open ones; 1 when one port does both */
	struct lull_live_loops loops; /* one */
	const void *state;            /* of the traffic stage */
	struct lull_live live;
};

/** What the table leaves to the program. */
void gen_preset(void *settings);
/** What rows cannot say about each other. */
int gen_check(void *state, struct lull_error *error);
/** Ports, loop, telemetry. */
int gen_open(void *state, struct lull_error *error);
/** Send and receive until the end, then drain. */
int gen_run(void *state, struct lull_error *error);
void gen_close(void *state);
void gen_result(void *state, json_t *result);

/** The port that sends, the port that receives. */
const struct lull_port *gen_tx_port(const struct gen *gen);
const struct lull_port *gen_rx_port(const struct gen *gen);

/** Start telemetry. */
int gen_control_start(struct gen *gen, struct lull_error *error);
/** Stop the traffic from the main thread; retries while the mailbox is full. */
void gen_control_off(struct gen *gen);

/** One progress line about what happened since the last one. */
struct gen_progress {
	uint64_t now_ns;
	uint64_t offered, received;
};
void gen_progress_print(const struct gen *gen, struct gen_progress *last);

#endif
