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

/**
 * What a short burst of this queue tells, and whether its driver can be asked. Where the queue may
 * be polled.
 */
static inline enum lull_short_burst
lull_port_short(uint16_t port_id, uint16_t queue_id, const struct rte_eth_dev_info *info)
{
	struct lull_port_driver driver = lull_port_device(info);
	enum lull_short_burst known = lull_port_driver_short(&driver);

	/* Representors have their driver's name and often receive in another way. */
	if ((*info->dev_flags & RTE_ETH_DEV_REPRESENTOR) != 0)
		return LULL_SHORT_LEAVES;
	if (known == LULL_SHORT_COUNTED && (rte_eth_fp_ops[port_id].rx_queue_count == NULL ||
					    rte_eth_rx_queue_count(port_id, queue_id) < 0))
		return LULL_SHORT_LEAVES;
	return known;
}

/** A burst may be so much shorter than asked for only because the driver receives in groups. */
#define LULL_PORT_GROUP_PKTS 8
/** After a queue that had more than a burst waiting: so often it is not asked. */
#define LULL_PORT_ASK_PAUSE 256

/**
 * Is a queue whose short bursts are LULL_SHORT_COUNTED empty after one of @p count? Not asked where
 * that is unlikely, for counting a queue that is behind takes the driver as long as many receives:
 * after a burst that is nearly full, and for a while after one that left many.
 *
 * @param pause  between two calls; 0 to begin with
 */
static inline bool
lull_port_counts_none(uint16_t port_id, uint16_t queue_id, uint32_t count, uint32_t burst_pkts,
		      uint32_t *pause)
{
	int left;

	if (count + LULL_PORT_GROUP_PKTS > burst_pkts)
		return false;
	if (*pause > 0) {
		(*pause)--;
		return false;
	}
	left = rte_eth_rx_queue_count(port_id, queue_id);
	if (left > (int)burst_pkts)
		*pause = LULL_PORT_ASK_PAUSE;
	return left == 0;
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
