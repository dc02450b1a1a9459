/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx port group: what is sent to many and is to come to a port.
 *
 * Ethernet addresses beside its own: where an interface of the kernel is behind the port, a socket
 * asks the kernel for them; else the driver. A driver without such a list gets all groups, as do
 * claims that name no address. And membership of groups of IPv4 where no kernel speaks IGMP.
 * Threads: open, add, join and close from one, iterate and hear from the one that receives in
 *          between. Memory: until close.
 */
#ifndef LULL_NET_RX_PORT_GROUP_H
#define LULL_NET_RX_PORT_GROUP_H

#include "net/igmp.h"
#include "rx_port.h"

struct lull_rx_port_groups {
	uint16_t port_id;
	unsigned int if_index; /* of the kernel behind the port; 0: none */
	int fd;
	enum lull_rx_port_group_way way;
	uint32_t count;
	uint8_t macs[LULL_NET_CLAIMS_MAX + 1][LULL_NET_MAC_SIZE];
	struct lull_net_igmp *igmp; /* NULL: the kernel does it, or there are no groups */
	struct rte_mempool *pool;   /* of what IGMP sends */
};

void lull_rx_port_group_open(struct lull_rx_port_groups *groups, uint16_t port_id,
			     unsigned int if_index);
/** @p mac: NULL: all groups. 0; a negative errno of the kernel, with @p error (may be NULL). */
int lull_rx_port_group_add(struct lull_rx_port_groups *groups, const uint8_t *mac,
			   struct lull_error *error);
/** Be a member of an IPv4 group, from this address; the port's filter is another matter. */
int lull_rx_port_group_join(struct lull_rx_port_groups *groups, const uint8_t source[4],
			    const uint8_t group[4], struct lull_error *error);
/** Send what is due, if the link is up. */
void lull_rx_port_group_iterate(struct lull_rx_port_groups *groups, uint64_t now_ns);
/** A frame that is for no claim: a query perhaps. */
void lull_rx_port_group_hear(struct lull_rx_port_groups *groups, const uint8_t *frame,
			     uint32_t len_bytes);
/** Leave all groups, while the port is still open. */
void lull_rx_port_group_close(struct lull_rx_port_groups *groups);
/** When it is not: the driver has given back what was sent. */
void lull_rx_port_group_free(struct lull_rx_port_groups *groups);

#endif
