/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame.h"

#include <string.h>

#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define UDP_BYTES 8
#define TYPE_IPV4 0x0800
#define TYPE_IPV6 0x86dd
#define HOPS 64
#define PROTOCOL_UDP 17
#define IPV4_AT 12 /* in an IPv4-mapped address */

static uint8_t *
put_16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

static uint8_t *
put_bytes(uint8_t *at, const void *bytes, size_t count)
{
	memcpy(at, bytes, count);
	return at + count;
}

static bool
frame_is4(const struct lull_net_outgoing *packet)
{
	return lull_net_ip_is4(&packet->destination);
}

uint32_t
lull_net_frame_head(const struct lull_net_outgoing *packet)
{
	if (packet->ether_type != 0)
		return LULL_NET_ETHERNET_BYTES;
	return LULL_NET_ETHERNET_BYTES + (frame_is4(packet) ? IPV4_BYTES : IPV6_BYTES) + UDP_BYTES;
}

uint32_t
lull_net_frame_mtu(const struct lull_net_outgoing *packet)
{
	return lull_net_frame_head(packet) - LULL_NET_ETHERNET_BYTES + packet->len_bytes;
}

/* ---- checksums ---- */

static uint32_t
sum_add(uint32_t sum, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i + 1 < count; i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	return count % 2 == 0 ? sum : sum + ((uint32_t)bytes[count - 1] << 8);
}

/* A packet has fewer than 65536 words, so the sum did not overflow. */
static uint32_t
sum_end(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

/* @p ip: where its header begins; that of UDP follows. */
static uint32_t
sum_udp6(const uint8_t *ip, const struct lull_net_outgoing *packet)
{
	uint32_t sum = PROTOCOL_UDP + UDP_BYTES + packet->len_bytes;

	sum = sum_add(sum, ip + 8, 32 + UDP_BYTES);
	sum = sum_end(sum_add(sum, packet->data, packet->len_bytes));
	return sum != 0 ? sum : 0xffff; /* 0 would say that there is none */
}

/* ---- headers ---- */

static uint8_t *
put_ipv4(uint8_t *at, const struct lull_net_outgoing *packet)
{
	uint8_t *begin = at;

	at = put_16(at, 0x4500);
	at = put_16(at, IPV4_BYTES + UDP_BYTES + packet->len_bytes);
	at = put_16(at, 0);
	at = put_16(at, 0x4000); /* not to be cut into fragments */
	at = put_16(at, HOPS << 8 | PROTOCOL_UDP);
	at = put_16(at, 0);
	at = put_bytes(at, packet->source.bytes + IPV4_AT, 4);
	at = put_bytes(at, packet->destination.bytes + IPV4_AT, 4);
	put_16(begin + 10, sum_end(sum_add(0, begin, IPV4_BYTES)));
	return at;
}

static uint8_t *
put_ipv6(uint8_t *at, const struct lull_net_outgoing *packet)
{
	at = put_16(at, 0x6000);
	at = put_16(at, 0);
	at = put_16(at, UDP_BYTES + packet->len_bytes);
	at = put_16(at, PROTOCOL_UDP << 8 | HOPS);
	at = put_bytes(at, packet->source.bytes, sizeof(packet->source.bytes));
	return put_bytes(at, packet->destination.bytes, sizeof(packet->destination.bytes));
}

void
lull_net_frame_write(uint8_t *frame, const struct lull_net_outgoing *packet, bool checksum)
{
	static const uint8_t unknown[LULL_NET_MAC_SIZE];
	uint8_t *at = frame, *ip;

	at = put_bytes(at, packet->mac != NULL ? packet->mac : unknown, sizeof(unknown));
	at = put_bytes(at, packet->source_mac != NULL ? packet->source_mac : unknown,
		       sizeof(unknown));
	if (packet->ether_type != 0) {
		put_16(at, packet->ether_type);
		return;
	}
	ip = put_16(at, frame_is4(packet) ? TYPE_IPV4 : TYPE_IPV6);
	at = frame_is4(packet) ? put_ipv4(ip, packet) : put_ipv6(ip, packet);
	at = put_16(at, packet->source_port);
	at = put_16(at, packet->port);
	at = put_16(at, UDP_BYTES + packet->len_bytes);
	put_16(at, 0);
	if (checksum && !frame_is4(packet))
		put_16(at, sum_udp6(ip, packet));
}
