/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel drops packets for an af_packet port whose ring is full, and counts them in the socket;
 * the driver never asks for that number, so a zero-loss claim could not be checked. And the driver
 * leaves the usual send buffer, smaller than its ring: what goes beyond it (some 90 packets
 * on their way) stands in the ring, reported as sent, until the program happens to send again. The
 * sockets are ours, only their descriptors are not known: they are found among the process's files
 * by the interface they are bound to.
 */
#include <dirent.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_ethdev.h>

#include "port.h"

#define SOCKETS_MAX 16         /* as many queues as the driver has */
#define SEND_BYTES (256 << 20) /* more than what stands in a ring of any size takes */

struct packet_port {
	uint32_t count;
	int sockets[SOCKETS_MAX];
	uint64_t missed; /* each reading of a socket starts its count anew */
};

/* Ports belong to the process: written by the main thread while nobody reads, but for missed. */
static struct packet_port packet_ports[RTE_MAX_ETHPORTS];

static bool
packet_is_bound(int fd, unsigned int if_index)
{
	struct sockaddr_ll address = { .sll_family = 0 };
	socklen_t size = sizeof(address);

	return getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
	       address.sll_family == AF_PACKET && address.sll_ifindex == (int)if_index;
}

/* Two ports on one interface: the first has the sockets, none is read twice. */
static bool
packet_is_taken(int fd)
{
	for (int port_id = 0; port_id < RTE_MAX_ETHPORTS; port_id++) {
		for (uint32_t i = 0; i < packet_ports[port_id].count; i++) {
			if (packet_ports[port_id].sockets[i] == fd)
				return true;
		}
	}
	return false;
}

/* Whoever may not pass the system's limit gets as much as that allows. */
static void
packet_send_room(int fd)
{
	int bytes = SEND_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) != 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

void
lull_port_packet_open(uint16_t port_id, const struct rte_eth_dev_info *info)
{
	struct packet_port *port = &packet_ports[port_id];
	struct dirent *entry;
	DIR *files;

	memset(port, 0, sizeof(*port));
	if (strcmp(info->driver_name, "net_af_packet") != 0 || info->if_index == 0)
		return;
	files = opendir("/proc/self/fd");
	if (files == NULL)
		return;
	while ((entry = readdir(files)) != NULL && port->count < SOCKETS_MAX) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && packet_is_bound(fd, info->if_index) &&
		    !packet_is_taken(fd)) {
			packet_send_room(fd);
			port->sockets[port->count++] = fd;
		}
	}
	closedir(files);
}

uint64_t
lull_port_packet_missed(uint16_t port_id)
{
	struct packet_port *port = &packet_ports[port_id];

	for (uint32_t i = 0; i < port->count; i++) {
		struct tpacket_stats stats = { .tp_drops = 0 };
		socklen_t size = sizeof(stats);

		if (getsockopt(port->sockets[i], SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0)
			__atomic_fetch_add(&port->missed, stats.tp_drops, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&port->missed, __ATOMIC_RELAXED);
}

void
lull_port_packet_close(uint16_t port_id)
{
	packet_ports[port_id].count = 0;
}
