/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx port send: packets out on the same port.
 *
 * They are copied behind headers made here, so the caller keeps its memory. Nothing asks for MAC
 * addresses: a packet without one is dropped, unless its address is a group's.
 * Threads: send from one thread, all else from the owner; sent from any.
 * Memory:  a pool of as many packets as open is told, and those of a burst.
 */
#ifndef LULL_NET_RX_PORT_SEND_H
#define LULL_NET_RX_PORT_SEND_H

#include "net/backend.h"

struct lull_rx_port_exception;
struct lull_rx_port_sender; /* opaque */

/**
 * @p exception: the other one who sends on the port; NULL: nobody.
 *
 * @p error may be NULL.
 */
int lull_rx_port_send_open(uint16_t port_id, uint32_t pkts, uint32_t mtu,
			   struct lull_rx_port_exception *exception,
			   struct lull_rx_port_sender **sender, struct lull_error *error);
/** After the port: it may hold packets until then. NULL: nothing to do. */
void lull_rx_port_send_close(struct lull_rx_port_sender *sender);
/** See struct lull_net_backend. */
uint32_t lull_rx_port_send(struct lull_rx_port_sender *sender,
			   const struct lull_net_outgoing *packets, uint32_t count);
void lull_rx_port_sent(const struct lull_rx_port_sender *sender, struct lull_net_sent *sent);

#endif
