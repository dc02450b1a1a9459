/* SPDX-License-Identifier: BSD-3-Clause */
#include "interface.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "host/error.h"

static bool
interface_ip4(const struct ifaddrs *at, struct lull_net_ip *ip)
{
	if (at->ifa_addr->sa_family != AF_INET)
		return false;
	*ip = lull_net_ip_from4(
		(const uint8_t *)&((const struct sockaddr_in *)(void *)at->ifa_addr)->sin_addr);
	return true;
}

static bool
interface_ip6(const struct ifaddrs *at, struct lull_net_ip *ip)
{
	const struct sockaddr_in6 *in6 = (const void *)at->ifa_addr;

	if (at->ifa_addr->sa_family != AF_INET6 || !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
		return false;
	memcpy(ip->bytes, &in6->sin6_addr, sizeof(ip->bytes));
	return true;
}

static bool
interface_first(const struct ifaddrs *all, const char *name,
		bool (*take)(const struct ifaddrs *at, struct lull_net_ip *ip),
		struct lull_net_ip *ip)
{
	for (; all != NULL; all = all->ifa_next)
		if (all->ifa_addr != NULL && strcmp(all->ifa_name, name) == 0 && take(all, ip))
			return true;
	return false;
}

int
lull_net_interface_address(const char *name, struct lull_net_ip *ip, struct lull_error *error)
{
	struct ifaddrs *all;
	bool found;

	if (if_nametoindex(name) == 0)
		return lull_error_set(error, -ENODEV, "interface %s does not exist; see 'ip link'",
				      name);
	if (getifaddrs(&all) != 0)
		return lull_error_set(error, -errno, "interface %s: nobody tells its addresses: %s",
				      name, strerror(errno));
	found = interface_first(all, name, interface_ip4, ip) ||
		interface_first(all, name, interface_ip6, ip);
	freeifaddrs(all);
	return found ? 0 :
		       lull_error_set(
			       error, -EADDRNOTAVAIL,
			       "interface %s has no address yet; 'ip link set %s up', or give "
			       "it one by 'ip address add'",
			       name, name);
}
