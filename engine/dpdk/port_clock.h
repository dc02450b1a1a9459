/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Port clock: whether a network card stamps the packets that it receives.
 *
 * Threads: the main thread.
 */
#ifndef LULL_PORT_CLOCK_H
#define LULL_PORT_CLOCK_H

#include <rte_ethdev.h>

#include <lull/engine.h>

/** Ask for stamps if @p config does and the driver has them and its clock. Before it is set up. */
void lull_port_clock_ask(uint16_t port_id, const struct rte_eth_dev_info *info,
			 const struct lull_port_config *config, struct rte_eth_conf *conf);
/** Has it got them? Behind its start. */
bool lull_port_clock_granted(uint16_t port_id, const struct rte_eth_conf *conf);

#endif
