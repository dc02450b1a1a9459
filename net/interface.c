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

/* IPv4 alone: links of IPv6 have one network each. */
static bool
interface_mask4(const struct ifaddrs *all, const struct lull_net_ip *own, uint8_t mask[4])
{
	for (; all != NULL; all = all->ifa_next) {
		struct lull_net_ip ip;

		if (all->ifa_addr == NULL || all->ifa_netmask == NULL || !interface_ip4(all, &ip) ||
		    !lull_net_ip_same(&ip, own))
			continue;
		memcpy(mask, &((const struct sockaddr_in *)(void *)all->ifa_netmask)->sin_addr, 4);
		return true;
	}
	return false;
}

bool
lull_net_interface_same(const struct lull_net_ip *own, const struct lull_net_ip *other)
{
	const uint8_t *a = own->bytes + sizeof(own->bytes) - 4;
	const uint8_t *b = other->bytes + sizeof(other->bytes) - 4;
	struct ifaddrs *all;
	uint8_t mask[4];
	bool same;

	if (getifaddrs(&all) != 0)
		return false;
	same = lull_net_ip_is4(other) && interface_mask4(all, own, mask);
	freeifaddrs(all);
	for (uint32_t i = 0; same && i < 4; i++)
		same = (a[i] & mask[i]) == (b[i] & mask[i]);
	return same;
}
