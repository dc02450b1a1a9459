/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Kernel send: packets out over the sockets of claims, and over one of its own.
 *
 * A packet with a source port leaves by the socket that claims the port, so that the answer comes
 * there; one without by a socket whose port the kernel chose. Packets of an ether type need a
 * claim of that type.
 * Threads: one. Memory: one struct.
 */
#ifndef LULL_NET_KERNEL_SEND_H
#define LULL_NET_KERNEL_SEND_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "kernel_socket.h"

struct kernel_sender {
	const struct kernel_interface *interface;
	struct kernel_socket own;
	uint64_t room_bytes; /* of a socket, as the kernel accounts */
	struct lull_net_sent sent;
	struct mmsghdr messages[LULL_NET_BURST];
	struct iovec parts[LULL_NET_BURST];
	struct sockaddr_storage names[LULL_NET_BURST];
};

/** Room for @p pkts packets in each socket. */
int kernel_send_open(struct kernel_sender **sender, const struct kernel_interface *interface,
		     uint32_t pkts, struct lull_error *error);
/** NULL: nothing to close. */
void kernel_send_close(struct kernel_sender *sender);
/** A socket of a claim may be used to send from here on. */
void kernel_send_prepare(const struct kernel_sender *sender, const struct kernel_socket *sock);
/** See struct lull_net_backend. */
uint32_t kernel_send(struct kernel_sender *sender, const struct kernel_socket *sockets,
		     uint32_t socket_count, const struct lull_net_outgoing *packets,
		     uint32_t count);

#endif
