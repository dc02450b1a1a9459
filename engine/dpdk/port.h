/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Port: what the files of the engine know of ports beyond lull/engine.h.
 */
#ifndef LULL_PORT_H
#define LULL_PORT_H

#include <lull/engine.h>

#include "idle/loss_audit.h"
#include "host/port_facts.h"

struct rte_eth_dev_info;

/** Facts of each ring of an open port. */
static inline struct lull_ring_facts
lull_port_rings(const struct lull_port *port)
{
	uint64_t link_pps = lull_link_pps(port->link_mbps);

	return (struct lull_ring_facts){
		.count = 1,
		.ring_pkts = port->ring_pkts,
		.ring_pkts_max = port->ring_pkts_max,
		.held_pkts = port->held_pkts,
		.link_pps = link_pps,
		.hardware_pps = port->hardware ? link_pps : 0,
		.short_leaves = port->short_leaves,
		.loss_lag_ns = port->loss_lag_ns,
	};
}

/** What is sent on @p tx_port_id comes to @p rx_port_id; nothing is missed yet. Main thread. */
void lull_port_pair_wire(uint16_t tx_port_id, uint16_t rx_port_id);
/** It no longer does. Main thread. */
void lull_port_pair_unwire(uint16_t tx_port_id);
/**
 * A sender found the ring behind @p tx_port_id full and gives up @p pkts
 * packets: the port at the other end missed them. No effect on ports that are
 * not half of a lull_port_pair(). Any thread.
 */
void lull_port_pair_refused(uint16_t tx_port_id, uint64_t pkts);
/** What a port missed in that way. Any thread. */
uint64_t lull_port_pair_missed(uint16_t port_id);

/** Read the clock by which a port stamps packets. @return 0; a negative errno: it has none. */
int lull_port_clock(uint16_t port_id, uint64_t *ticks);

/** Find the sockets of an af_packet port, other ports have none; give them room. Main thread. */
void lull_port_packet_open(uint16_t port_id, const struct rte_eth_dev_info *info);
/** Packets the kernel dropped for want of room in their rings. One thread at a time. */
uint64_t lull_port_packet_missed(uint16_t port_id);
void lull_port_packet_close(uint16_t port_id);

/**
 * lull_pool_create() with @p private_bytes, a multiple of 8, behind each mbuf, in memory of
 * @p node if it has enough; -1: any.
 */
struct rte_mempool *lull_pool_create_private(const char *name, uint32_t mbuf_count,
					     uint16_t len_bytes, uint16_t private_bytes, int node,
					     struct lull_error *error);

/** The same, without gaps between buffers: what AF_XDP ports need. */
struct rte_mempool *lull_pool_create_packed(const char *name, uint32_t mbuf_count,
					    uint16_t len_bytes, uint16_t private_bytes, int node,
					    struct lull_error *error);

#endif
