/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx port life: DPDK's environment, from the first port to the end of the process.
 *
 * Threads: begin from the owner of a port, all else from any.
 */
#ifndef LULL_NET_RX_PORT_LIFE_H
#define LULL_NET_RX_PORT_LIFE_H

#include "rx_port_device.h"

/** Start EAL unless it runs; the calling thread keeps its CPUs. @p error may be NULL. */
int lull_rx_port_begin(const struct lull_rx_port_config *config,
		       const struct lull_rx_port_device *device, struct lull_error *error);
/** The program ends: ports must not be touched any more. */
bool lull_rx_port_over(void);
/** The calling thread begins to handle packets, or ends: gives it a cache of buffers. */
void lull_rx_port_register(bool begins);

#endif
