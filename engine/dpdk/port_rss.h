/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Port RSS: which queue of a port a packet comes to.
 *
 * Threads: main thread. Memory: static.
 */
#ifndef LULL_PORT_RSS_H
#define LULL_PORT_RSS_H

#include <lull/engine.h>

struct rte_eth_conf;
struct rte_eth_dev_info;

/** Into @p conf: how a port with several queues is to deal packets out, as far as it can. */
void lull_port_rss_ask(const struct rte_eth_dev_info *info, const struct lull_port_config *config,
		       struct rte_eth_conf *conf);
/** See that the configured port has taken it; how it deals them out. */
enum lull_port_spread lull_port_rss_settle(uint16_t port_id, const struct rte_eth_dev_info *info,
					   const struct lull_port_config *config);

#endif
