/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx port exception: what is nobody's goes to the kernel through a TAP interface, and back.
 *
 * For a port that takes everything from the kernel. The TAP has the port's MAC address and MTU, so
 * that ARP, ICMP and control protocols work over the addresses the user gives it; one that exists
 * already is used as it is found.
 * Threads: give(), flush() and hand() from the thread that receives, send() from the one that
 *          sends, all else from the owner; a thread of its own moves the packets, and the two
 *          that send on the port take turns. As
 *          long as nobody receives, it does: a camera under control answers before that.
 * Memory:  bounded: a full ring loses the packet, and counts it.
 */
#ifndef LULL_RX_PORT_EXCEPTION_H
#define LULL_RX_PORT_EXCEPTION_H

#include <stdbool.h>

#include "rx_port.h"

struct rte_mbuf;
struct lull_rx_port_exception; /* opaque */

/** Packets that may be on their way to the kernel, beyond those of the port's ring. */
#define LULL_RX_PORT_EXCEPTION_PKTS 512

/** @p error may be NULL. */
int lull_rx_port_exception_open(uint16_t port_id, const char *name, uint32_t mtu,
				struct lull_rx_port_exception **exception,
				struct lull_error *error);
/** The TAP's. */
unsigned int lull_rx_port_exception_index(const struct lull_rx_port_exception *exception);
/** The calling thread begins to receive from the port (@p begins), or has ended. */
void lull_rx_port_exception_hand(struct lull_rx_port_exception *exception, bool begins);
/** Takes the packet, or returns false: there is no room. Never waits. */
bool lull_rx_port_exception_give(struct lull_rx_port_exception *exception, struct rte_mbuf *pkt);
/** End of a burst: wake the thread if it sleeps. */
void lull_rx_port_exception_flush(struct lull_rx_port_exception *exception);
/** rte_eth_tx_burst() for the other one who sends; 0 while this one does. Never waits. */
uint16_t lull_rx_port_exception_send(struct lull_rx_port_exception *exception,
				     struct rte_mbuf **pkts, uint16_t count);
/** Any thread. */
void lull_rx_port_exception_count(const struct lull_rx_port_exception *exception,
				  struct lull_net_exceptions *counters);
/** Before the port closes, and after it: the port may hold packets until then. */
void lull_rx_port_exception_stop(struct lull_rx_port_exception *exception);
void lull_rx_port_exception_free(struct lull_rx_port_exception *exception);

#endif
