/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Port MTU: the longest packet of a port, and buffers for it. Threads: the main thread.
 */
#ifndef LULL_PORT_MTU_H
#define LULL_PORT_MTU_H

#include <lull/engine.h>

struct rte_eth_dev_info;

/** What the driver is configured with; 0: as it likes. */
uint16_t lull_port_mtu_asked(const struct rte_eth_dev_info *info,
			     const struct lull_port_config *config);
/** After it was configured: for those that do not look at that. 0 or a negative errno. */
int lull_port_mtu_set(uint16_t port_id, const struct rte_eth_dev_info *info,
		      const struct lull_port_config *config);
/** What a buffer has to hold, where a packet may not be in several; 0: as usual. */
uint32_t lull_port_packet_bytes(const struct lull_port_config *config);
/** Packets come in several buffers: as asked for, or since the device fills no larger ones. */
bool lull_port_scatters(const struct rte_eth_dev_info *info, const struct lull_port_config *config);

#endif
