/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest_device.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "base/assert.h"

/* vhost complains into the log each time it is asked about a guest that has gone. */
static bool
device_may_look(uint16_t port_id)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(port_id, &info) == 0 &&
	       strcmp(info.driver_name, "net_vhost") != 0;
}

void
lull_rest_device_init(struct lull_rest_device *device, const struct lull_loop_queue *queues,
		      uint32_t queue_count, uint16_t burst_pkts)
{
	memset(device, 0, sizeof(*device));
	device->queues = queues;
	device->queue_count = queue_count;
	device->burst_pkts = burst_pkts;
	device->epoll_fd = -1;
	device->kick_fd = -1;
	for (uint32_t i = 0; i < queue_count; i++)
		device->look[i] = device_may_look(queues[i].port_id);
}

static void
device_free_stash(struct lull_rest_device *device)
{
	rte_pktmbuf_free_bulk(device->stash, device->stash_count);
	device->stash_count = 0;
}

/* Files of queues that have gone stay watched: they tell once more at most. */
void
lull_rest_device_change(struct lull_rest_device *device, uint32_t queue_count)
{
	LULL_ASSERT(device->stash_count == 0);
	device->queue_count = queue_count;
	for (uint32_t i = 0; i < queue_count; i++)
		device->look[i] = device_may_look(device->queues[i].port_id);
}

void
lull_rest_device_fini(struct lull_rest_device *device)
{
	device_free_stash(device);
	if (device->epoll_fd >= 0)
		close(device->epoll_fd);
	if (device->kick_fd >= 0)
		close(device->kick_fd);
	device->epoll_fd = -1;
	device->kick_fd = -1;
}

bool
lull_rest_device_recheck(struct lull_rest_device *device)
{
	for (uint32_t i = 0; i < device->queue_count; i++) {
		const struct lull_loop_queue *queue = &device->queues[i];
		int waiting = device->look[i] ?
				      rte_eth_rx_queue_count(queue->port_id, queue->queue_id) :
				      -ENOTSUP;

		if (waiting > 0)
			return true;
		/*
		 * None, or this driver cannot count, for which DPDK 25.11 says 0 too: receive, and
		 * stop at the first packets.
		 */
		device->stash_count = rte_eth_rx_burst(queue->port_id, queue->queue_id,
						       device->stash, device->burst_pkts);
		device->stash_queue = i;
		if (device->stash_count > 0)
			return true;
	}
	return false;
}

void
lull_rest_device_kick(struct lull_rest_device *device)
{
	if (device->kick_fd >= 0)
		eventfd_write(device->kick_fd, 1);
}
