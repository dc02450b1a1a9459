/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx port rule: a request to the port itself to bring packets to one of its queues.
 */
#ifndef LULL_NET_RX_PORT_RULE_H
#define LULL_NET_RX_PORT_RULE_H

#include "rx_port.h"

/** 0, or a negative errno of a port that takes no such rule; @p error: what its driver says. */
int lull_rx_port_rule_add(uint16_t port_id, const struct lull_rx_port_rule *rule, uint16_t queue,
			  struct lull_error *error);
void lull_rx_port_rule_remove_all(uint16_t port_id);
/** Nothing comes but what rules bring. Before the port is configured. */
int lull_rx_port_rule_isolate(uint16_t port_id, struct lull_error *error);

#endif
