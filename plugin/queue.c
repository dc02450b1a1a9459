/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue meets the thread that polls it. Asked here, because here the program guarantees that the
 * port runs: the size of the ring and the rate of the link.
 */
#include "plugin.h"

#include <rte_ethdev.h>

#include "port.h"

static void
queue_know_link(struct plugin_queue *queue, const struct rte_eth_dev_info *info)
{
	struct rte_eth_link link = { 0 };

	queue->link_pps = 0;
	if (lull_port_driver_hardware(info) &&
	    rte_eth_link_get_nowait(queue->port_id, &link) == 0 &&
	    link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		queue->link_pps = lull_link_pps(link.link_speed);
}

static void
queue_know_ring(struct plugin_queue *queue, const struct rte_eth_dev_info *info)
{
	struct rte_eth_rxq_info rxq;

	queue->held_pkts = 0;
	queue->ring_pkts = lull_port_driver_ring(info);
	if (queue->ring_pkts != 0)
		return;
	if (rte_eth_rx_queue_info_get(queue->port_id, queue->queue_id, &rxq) == 0) {
		queue->ring_pkts = rxq.nb_desc;
		queue->held_pkts = rxq.conf.rx_free_thresh;
	} else {
		queue->ring_pkts = info->default_rxportconf.ring_size;
	}
}

/* The tightest of the poller's queues decides. */
static void
queue_tighten(struct lull_loop *poller)
{
	uint32_t i;

	poller->ring_pkts = 0;
	poller->held_pkts = 0;
	poller->link_pps = 0;
	for (i = 0; i < poller->queue_count; i++) {
		const struct plugin_queue *queue = poller->queues[i];

		if (queue->poller != poller)
			continue;
		poller->link_pps = LULL_MAX(poller->link_pps, queue->link_pps);
		if (queue->ring_pkts == 0)
			continue;
		if (poller->ring_pkts == 0 || queue->ring_pkts < poller->ring_pkts) {
			poller->ring_pkts = queue->ring_pkts;
			poller->held_pkts = queue->held_pkts;
		}
	}
}

/* The place it had before, a new one, or the last one with others. */
static uint16_t
queue_place(const struct plugin_queue *queue, const struct lull_loop *poller)
{
	uint16_t i;

	for (i = 0; i < poller->queue_count; i++)
		if (poller->queues[i] == queue)
			return i;
	return (uint16_t)LULL_MIN(i, LULL_IDLE_QUEUES_MAX - 1);
}

static void
queue_know_port(struct lull_loop *poller, uint16_t port_id)
{
	uint32_t i;

	for (i = 0; i < poller->port_count; i++)
		if (poller->port_ids[i] == port_id)
			return;
	if (poller->port_count == PLUGIN_AUDIT_PORTS_MAX)
		return;
	poller->port_ids[poller->port_count] = port_id;
	poller->port_missed[poller->port_count++] = UINT64_MAX; /* not read yet */
}

void
plugin_queue_adopt(struct plugin_queue *queue, struct lull_loop *poller)
{
	struct rte_eth_dev_info info;

	queue->index = queue_place(queue, poller);
	if (queue->index == poller->queue_count)
		poller->queue_count++;
	poller->queues[queue->index] = queue;
	queue->poller = poller;
	queue->round = poller->round - 1;
	queue_know_port(poller, queue->port_id);
	if (rte_eth_dev_info_get(queue->port_id, &info) == 0) {
		queue_know_ring(queue, &info);
		queue_know_link(queue, &info);
	}
	queue_tighten(poller);
}
