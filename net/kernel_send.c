/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel_send.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "frame.h"
#include "kernel_check.h"

int
kernel_send_open(struct kernel_sender **out, const struct kernel_interface *interface,
		 uint32_t pkts, struct lull_error *error)
{
	struct kernel_sender *sender = calloc(1, sizeof(*sender));
	struct lull_net_claim any = { .index = 0 };
	int rc;

	*out = NULL;
	if (sender == NULL)
		return lull_error_set(error, -ENOMEM, "no memory to send");
	sender->interface = interface;
	sender->room_bytes =
		(uint64_t)pkts * kernel_check_truesize(LULL_MIN(interface->mtu, 9000u));
	rc = kernel_socket_open(&sender->own, interface, &any, 0, false, error);
	/* Nobody reads what comes there. */
	if (rc == 0 && (rc = kernel_socket_deafen(&sender->own)) != 0) {
		close(sender->own.fd);
		lull_error_set(error, rc, "cannot set the filter of a socket: %s", strerror(-rc));
	}
	if (rc != 0) {
		free(sender);
		return rc;
	}
	kernel_send_prepare(sender, &sender->own);
	*out = sender;
	return 0;
}

void
kernel_send_close(struct kernel_sender *sender)
{
	if (sender != NULL)
		close(sender->own.fd);
	free(sender);
}

void
kernel_send_prepare(const struct kernel_sender *sender, const struct kernel_socket *sock)
{
	int bytes = (int)LULL_MIN(sender->room_bytes, (uint64_t)INT32_MAX / 2);

	if (setsockopt(sock->fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) != 0)
		(void)setsockopt(sock->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	/* Without it nothing may be sent to all. */
	(void)setsockopt(sock->fd, SOL_SOCKET, SO_BROADCAST, &(int){ 1 }, sizeof(int));
}

/* ---- by which socket, to whom ---- */

static bool
send_fits(const struct kernel_socket *sock, const struct lull_net_outgoing *packet)
{
	if (sock->ethernet)
		return packet->ether_type == sock->ether_type && packet->mac != NULL;
	if (packet->ether_type != 0)
		return false;
	if (!sock->v6 && !lull_net_ip_is4(&packet->destination))
		return false;
	/* Bound to an address, it sends from there. */
	return lull_net_ip_is_any(&packet->source) || lull_net_ip_is_any(&sock->address) ||
	       lull_net_ip_same(&packet->source, &sock->address);
}

static const struct kernel_socket *
send_socket(const struct kernel_sender *sender, const struct kernel_socket *sockets,
	    uint32_t socket_count, const struct lull_net_outgoing *packet)
{
	for (uint32_t i = 0; i < socket_count; i++)
		if (sockets[i].port == packet->source_port &&
		    sockets[i].port + sockets[i].ether_type != 0 && send_fits(&sockets[i], packet))
			return &sockets[i];
	return packet->source_port == 0 && send_fits(&sender->own, packet) ? &sender->own : NULL;
}

static socklen_t
send_name(const struct kernel_sender *sender, const struct kernel_socket *sock,
	  const struct lull_net_outgoing *packet, struct sockaddr_storage *name)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)name;
	struct sockaddr_in *in = (struct sockaddr_in *)name;
	struct sockaddr_ll *link = (struct sockaddr_ll *)name;

	memset(name, 0, sizeof(*name));
	if (sock->ethernet) {
		link->sll_family = AF_PACKET;
		link->sll_protocol = htons(packet->ether_type);
		link->sll_ifindex = (int)sender->interface->index;
		link->sll_halen = LULL_NET_MAC_SIZE;
		memcpy(link->sll_addr, packet->mac, LULL_NET_MAC_SIZE);
		return sizeof(*link);
	}
	if (!sock->v6) {
		in->sin_family = AF_INET;
		in->sin_port = htons(packet->port);
		memcpy(&in->sin_addr, packet->destination.bytes + 12, sizeof(in->sin_addr));
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(packet->port);
	memcpy(&in6->sin6_addr, packet->destination.bytes, sizeof(in6->sin6_addr));
	if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) || IN6_IS_ADDR_MC_LINKLOCAL(&in6->sin6_addr))
		in6->sin6_scope_id = sender->interface->index;
	return sizeof(*in6);
}

/* ---- sending ---- */

static void
send_fill(struct kernel_sender *sender, uint32_t index, const struct kernel_socket *sock,
	  const struct lull_net_outgoing *packet)
{
	sender->parts[index] = (struct iovec){
		.iov_base = (void *)(uintptr_t)packet->data,
		.iov_len = packet->len_bytes,
	};
	sender->messages[index].msg_hdr = (struct msghdr){
		.msg_name = &sender->names[index],
		.msg_namelen = send_name(sender, sock, packet, &sender->names[index]),
		.msg_iov = &sender->parts[index],
		.msg_iovlen = 1,
	};
}

static void
send_drop(struct kernel_sender *sender, bool too_long)
{
	if (too_long)
		LULL_COUNTER_ADD(sender->sent.too_long, 1);
	else
		LULL_COUNTER_ADD(sender->sent.unreachable, 1);
}

/* Packets from the first on that leave by one socket; 0: the first cannot leave. */
static uint32_t
send_run(struct kernel_sender *sender, const struct kernel_socket *sockets, uint32_t socket_count,
	 const struct lull_net_outgoing *packets, uint32_t count, int *fd)
{
	const struct kernel_socket *first = NULL;
	uint32_t run = 0;

	for (; run < LULL_MIN(count, LULL_NET_BURST); run++) {
		const struct kernel_socket *sock =
			send_socket(sender, sockets, socket_count, &packets[run]);

		if (sock == NULL || (first != NULL && sock != first) ||
		    lull_net_frame_mtu(&packets[run]) > sender->interface->mtu)
			break;
		first = sock;
		send_fill(sender, run, sock, &packets[run]);
	}
	*fd = first != NULL ? first->fd : -1;
	return run;
}

uint32_t
kernel_send(struct kernel_sender *sender, const struct kernel_socket *sockets,
	    uint32_t socket_count, const struct lull_net_outgoing *packets, uint32_t count)
{
	uint32_t done = 0;

	while (done < count) {
		const struct lull_net_outgoing *next = &packets[done];
		uint32_t run;
		int fd, sent;

		run = send_run(sender, sockets, socket_count, next, count - done, &fd);
		sent = run > 0 ? sendmmsg(fd, sender->messages, run, MSG_DONTWAIT) : -1;
		for (int i = 0; i < sent; i++)
			LULL_COUNTER_ADD(sender->sent.bytes, next[i].len_bytes);
		if (sent > 0) {
			LULL_COUNTER_ADD(sender->sent.pkts, (uint64_t)sent);
			done += (uint32_t)sent;
		} else if (run > 0 && (errno == EAGAIN || errno == ENOBUFS)) {
			LULL_COUNTER_ADD(sender->sent.full, count - done);
			break;
		} else if (run == 0 || errno != EINTR) {
			send_drop(sender, lull_net_frame_mtu(next) > sender->interface->mtu ||
						  (run > 0 && errno == EMSGSIZE));
			done++;
		}
	}
	return done;
}
