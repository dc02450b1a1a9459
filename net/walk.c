/* SPDX-License-Identifier: BSD-3-Clause */
#include "walk.h"

#define ETHER_SIZE 14
#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define TYPE_VLAN 0x8100
#define TYPE_QINQ 0x88a8
#define VLAN_SIZE 4
#define VLAN_DEPTH 2
#define UDP 17
#define UDP_SIZE 8
#define IPV4_SIZE 20
#define IPV6_SIZE 40
#define IPV6_HEADERS_MAX 4
#define IPV6_FRAGMENT 44
#define IPV6_ROUTING 43

static uint32_t
walk_16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

/* @p size: as IP says, of which @p left are there. */
static enum lull_net_walk
walk_udp(const uint8_t *at, size_t size, size_t left, struct lull_net_walked *walked)
{
	uint32_t length;

	if (left < UDP_SIZE)
		return LULL_NET_WALK_MALFORMED;
	length = walk_16(at + 4);
	if (length < UDP_SIZE || length > size)
		return LULL_NET_WALK_MALFORMED;
	walked->source_port = (uint16_t)walk_16(at);
	walked->port = (uint16_t)walk_16(at + 2);
	walked->data = at + UDP_SIZE;
	walked->len_bytes = (uint32_t)(length <= left ? length : left) - UDP_SIZE;
	return length <= left ? LULL_NET_WALK_UDP : LULL_NET_WALK_CUT;
}

static enum lull_net_walk
walk_ipv4(const uint8_t *at, size_t left, struct lull_net_walked *walked)
{
	size_t header, total;

	if (left < IPV4_SIZE || at[0] >> 4 != 4)
		return LULL_NET_WALK_MALFORMED;
	header = (size_t)(at[0] & 15) * 4;
	total = walk_16(at + 2);
	if (header < IPV4_SIZE || total < header || header > left)
		return LULL_NET_WALK_MALFORMED;
	if (at[9] != UDP)
		return LULL_NET_WALK_OTHER;
	if ((walk_16(at + 6) & 0x3fff) != 0) /* more fragments, or an offset */
		return LULL_NET_WALK_FRAGMENT;
	walked->ip = at;
	walked->source = lull_net_ip_from4(at + 12);
	walked->destination = lull_net_ip_from4(at + 16);
	return walk_udp(at + header, total - header, (total < left ? total : left) - header,
			walked);
}

static bool
walk_ipv6_steps_over(uint8_t next)
{
	return next == 0 || next == IPV6_ROUTING ||
	       next == 60; /* hop by hop, routing, destination */
}

static enum lull_net_walk
walk_ipv6(const uint8_t *at, size_t left, struct lull_net_walked *walked)
{
	const uint8_t *header = at;
	size_t size;
	uint8_t next;

	if (left < IPV6_SIZE || at[0] >> 4 != 6)
		return LULL_NET_WALK_MALFORMED;
	size = walk_16(at + 4);
	left = size < left - IPV6_SIZE ? size : left - IPV6_SIZE;
	next = at[6];
	walked->ip = at;
	at += IPV6_SIZE;
	for (uint32_t i = 0; i < IPV6_HEADERS_MAX && walk_ipv6_steps_over(next); i++) {
		size_t step;

		if (left < 8)
			return LULL_NET_WALK_MALFORMED;
		step = ((size_t)at[1] + 1) * 8;
		if (step > left)
			return LULL_NET_WALK_MALFORMED;
		if (next == IPV6_ROUTING)
			walked->ip = NULL;
		next = at[0];
		at += step;
		size -= step;
		left -= step;
	}
	if (next == IPV6_FRAGMENT)
		return LULL_NET_WALK_FRAGMENT;
	if (next != UDP)
		return LULL_NET_WALK_OTHER;
	memcpy(walked->source.bytes, header + 8, sizeof(walked->source.bytes));
	memcpy(walked->destination.bytes, header + 24, sizeof(walked->destination.bytes));
	return walk_udp(at, size, left, walked);
}

enum lull_net_walk
lull_net_walk(const uint8_t *frame, size_t len_bytes, struct lull_net_walked *walked)
{
	const uint8_t *at = frame + ETHER_SIZE;
	size_t left = len_bytes - ETHER_SIZE;
	uint32_t type;

	if (len_bytes < ETHER_SIZE)
		return LULL_NET_WALK_MALFORMED;
	type = walk_16(frame + 12);
	for (uint32_t i = 0; i < VLAN_DEPTH && (type == TYPE_VLAN || type == TYPE_QINQ); i++) {
		if (left < VLAN_SIZE)
			return LULL_NET_WALK_MALFORMED;
		type = walk_16(at + 2);
		at += VLAN_SIZE;
		left -= VLAN_SIZE;
	}
	walked->mac = frame + LULL_NET_MAC_SIZE;
	walked->ether_type = (uint16_t)type;
	if (type == TYPE_IPV4)
		return walk_ipv4(at, left, walked);
	if (type == TYPE_IPV6)
		return walk_ipv6(at, left, walked);
	walked->data = at;
	walked->len_bytes = (uint32_t)left;
	return LULL_NET_WALK_ETHERNET;
}
