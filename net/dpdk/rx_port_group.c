/* SPDX-License-Identifier: BSD-3-Clause */
#include "rx_port_group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include <lull/engine.h>
#include <lull/rest.h>

#include "engine/dpdk/port_watch.h"
#include "host/error.h"
#include "net/kernel_socket.h"

#define POOL_PKTS 255
#define GROUPS_MAX (sizeof(((struct lull_rx_port_groups *)NULL)->macs) / LULL_NET_MAC_SIZE)

void
lull_rx_port_group_open(struct lull_rx_port_groups *groups, uint16_t port_id, unsigned int if_index)
{
	*groups =
		(struct lull_rx_port_groups){ .port_id = port_id, .if_index = if_index, .fd = -1 };
}

/* ---- by the kernel ---- */

/* The socket is of no protocol, so nothing comes to it. */
static int
group_kernel(struct lull_rx_port_groups *groups, const uint8_t *mac, struct lull_error *error)
{
	int rc;

	if (groups->fd < 0)
		groups->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	rc = groups->fd < 0 ? -errno : kernel_socket_join_mac(groups->fd, groups->if_index, mac);
	if (rc != 0)
		return lull_error_set(error, rc, "address: the interface does not take it: %s",
				      strerror(-rc));
	if (groups->way != LULL_RX_PORT_GROUP_ALL)
		groups->way = mac == NULL ? LULL_RX_PORT_GROUP_ALL : LULL_RX_PORT_GROUP_LIST;
	return 0;
}

/* ---- by the driver ---- */

/* A driver without the call has no filter, or none that it tells of. */
static void
group_all(struct lull_rx_port_groups *groups)
{
	bool done = rte_eth_allmulticast_enable(groups->port_id) == 0 ||
		    rte_eth_promiscuous_enable(groups->port_id) == 0;

	groups->way = done ? LULL_RX_PORT_GROUP_ALL : LULL_RX_PORT_GROUP_OPEN;
}

static void
group_list(struct lull_rx_port_groups *groups, const uint8_t *mac)
{
	struct rte_ether_addr list[GROUPS_MAX];

	for (uint32_t i = 0; i < groups->count; i++)
		if (memcmp(groups->macs[i], mac, LULL_NET_MAC_SIZE) == 0)
			return;
	if (groups->count == GROUPS_MAX) {
		group_all(groups);
		return;
	}
	memcpy(groups->macs[groups->count++], mac, LULL_NET_MAC_SIZE);
	for (uint32_t i = 0; i < groups->count; i++)
		memcpy(&list[i], groups->macs[i], LULL_NET_MAC_SIZE);
	if (rte_eth_dev_set_mc_addr_list(groups->port_id, list, groups->count) == 0)
		groups->way = LULL_RX_PORT_GROUP_LIST;
	else
		group_all(groups);
}

/* Another address of one station. */
static void
group_station(struct lull_rx_port_groups *groups, const uint8_t *mac)
{
	struct rte_ether_addr address;

	memcpy(&address, mac, LULL_NET_MAC_SIZE);
	if (rte_eth_dev_mac_addr_add(groups->port_id, &address, 0) != 0)
		rte_eth_promiscuous_enable(groups->port_id); /* without it all comes anyway */
}

int
lull_rx_port_group_add(struct lull_rx_port_groups *groups, const uint8_t *mac,
		       struct lull_error *error)
{
	static const uint8_t everybody[] = { 255, 255, 255, 255, 255, 255 };

	if (mac != NULL && memcmp(mac, everybody, sizeof(everybody)) == 0)
		return 0;
	if (groups->if_index != 0)
		return group_kernel(groups, mac, error);
	if (mac != NULL && (mac[0] & 1) == 0)
		group_station(groups, mac);
	else if (groups->way >= LULL_RX_PORT_GROUP_ALL)
		return 0;
	else if (mac == NULL)
		group_all(groups);
	else
		group_list(groups, mac);
	return 0;
}

/* ---- IGMP ---- */

static int
group_begin(struct lull_rx_port_groups *groups, const uint8_t source[4], struct lull_error *error)
{
	static const uint8_t hosts[] = { 0x01, 0x00, 0x5e, 0, 0, 1 };
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_ether_addr mac;
	int rc = rte_eth_macaddr_get(groups->port_id, &mac);

	if (rc != 0)
		return lull_error_set(error, rc, "the port has no MAC address: %s", strerror(-rc));
	snprintf(name, sizeof(name), "lg%u", groups->port_id);
	groups->pool = lull_pool_create(name, POOL_PKTS, LULL_NET_IGMP_FRAME_MAX, error);
	if (groups->pool == NULL)
		return -ENOMEM;
	groups->igmp = calloc(1, sizeof(*groups->igmp));
	if (groups->igmp == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for groups");
	lull_net_igmp_init(groups->igmp, source, mac.addr_bytes);
	/* Queries are sent there. */
	return lull_rx_port_group_add(groups, hosts, error);
}

int
lull_rx_port_group_join(struct lull_rx_port_groups *groups, const uint8_t source[4],
			const uint8_t group[4], struct lull_error *error)
{
	int rc = groups->igmp != NULL ? 0 : group_begin(groups, source, error);

	if (rc == 0)
		lull_net_igmp_join(groups->igmp, lull_clock_ns(), group);
	return rc;
}

static void
group_send(struct lull_rx_port_groups *groups, uint64_t now_ns)
{
	uint8_t frame[LULL_NET_IGMP_FRAME_MAX];
	uint32_t size;

	while ((size = lull_net_igmp_write(groups->igmp, now_ns, frame)) != 0) {
		struct rte_mbuf *pkt = rte_pktmbuf_alloc(groups->pool);

		if (pkt == NULL)
			return; /* what is lost is sent again, or asked for again */
		memcpy(rte_pktmbuf_mtod(pkt, void *), frame, size);
		pkt->data_len = (uint16_t)size;
		pkt->pkt_len = size;
		if (rte_eth_tx_burst(groups->port_id, 0, &pkt, 1) == 0)
			rte_pktmbuf_free(pkt);
	}
}

void
lull_rx_port_group_iterate(struct lull_rx_port_groups *groups, uint64_t now_ns)
{
	if (lull_net_igmp_due(groups->igmp, now_ns) && lull_port_link(groups->port_id).up)
		group_send(groups, now_ns);
}

void
lull_rx_port_group_hear(struct lull_rx_port_groups *groups, const uint8_t *frame,
			uint32_t len_bytes)
{
	if (len_bytes > 0)
		lull_net_igmp_hear(groups->igmp, lull_clock_ns(), frame, len_bytes);
}

void
lull_rx_port_group_close(struct lull_rx_port_groups *groups)
{
	if (groups->igmp != NULL) {
		lull_net_igmp_leave(groups->igmp, lull_clock_ns());
		group_send(groups, lull_clock_ns());
	}
	free(groups->igmp);
	groups->igmp = NULL;
	if (groups->fd >= 0)
		close(groups->fd);
	groups->fd = -1;
}

void
lull_rx_port_group_free(struct lull_rx_port_groups *groups)
{
	rte_mempool_free(groups->pool);
	groups->pool = NULL;
}
