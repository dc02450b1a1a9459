/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Kernel socket: one socket per address and port, or per ether type.
 */
#ifndef LULL_NET_KERNEL_SOCKET_H
#define LULL_NET_KERNEL_SOCKET_H

#include "backend.h"

struct kernel_interface {
	char name[32]; /* "": any */
	unsigned int index;
	uint32_t mtu;
};
struct kernel_socket {
	int fd;
	uint32_t first; /* claim, plus 1 */
	bool ethernet;
	bool v6; /* it knows IPv6, and IPv4 as mapped addresses */
	uint16_t ether_type, port;
	struct lull_net_ip address;
	uint64_t granted_bytes; /* as the kernel accounts: with its own overhead */
};

/** "veth0" or "any"; -ENODEV. */
int kernel_interface_find(const char *name, struct kernel_interface *interface,
			  struct lull_error *error);
/** What the interface tells now. */
void kernel_interface_link(const struct kernel_interface *interface, struct lull_net_link *link);
/** Open and bind for @p claim, whose port is written when it is 0. @p shared: a port of ours. */
int kernel_socket_open(struct kernel_socket *sock, const struct kernel_interface *interface,
		       struct lull_net_claim *claim, uint64_t buffer_bytes, bool shared,
		       struct lull_error *error);
/**
 * Have the interface let frames to @p mac through, or to all groups (NULL, or all zero), as long
 * as this packet socket is open. 0 or a negative errno.
 */
int kernel_socket_join_mac(int fd, unsigned int if_index, const uint8_t *mac);
/** The same for a claim of an ether type, if it asks for a group. */
int kernel_socket_join_claim(int fd, unsigned int if_index, const struct lull_net_claim *claim);
/** Drop all that comes: nothing queues. 0 or a negative errno. */
int kernel_socket_deafen(const struct kernel_socket *sock);
/** Packets that found no room. */
uint64_t kernel_socket_missed(const struct kernel_socket *sock);

/**
 * Packets of one socket, as they arrived. The kernel begins to stamp a moment after it was asked
 * to, and stamps packets from before when they are read: later than what arrived behind them.
 */
void kernel_stamps_in_order(struct lull_net_packet *packets, uint32_t count);

#endif
