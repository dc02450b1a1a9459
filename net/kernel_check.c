/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel_check.h"

#include <inttypes.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TRUESIZE_HEAD 768 /* struct sk_buff, its shared info and rounding */
#define REPLY_SIZE 16384

uint32_t
kernel_check_truesize(uint32_t mtu)
{
	uint32_t room = 2048;

	while (room < mtu && room < 65536)
		room *= 2;
	return room + TRUESIZE_HEAD;
}

void
kernel_check_buffer(const struct kernel_socket *sock, const struct kernel_interface *interface,
		    const struct lull_net_claim *claim, struct lull_findings *findings)
{
	uint32_t packet =
		claim->packet_bytes != 0 ? claim->packet_bytes : LULL_MIN(interface->mtu, 1500u);
	uint64_t need_bytes = (uint64_t)claim->burst_pkts * kernel_check_truesize(packet);
	bool enough = sock->granted_bytes >= need_bytes;

	if (claim->burst_bytes == 0) {
		lull_finding_add(findings, "receive buffer", LULL_GRADE_FINE,
				 "stream %u: %" PRIu64
				 " KiB granted; the size of a picture is not known yet",
				 claim->index, sock->granted_bytes >> 10);
		return;
	}
	lull_finding_add(findings, "receive buffer", enough ? LULL_GRADE_FINE : LULL_GRADE_WRONG,
			 "stream %u: %" PRIu64 " KiB granted, but a picture needs %" PRIu64 " KiB",
			 claim->index, sock->granted_bytes >> 10, need_bytes >> 10);
	if (!enough)
		lull_finding_remedy(findings,
				    "sysctl -w net.core.rmem_max=%" PRIu64
				    " or run with CAP_NET_ADMIN, and set socket_bytes to this "
				    "size",
				    need_bytes / 2 + 1);
}

void
kernel_check_mtu(const struct kernel_interface *interface, const struct lull_net_claim *claim,
		 struct lull_findings *findings)
{
	if (claim->packet_bytes == 0)
		return;
	if (claim->packet_bytes <= interface->mtu) {
		lull_finding_add(findings, "MTU", LULL_GRADE_FINE,
				 "stream %u: packets of %u bytes, MTU %u", claim->index,
				 claim->packet_bytes, interface->mtu);
		return;
	}
	lull_finding_add(findings, "MTU", LULL_GRADE_WRONG,
			 "stream %u: packets of %u bytes do not fit MTU %u", claim->index,
			 claim->packet_bytes, interface->mtu);
	if (interface->name[0] != '\0')
		lull_finding_remedy(findings, "ip link set dev %s mtu %u", interface->name,
				    claim->packet_bytes);
	else
		lull_finding_remedy(findings, "let the sender send packets of at most %u",
				    interface->mtu);
}

/* ---- a program that was left behind ---- */

/* The kernel's macros cast const away, so nothing here is const. */
static struct rtattr *
check_attribute(struct rtattr *at, size_t left, unsigned int type)
{
	for (; RTA_OK(at, left); at = RTA_NEXT(at, left))
		if ((at->rta_type & NLA_TYPE_MASK) == type)
			return at;
	return NULL;
}

/* Id of the XDP program on an interface; 0: none, or nobody tells. @p way: of taking it off. */
static uint32_t
check_xdp_id(unsigned int if_index, const char **way)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg link;
	} request = {
		.header = { .nlmsg_len = sizeof(request),
			    .nlmsg_type = RTM_GETLINK,
			    .nlmsg_flags = NLM_F_REQUEST },
		.link = { .ifi_family = AF_UNSPEC, .ifi_index = (int)if_index },
	};
	_Alignas(struct nlmsghdr) uint8_t reply[REPLY_SIZE];
	struct nlmsghdr *header = (struct nlmsghdr *)reply;
	struct rtattr *xdp, *program = NULL, *attached = NULL;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	uint32_t id = 0;
	ssize_t got;

	if (fd < 0)
		return 0;
	got = send(fd, &request, sizeof(request), 0) < 0 ? -1 : recv(fd, reply, sizeof(reply), 0);
	close(fd);
	if (got < (ssize_t)NLMSG_LENGTH(sizeof(struct ifinfomsg)) ||
	    header->nlmsg_type != RTM_NEWLINK || header->nlmsg_len > (size_t)got)
		return 0;
	xdp = check_attribute(IFLA_RTA(NLMSG_DATA(header)), IFLA_PAYLOAD(header), IFLA_XDP);
	if (xdp != NULL)
		program = check_attribute(RTA_DATA(xdp), RTA_PAYLOAD(xdp), IFLA_XDP_PROG_ID);
	if (program != NULL && RTA_PAYLOAD(program) >= sizeof(id))
		memcpy(&id, RTA_DATA(program), sizeof(id));
	if (id != 0)
		attached = check_attribute(RTA_DATA(xdp), RTA_PAYLOAD(xdp), IFLA_XDP_ATTACHED);
	if (attached != NULL && *(const uint8_t *)RTA_DATA(attached) == XDP_ATTACHED_SKB)
		*way = "xdpgeneric";
	return id;
}

void
kernel_check_interface(const struct kernel_interface *interface, struct lull_findings *findings)
{
	const char *way = "xdp";
	uint32_t id = interface->index == 0 ? 0 : check_xdp_id(interface->index, &way);

	if (id == 0) {
		lull_finding_add(findings, "XDP program", LULL_GRADE_FINE, "none on %s",
				 interface->index == 0 ? "any interface" : interface->name);
		return;
	}
	lull_finding_add(findings, "XDP program", LULL_GRADE_WRONG,
			 "XDP program %u on %s takes packets first", id, interface->name);
	lull_finding_remedy(findings, "ip link set dev %s %s off, when its owner has ended",
			    interface->name, way);
}
