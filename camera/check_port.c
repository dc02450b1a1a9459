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

#include "kernel_check.h"

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
port_check_filter(const struct check_port *port, struct camera_findings *findings)
{
	const char *name = port->interface->name;
	uint32_t queues = port_queues(name);

	if (port->look->whole) {
		camera_find(findings, "port", CAMERA_NOTE,
			    "%s takes all packets of queue %u of %s from the kernel, ARP too%s%s",
			    port->look->name, port->look->queue, name,
			    port->look->unfiltered[0] != '\0' ? ": " : "", port->look->unfiltered);
		camera_remedy(findings,
			      "run as root with a kernel that has XDP links (5.9), or use "
			      "af_packet, or add exception=NAME");
		return;
	}
	camera_find(findings, "port", queues > 1 ? CAMERA_NOTE : CAMERA_FINE,
		    "%s takes packets of %u of %u streams from queue %u of %u of %s; all others "
		    "stay with the kernel",
		    port->look->name, port->rule_count, port->asked_count, port->look->queue,
		    queues, name);
	if (queues > 1)
		camera_remedy(findings,
			      "ethtool -L %s combined 1, or steer the cameras to the queue: "
			      "ethtool -N %s flow-type udp4 dst-port PORT action %u",
			      name, name, port->look->queue);
}

static void
port_check_exception(const struct check_port *port, struct camera_findings *findings)
{
	const char *name = port->interface->name;
	bool addressed = port_has_address(name);

	camera_find(findings, "exception path", addressed ? CAMERA_FINE : CAMERA_NOTE,
		    "what is not a camera's goes to the kernel through %s%s", name,
		    addressed ? "" : ", which has no IPv4 address");
	if (!addressed)
		camera_remedy(findings, "ip addr add ADDRESS/BITS dev %s", name);
}

/* Kernel interface or not, the port has its packets alone. */
static void
port_check_rules(const struct check_port *port, struct camera_findings *findings)
{
	const struct lull_ingest_look *look = port->look;
	bool alone = look->whole && !look->exception && port->interface->index == 0;

	camera_find(findings, "port", alone ? CAMERA_NOTE : CAMERA_FINE,
		    "%s, driver %s; %u of %u streams by rules of the port%s", look->name,
		    look->driver, port->rule_count, port->asked_count,
		    alone ? "; the kernel gets nothing: no ARP, no ping, no control" : "");
	if (alone)
		camera_remedy(findings, "add exception=NAME to the port: a TAP for all else");
}

void
check_port(const struct check_port *port, struct camera_findings *findings)
{
	bool xdp = strcmp(port->look->driver, "net_af_xdp") == 0;

	if (xdp && !port->look->exception)
		port_check_filter(port, findings);
	else
		port_check_rules(port, findings);
	if (port->look->exception)
		port_check_exception(port, findings);
	else if (!xdp && port->interface->index != 0)
		kernel_check_interface(port->interface, findings);
	if (port->held_count > 0)
		camera_find(findings, "held ports", CAMERA_FINE,
			    "%u UDP ports are kept quiet in the kernel", port->held_count);
}
