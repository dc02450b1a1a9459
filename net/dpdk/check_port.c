/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_port.h"

#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/kernel_check.h"

/* Receive queues of an interface; 0: it does not tell. */
static uint32_t
port_queues(const char *name)
{
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq request = { .ifr_data = (void *)&channels };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t count = 0;

	if (fd < 0)
		return 0;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%.15s", name);
	if (ioctl(fd, SIOCETHTOOL, &request) == 0)
		count = channels.rx_count + channels.combined_count;
	close(fd);
	return count;
}

static bool
port_has_address(const char *name)
{
	struct ifaddrs *all, *at;
	bool has = false;

	if (getifaddrs(&all) != 0)
		return true; /* nobody tells */
	for (at = all; at != NULL && !has; at = at->ifa_next)
		has = at->ifa_addr != NULL && strcmp(at->ifa_name, name) == 0 &&
		      at->ifa_addr->sa_family == AF_INET;
	freeifaddrs(all);
	return has;
}

static void
port_check_filter(const struct check_port *port, struct lull_findings *findings)
{
	const char *name = port->interface->name;
	uint32_t queues = port_queues(name);

	if (port->info->whole) {
		lull_finding_add(
			findings, "port", LULL_GRADE_NOTE,
			"%s takes all packets of queue %u of %s from the kernel, including "
			"ARP%s%s",
			port->info->name, port->info->queue, name,
			port->info->unfiltered[0] != '\0' ? ": " : "", port->info->unfiltered);
		lull_finding_remedy(findings,
				    "run as root with a kernel that has XDP links (5.9), or use "
				    "af_packet, or add exception=NAME");
		return;
	}
	lull_finding_add(
		findings, "port", queues > 1 ? LULL_GRADE_NOTE : LULL_GRADE_FINE,
		"%s takes packets of %u of %u streams from queue %u of %u of %s; all others "
		"stay with the kernel",
		port->info->name, port->rule_count, port->asked_count, port->info->queue, queues,
		name);
	if (queues > 1)
		lull_finding_remedy(findings,
				    "ethtool -L %s combined 1, or steer the packets to the queue: "
				    "ethtool -N %s flow-type udp4 dst-port PORT action %u",
				    name, name, port->info->queue);
}

static void
port_check_exception(const struct check_port *port, struct lull_findings *findings)
{
	const char *name = port->interface->name;
	bool addressed = port_has_address(name);

	lull_finding_add(findings, "exception path", addressed ? LULL_GRADE_FINE : LULL_GRADE_NOTE,
			 "packets for no stream go to the kernel through %s%s", name,
			 addressed ? "" : ", which has no IPv4 address");
	if (!addressed)
		lull_finding_remedy(findings, "ip addr add ADDRESS/BITS dev %s", name);
}

/* Kernel interface or not, the port has its packets alone. */
static void
port_check_rules(const struct check_port *port, struct lull_findings *findings)
{
	const struct lull_rx_port_info *info = port->info;
	bool alone = info->whole && !info->exception && port->interface->index == 0;

	lull_finding_add(findings, "port", alone ? LULL_GRADE_NOTE : LULL_GRADE_FINE,
			 "%s, driver %s; %u of %u streams by rules of the port%s", info->name,
			 info->driver, port->rule_count, port->asked_count,
			 alone ? "; the kernel gets no packets: no ARP, no ping, no camera "
				 "control" :
				 "");
	if (alone)
		lull_finding_remedy(findings, "add exception=NAME to the port: a TAP for all "
					      "other packets");
}

/* What was refused costs nothing but work, unless there are queues for it. */
static void
port_check_refused(const struct lull_rx_port_info *info, struct lull_findings *findings)
{
	if (!info->own_mtu || info->refused[0] == '\0')
		return;
	lull_finding_add(findings, "rules", info->queues > 1 ? LULL_GRADE_NOTE : LULL_GRADE_FINE,
			 "%s takes no rule, and lull sorts its packets itself: %s", info->name,
			 info->refused);
	if (info->queues > 1)
		lull_finding_remedy(findings, "leave queues=%u out: all packets come to one queue",
				    info->queues);
}

static void
port_check_groups(const struct lull_rx_port_info *info, struct lull_findings *findings)
{
	char igmp[64] = "";

	if (info->igmp_count > 0)
		snprintf(igmp, sizeof(igmp), "; lull reports %u of IPv4 itself (IGMP)",
			 info->igmp_count);
	if (info->group_way == LULL_RX_PORT_GROUP_LIST && info->group_count > 0)
		lull_finding_add(findings, "groups", LULL_GRADE_FINE,
				 "%u addresses are in the filter of %s%s", info->group_count,
				 info->name, igmp);
	else if (info->group_way == LULL_RX_PORT_GROUP_LIST)
		lull_finding_add(findings, "groups", LULL_GRADE_FINE,
				 "the kernel's interface lets them through%s", igmp);
	else if (info->group_way == LULL_RX_PORT_GROUP_ALL)
		lull_finding_add(findings, "groups", LULL_GRADE_FINE,
				 "%s lets all groups through%s", info->name, igmp);
	else if (info->group_way == LULL_RX_PORT_GROUP_OPEN)
		lull_finding_add(
			findings, "groups", LULL_GRADE_NOTE,
			"the driver of %s lets groups through or not, and cannot be asked%s",
			info->name, igmp);
}

void
check_port_group(const struct lull_rx_port_info *info, const struct lull_net_claim *claim,
		 struct lull_findings *findings)
{
	if (claim->ethernet || info->kernel_beside || lull_net_ip_is4(&claim->address) ||
	    !lull_net_ip_is_multicast(&claim->address))
		return;
	lull_finding_add(findings, "groups", LULL_GRADE_NOTE,
			 "stream %u: lull does not report groups of IPv6 (MLD), so a switch may "
			 "keep them back",
			 claim->index);
	lull_finding_remedy(findings, "add exception=NAME to the port, or use a group of IPv4");
}

void
check_port(const struct check_port *port, struct lull_findings *findings)
{
	bool xdp = strcmp(port->info->driver, "net_af_xdp") == 0;

	if (xdp && !port->info->exception)
		port_check_filter(port, findings);
	else
		port_check_rules(port, findings);
	if (port->info->exception)
		port_check_exception(port, findings);
	else if (!xdp && port->interface->index != 0)
		kernel_check_interface(port->interface, findings);
	port_check_refused(port->info, findings);
	port_check_groups(port->info, findings);
	if (port->held_count > 0)
		lull_finding_add(findings, "held ports", LULL_GRADE_FINE,
				 "%u UDP ports are held: the kernel drops its copies",
				 port->held_count);
}

void
check_port_mtu(const struct lull_rx_port_info *info, const struct lull_net_claim *claim,
	       struct lull_findings *findings)
{
	bool fits = claim->packet_bytes <= info->mtu;

	if (claim->packet_bytes == 0)
		return;
	lull_finding_add(findings, "MTU", fits ? LULL_GRADE_FINE : LULL_GRADE_WRONG,
			 "stream %u: packets of %u bytes, MTU %u of %s", claim->index,
			 claim->packet_bytes, info->mtu, info->name);
	if (!fits)
		lull_finding_remedy(findings, "add mtu=%u to the port", claim->packet_bytes);
}
