/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Address: where packets are sent to and come from, in one form for all back ends.
 *
 * IPv4 is kept as an IPv4-mapped IPv6 address, so that comparing is comparing 16 bytes.
 */
#ifndef LULL_NET_ADDRESS_H
#define LULL_NET_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LULL_NET_MAC_SIZE 6

/** All zero: any. */
struct lull_net_ip {
	uint8_t bytes[16];
};

enum lull_net_source_kind { LULL_NET_SOURCE_ANY, LULL_NET_SOURCE_IP, LULL_NET_SOURCE_MAC };
/** Who may send. */
struct lull_net_source {
	enum lull_net_source_kind kind;
	struct lull_net_ip ip;
	uint8_t mac[LULL_NET_MAC_SIZE];
};

static inline bool
lull_net_ip_same(const struct lull_net_ip *a, const struct lull_net_ip *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/** The IPv4 address of four bytes in network order. */
struct lull_net_ip lull_net_ip_from4(const uint8_t *bytes);
bool lull_net_ip_is_any(const struct lull_net_ip *ip);
bool lull_net_ip_is4(const struct lull_net_ip *ip);
bool lull_net_ip_is_multicast(const struct lull_net_ip *ip);
/** 255.255.255.255: all that hear it on a link. */
bool lull_net_ip_is_broadcast(const struct lull_net_ip *ip);
/** "192.0.2.1", "2001:db8::1"; 0 or -EINVAL. NULL and "" are any. */
int lull_net_ip_parse(const char *text, struct lull_net_ip *ip);
/** "02:00:00:00:00:01"; 0 or -EINVAL. NULL and "" are all zero. */
int lull_net_mac_parse(const char *text, uint8_t mac[LULL_NET_MAC_SIZE]);
bool lull_net_mac_is_any(const uint8_t mac[LULL_NET_MAC_SIZE]);
/** Of a group: what Ethernet has for it (RFC 1112, RFC 2464). */
void lull_net_ip_group_mac(const struct lull_net_ip *ip, uint8_t mac[LULL_NET_MAC_SIZE]);
/** Written into @p text of at least 46 bytes. */
const char *lull_net_ip_format(const struct lull_net_ip *ip, char *text);
/** IP or MAC ("02:00:00:00:00:01"); 0 or -EINVAL. NULL, "" and "any" are any. */
int lull_net_source_parse(const char *text, struct lull_net_source *source);

#endif
