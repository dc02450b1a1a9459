/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx port XDP: our filter in the place of the program that comes with an AF_XDP port.
 *
 * It is attached by a link, which the kernel cuts when the process ends, however it ends.
 * Threads: one, but for end().
 */
#ifndef LULL_RX_PORT_XDP_H
#define LULL_RX_PORT_XDP_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/base.h>

/** Before a port opens. */
void lull_rx_port_xdp_prepare(void);
/**
 * An AF_XDP port has opened on this interface: part its packets, or take @p all. On failure the
 * driver's program stays, which takes all, and @p error (may be NULL) says why.
 */
int lull_rx_port_xdp_open(uint16_t port_id, unsigned int if_index, bool all,
			  struct lull_error *error);
/** Packets to this UDP port, or of this ether type (@p port 0), go to the AF_XDP port. */
int lull_rx_port_xdp_take(uint16_t port_id, uint16_t port, uint16_t ether_type);
/** Before the port closes. Nothing where none is open. */
void lull_rx_port_xdp_close(uint16_t port_id);
/** The program ends: all of them. */
void lull_rx_port_xdp_end(void);

#endif
