/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Port device: ask DPDK what port_facts.h goes by.
 *
 * Inline, since the plugin is compiled for several releases of DPDK.
 * Threads: where the port may be asked: it runs, and nobody closes it meanwhile.
 */
#ifndef LULL_PORT_DEVICE_H
#define LULL_PORT_DEVICE_H

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>

#include "port_facts.h"

static inline struct lull_port_driver
lull_port_device(const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *devargs = rte_dev_devargs(info->device);

	return (struct lull_port_driver){
		.name = info->driver_name,
		.bus = rte_bus_name(rte_dev_bus(info->device)),
		.args = devargs == NULL ? NULL : devargs->args,
		.if_index = info->if_index,
	};
}

/** @p otherwise_pkts: descriptors if the driver does not tell. */
static inline struct lull_port_answer
lull_port_ask(uint16_t port_id, uint16_t queue_id, uint32_t otherwise_pkts)
{
	struct lull_port_answer answer = { .otherwise_pkts = otherwise_pkts };
	struct rte_eth_rxq_info rxq;
	struct rte_eth_link link;

	if (rte_eth_rx_queue_info_get(port_id, queue_id, &rxq) == 0) {
		answer.desc_pkts = rxq.nb_desc;
		answer.rearm_pkts = rxq.conf.rx_free_thresh;
	}
	if (rte_eth_link_get_nowait(port_id, &link) == 0 &&
	    link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		answer.link_mbps = link.link_speed;
	return answer;
}

#endif
