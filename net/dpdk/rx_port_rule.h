/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx port rule: a request to the port itself to bring packets to its first queue.
 */
#ifndef LULL_RX_PORT_RULE_H
#define LULL_RX_PORT_RULE_H

#include "rx_port.h"

/** 0, or a negative errno of a port that takes no such rule. */
int lull_rx_port_rule_add(uint16_t port_id, const struct lull_rx_port_rule *rule);
void lull_rx_port_rule_remove_all(uint16_t port_id);

#endif
