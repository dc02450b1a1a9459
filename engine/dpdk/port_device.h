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

#include "host/port_facts.h"

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

/** The fastest link that the device can have, Mbit/s; 0: it does not say. */
static inline uint32_t
lull_port_link_max(const struct rte_eth_dev_info *info)
{
	static const struct {
		uint32_t flag, mbps;
	} speeds[] = {
		{ RTE_ETH_LINK_SPEED_200G, 200000 }, { RTE_ETH_LINK_SPEED_100G, 100000 },
		{ RTE_ETH_LINK_SPEED_56G, 56000 },   { RTE_ETH_LINK_SPEED_50G, 50000 },
		{ RTE_ETH_LINK_SPEED_40G, 40000 },   { RTE_ETH_LINK_SPEED_25G, 25000 },
		{ RTE_ETH_LINK_SPEED_20G, 20000 },   { RTE_ETH_LINK_SPEED_10G, 10000 },
		{ RTE_ETH_LINK_SPEED_5G, 5000 },     { RTE_ETH_LINK_SPEED_2_5G, 2500 },
		{ RTE_ETH_LINK_SPEED_1G, 1000 },     { RTE_ETH_LINK_SPEED_100M, 100 },
		{ RTE_ETH_LINK_SPEED_10M, 10 },
	};

	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++)
		if ((info->speed_capa & speeds[i].flag) != 0)
			return speeds[i].mbps;
	return 0;
}

/** Its link, or without one the fastest that it can have, Mbit/s; 0: it does not say. */
static inline uint32_t
lull_port_link_mbps(uint16_t port_id, const struct rte_eth_dev_info *info)
{
	struct rte_eth_link link;

	if (rte_eth_link_get_nowait(port_id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP &&
	    link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		return link.link_speed;
	return lull_port_link_max(info);
}

/**
 * @p otherwise_pkts: descriptors if the driver does not tell. A port without a link may get the
 * fastest one that it can have.
 */
static inline struct lull_port_answer
lull_port_ask(uint16_t port_id, uint16_t queue_id, uint32_t otherwise_pkts,
	      const struct rte_eth_dev_info *info)
{
	struct lull_port_answer answer = { .otherwise_pkts = otherwise_pkts };
	struct rte_eth_rxq_info rxq;

	if (rte_eth_rx_queue_info_get(port_id, queue_id, &rxq) == 0) {
		answer.desc_pkts = rxq.nb_desc;
		answer.rearm_pkts = rxq.conf.rx_free_thresh;
	}
	answer.link_mbps = lull_port_link_mbps(port_id, info);
	return answer;
}

#endif
