/* SPDX-License-Identifier: BSD-3-Clause */
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

static const uint8_t address_mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

struct lull_net_ip
lull_net_ip_from4(const uint8_t *bytes)
{
	struct lull_net_ip ip;

	memcpy(ip.bytes, address_mapped, sizeof(address_mapped));
	memcpy(ip.bytes + sizeof(address_mapped), bytes, 4);
	return ip;
}

bool
lull_net_ip_is_any(const struct lull_net_ip *ip)
{
	static const struct lull_net_ip any;

	return lull_net_ip_same(ip, &any);
}

bool
lull_net_ip_is4(const struct lull_net_ip *ip)
{
	return memcmp(ip->bytes, address_mapped, sizeof(address_mapped)) == 0;
}

bool
lull_net_ip_is_multicast(const struct lull_net_ip *ip)
{
	return lull_net_ip_is4(ip) ? (ip->bytes[12] & 0xf0) == 0xe0 : ip->bytes[0] == 0xff;
}

bool
lull_net_ip_is_broadcast(const struct lull_net_ip *ip)
{
	static const uint8_t all[4] = { 0xff, 0xff, 0xff, 0xff };

	return lull_net_ip_is4(ip) && memcmp(ip->bytes + sizeof(address_mapped), all, 4) == 0;
}

int
lull_net_ip_parse(const char *text, struct lull_net_ip *ip)
{
	uint8_t bytes[4];

	memset(ip, 0, sizeof(*ip));
	if (text == NULL || text[0] == '\0')
		return 0;
	if (inet_pton(AF_INET, text, bytes) == 1) {
		/* 0.0.0.0 says "any" as well. */
		if (memcmp(bytes, ip->bytes, sizeof(bytes)) != 0)
			*ip = lull_net_ip_from4(bytes);
		return 0;
	}
	return inet_pton(AF_INET6, text, ip->bytes) == 1 ? 0 : -EINVAL;
}

const char *
lull_net_ip_format(const struct lull_net_ip *ip, char *text)
{
	if (lull_net_ip_is4(ip))
		inet_ntop(AF_INET, ip->bytes + sizeof(address_mapped), text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, ip->bytes, text, INET6_ADDRSTRLEN);
	return text;
}

int
lull_net_mac_parse(const char *text, uint8_t mac[LULL_NET_MAC_SIZE])
{
	unsigned int byte[LULL_NET_MAC_SIZE];
	int end = 0;

	memset(mac, 0, LULL_NET_MAC_SIZE);
	if (text == NULL || text[0] == '\0')
		return 0;
	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1], &byte[2], &byte[3],
		   &byte[4], &byte[5], &end) != LULL_NET_MAC_SIZE ||
	    text[end] != '\0')
		return -EINVAL;
	for (uint32_t i = 0; i < LULL_NET_MAC_SIZE; i++)
		mac[i] = (uint8_t)byte[i];
	return 0;
}

bool
lull_net_mac_is_any(const uint8_t mac[LULL_NET_MAC_SIZE])
{
	static const uint8_t any[LULL_NET_MAC_SIZE];

	return memcmp(mac, any, sizeof(any)) == 0;
}

void
lull_net_ip_group_mac(const struct lull_net_ip *ip, uint8_t mac[LULL_NET_MAC_SIZE])
{
	const uint8_t *at = ip->bytes + sizeof(ip->bytes) - 4;

	if (lull_net_ip_is4(ip))
		memcpy(mac, (const uint8_t[]){ 0x01, 0x00, 0x5e, at[1] & 0x7f, at[2], at[3] },
		       LULL_NET_MAC_SIZE);
	else
		memcpy(mac, (const uint8_t[]){ 0x33, 0x33, at[0], at[1], at[2], at[3] },
		       LULL_NET_MAC_SIZE);
}

int
lull_net_source_parse(const char *text, struct lull_net_source *source)
{
	memset(source, 0, sizeof(*source));
	if (text == NULL || text[0] == '\0' || strcmp(text, "any") == 0)
		return 0;
	if (lull_net_mac_parse(text, source->mac) == 0) {
		source->kind = LULL_NET_SOURCE_MAC;
		return 0;
	}
	source->kind = LULL_NET_SOURCE_IP;
	return lull_net_ip_parse(text, &source->ip);
}
