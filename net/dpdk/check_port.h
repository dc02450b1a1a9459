/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Check of a port: who gets its packets, and does the kernel still get its own?
 */
#ifndef LULL_NET_CHECK_PORT_H
#define LULL_NET_CHECK_PORT_H

#include "net/kernel_socket.h"
#include "rx_port.h"

struct check_port {
	const struct lull_rx_port_info *info;
	const struct kernel_interface *interface; /* of the kernel, beside the port */
	uint32_t rule_count, asked_count;         /* of streams */
	uint32_t held_count;
};

void check_port(const struct check_port *port, struct lull_findings *findings);
/** Does what is sent to its group get to the port? */
void check_port_group(const struct lull_rx_port_info *info, const struct lull_net_claim *claim,
		      struct lull_findings *findings);
/** Do the packets of @p claim fit a port whose MTU lull sets? */
void check_port_mtu(const struct lull_rx_port_info *info, const struct lull_net_claim *claim,
		    struct lull_findings *findings);

#endif
