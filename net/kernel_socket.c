/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel_socket.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/error.h"

#define ANY_MTU 65535

int
kernel_interface_find(const char *name, struct kernel_interface *interface,
		      struct lull_error *error)
{
	struct ifreq request;
	int fd, rc = 0;

	memset(interface, 0, sizeof(*interface));
	interface->mtu = ANY_MTU;
	if (strcmp(name, "any") == 0)
		return 0;
	interface->index = if_nametoindex(name);
	if (interface->index == 0 || strlen(name) >= IFNAMSIZ)
		return lull_error_set(error, -ENODEV,
				      "interface %s does not exist; see 'ip link', or use any",
				      name);
	snprintf(interface->name, sizeof(interface->name), "%s", name);
	memset(&request, 0, sizeof(request));
	memcpy(request.ifr_name, name, strlen(name));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return lull_error_set(error, -errno, "no socket: %s", strerror(errno));
	if (ioctl(fd, SIOCGIFMTU, &request) == 0)
		interface->mtu = (uint32_t)request.ifr_mtu;
	close(fd);
	return rc;
}

void
kernel_interface_link(const struct kernel_interface *interface, struct lull_net_link *link)
{
	struct ethtool_cmd command = { .cmd = ETHTOOL_GSET };
	struct ifreq request = { .ifr_flags = 0 };
	int fd = -1;

	*link = (struct lull_net_link){ .mtu = interface->mtu, .up = true };
	if (interface->index != 0)
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%.15s", interface->name);
	if (ioctl(fd, SIOCGIFFLAGS, &request) == 0)
		link->up = (request.ifr_flags & IFF_RUNNING) != 0;
	if (ioctl(fd, SIOCGIFHWADDR, &request) == 0 && request.ifr_hwaddr.sa_family == ARPHRD_ETHER)
		memcpy(link->mac, request.ifr_hwaddr.sa_data, sizeof(link->mac));
	request.ifr_data = (void *)&command;
	if (ioctl(fd, SIOCETHTOOL, &request) == 0 &&
	    ethtool_cmd_speed(&command) != (uint32_t)SPEED_UNKNOWN)
		link->mbps = ethtool_cmd_speed(&command);
	close(fd);
}

static int
socket_option(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0 ? 0 : -errno;
}

/* As much as may be had: forced past the limit of the machine if we may. */
static uint64_t
socket_buffer(int fd, uint64_t wanted_bytes)
{
	int wanted = (int)LULL_MIN(wanted_bytes, (uint64_t)INT32_MAX / 2);
	int granted = 0;
	socklen_t size = sizeof(granted);

	if (socket_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, wanted) != 0)
		socket_option(fd, SOL_SOCKET, SO_RCVBUF, wanted);
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &granted, &size) != 0)
		return 0;
	return (uint64_t)granted;
}

/* ---- addresses ---- */

static socklen_t
socket_address(const struct lull_net_claim *claim, bool v6, struct sockaddr_storage *address)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
	struct sockaddr_in *in = (struct sockaddr_in *)address;

	memset(address, 0, sizeof(*address));
	if (v6) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(claim->port);
		memcpy(&in6->sin6_addr, claim->address.bytes, sizeof(in6->sin6_addr));
		return sizeof(*in6);
	}
	in->sin_family = AF_INET;
	in->sin_port = htons(claim->port);
	memcpy(&in->sin_addr, claim->address.bytes + 12, sizeof(in->sin_addr));
	return sizeof(*in);
}

static int
socket_join(int fd, const struct kernel_interface *interface, const struct lull_net_claim *claim)
{
	struct ip_mreqn group = { .imr_ifindex = (int)interface->index };
	struct ipv6_mreq group6 = { .ipv6mr_interface = interface->index };
	int rc;

	if (!lull_net_ip_is_multicast(&claim->address))
		return 0;
	if (lull_net_ip_is4(&claim->address)) {
		memcpy(&group.imr_multiaddr, claim->address.bytes + 12,
		       sizeof(group.imr_multiaddr));
		rc = setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group));
	} else {
		memcpy(&group6.ipv6mr_multiaddr, claim->address.bytes,
		       sizeof(group6.ipv6mr_multiaddr));
		rc = setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &group6, sizeof(group6));
	}
	return rc == 0 ? 0 : -errno;
}

static int
socket_udp(const struct lull_net_claim *claim, bool *v6)
{
	int fd;

	*v6 = !lull_net_ip_is4(&claim->address);
	fd = socket(*v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 && *v6 && errno == EAFNOSUPPORT && lull_net_ip_is_any(&claim->address)) {
		*v6 = false; /* a machine without IPv6 */
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	/* "Any" takes IPv4 as well. */
	if (fd >= 0 && *v6)
		socket_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, !lull_net_ip_is_any(&claim->address));
	return fd;
}

