/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ports: what a user should hear of them before the loops start.
 *
 * Threads: main thread.
 */
#ifndef LULL_LIVE_PORTS_H
#define LULL_LIVE_PORTS_H

#include <lull/engine.h>

#include "idle/calibration.h"
#include "program/resting.h"
#include "program/ring.h"

/** What decides how many descriptors a port is opened with. */
struct lull_live_ring {
	struct lull_ring_size size;
	const struct lull_resting *resting;
	uint32_t queue_count; /**< that one thread polls, of all ports */
	/** How late wake-ups are; NULL: lull_live_ring_pkts() measures it if it matters, 10 ms. */
	const struct lull_calibration *sleeps;
};

/**
 * Descriptors for a port as lull_port_offer() has it: what the user asked for; with auto more where
 * the objective could not rest at the link's rate otherwise, as far as the device grants it.
 */
uint16_t lull_live_ring_pkts(const struct lull_port *offer, const struct lull_port_config *config,
			     const struct lull_live_ring *wish);
/**
 * lull_port_open() with those. On stderr: it takes more than usual, and why; or that it cannot have
 * them, and goes on with the usual ones.
 */
int lull_live_port_open(const char *program, uint16_t port_id,
			const struct lull_port_config *config, const struct lull_live_ring *wish,
			struct lull_port *port, struct lull_error *error);

/** On stderr: ports that have no link yet. They are used when it comes. */
void lull_live_tell_links(const char *program, const struct lull_port *ports, uint32_t count);
/** On stderr: the loop's CPU is on another node than a port of whose queues it polls one. */
void lull_live_tell_nodes(const char *program, const struct lull_loop *loop,
			  const struct lull_loop_config *config, const struct lull_port *ports,
			  uint32_t count);
#endif
