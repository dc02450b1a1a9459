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

/** On stderr: ports that have no link yet. They are used when it comes. */
void lull_live_tell_links(const char *program, const struct lull_port *ports, uint32_t count);
/** On stderr: the loop's CPU is on another node than a port of whose queues it polls one. */
void lull_live_tell_nodes(const char *program, const struct lull_loop *loop,
			  const struct lull_loop_config *config, const struct lull_port *ports,
			  uint32_t count);
#endif