static int
socket_bind_udp(int fd, const struct kernel_interface *interface, struct lull_net_claim *claim,
		bool v6, bool shared)
{
	struct sockaddr_storage address;
	socklen_t size = socket_address(claim, v6, &address);

	if (shared || lull_net_ip_is_multicast(&claim->address) ||
	    lull_net_ip_is_broadcast(&claim->address))
		socket_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (interface->name[0] != '\0' &&
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface->name,
		       (socklen_t)strlen(interface->name)) != 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, size) != 0)
		return -errno;
	if (claim->port == 0) {
		if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
			return -errno;
		claim->port = ntohs(v6 ? ((struct sockaddr_in6 *)&address)->sin6_port :
					 ((struct sockaddr_in *)&address)->sin_port);
	}
	return socket_join(fd, interface, claim);
}

int
kernel_socket_join_mac(int fd, unsigned int if_index, const uint8_t *mac)
{
	struct packet_mreq member = { .mr_ifindex = (int)if_index, .mr_type = PACKET_MR_ALLMULTI };

	if (mac != NULL && !lull_net_mac_is_any(mac)) {
		member.mr_type = (mac[0] & 1) != 0 ? PACKET_MR_MULTICAST : PACKET_MR_UNICAST;
		member.mr_alen = LULL_NET_MAC_SIZE;
		memcpy(member.mr_address, mac, LULL_NET_MAC_SIZE);
	}
	return setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &member, sizeof(member)) == 0 ?
		       0 :
		       -errno;
}

/* "Any" has no filter to ask: what its interfaces let through comes. */
int
kernel_socket_join_claim(int fd, unsigned int if_index, const struct lull_net_claim *claim)
{
	if (if_index == 0 || (lull_net_mac_is_any(claim->mac) && !claim->all_groups))
		return 0;
	return kernel_socket_join_mac(fd, if_index, claim->mac);
}

static int
socket_bind_packet(int fd, const struct kernel_interface *interface,
		   const struct lull_net_claim *claim)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(claim->ether_type),
		.sll_ifindex = (int)interface->index,
	};

	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return -errno;
	return interface->index == 0 ? 0 : kernel_socket_join_mac(fd, interface->index, claim->mac);
}

int
kernel_socket_open(struct kernel_socket *sock, const struct kernel_interface *interface,
		   struct lull_net_claim *claim, uint64_t buffer_bytes, bool shared,
		   struct lull_error *error)
{
	char text[64] = "";
	bool v6 = false;
	int fd, rc;

	if (claim->ethernet)
		fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	else
		fd = socket_udp(claim, &v6);
	if (fd < 0)
		return lull_error_set(error, -errno, "no %s socket: %s%s",
				      claim->ethernet ? "packet" : "UDP", strerror(errno),
				      errno == EPERM ? "; this needs root or CAP_NET_RAW" : "");
	*sock = (struct kernel_socket){ .fd = fd, .ethernet = claim->ethernet };
	sock->granted_bytes = socket_buffer(fd, buffer_bytes);
	socket_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	if (claim->ethernet)
		rc = socket_bind_packet(fd, interface, claim);
	else
		rc = socket_bind_udp(fd, interface, claim, v6, shared);
	if (rc != 0) {
		close(fd);
		return lull_error_set(
			error, rc, "%s port %u on %s: %s",
			lull_net_ip_format(&claim->address, text), claim->port,
			interface->name[0] != '\0' ? interface->name : "any interface",
			rc == -EADDRINUSE ? "another program uses it; see 'ss -ulpn'" :
					    strerror(-rc));
	}
	sock->v6 = v6;
	sock->first = claim->first + 1;
	sock->ether_type = claim->ether_type;
	sock->port = claim->port;
	sock->address = claim->address;
	return 0;
}

int
kernel_socket_deafen(const struct kernel_socket *sock)
{
	struct sock_filter drop = { .code = BPF_RET | BPF_K, .k = 0 };
	struct sock_fprog program = { .len = 1, .filter = &drop };

	return setsockopt(sock->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0 ?
		       0 :
		       -errno;
}

uint64_t
kernel_socket_missed(const struct kernel_socket *sock)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t size = sizeof(info);

	if (getsockopt(sock->fd, SOL_SOCKET, SO_MEMINFO, info, &size) != 0)
		return 0;
	return info[SK_MEMINFO_DROPS];
}
