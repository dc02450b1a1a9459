/* SPDX-License-Identifier: BSD-3-Clause */
#include "ip.h"

#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define TCP_BYTES 20
#define UDP_BYTES 8

#define HEADER_HOPS 0 /* hop-by-hop options */
#define HEADER_ROUTING 43
#define HEADER_FRAGMENT 44
#define HEADER_AUTHENTICATION 51
#define HEADER_NONE 59
#define HEADER_TARGET 60 /* destination options */
/* More of them than this are taken for noise. */
#define HEADERS_MAX 16
#define OPTION_PAD 0
#define OPTION_JUMBO 0xc2

/* Payload of the smallest Ethernet frame: no more than this can be padding. */
#define PADDING_BYTES_MAX 46

static enum lull_flow_cause
ip_read_v4(struct lull_flow_walk *walk, struct lull_flow_ip *ip)
{
	uint32_t offset = walk->offset, total, header_bytes;
	enum lull_flow_cause cause = lull_flow_walk_need(walk, offset, IPV4_BYTES);
	uint16_t fragment;

	if (cause != LULL_FLOW_OK)
		return cause;
	header_bytes = (lull_flow_walk_u8(walk, offset) & 0xfu) * 4;
	total = lull_flow_walk_u16(walk, offset + 2);
	fragment = lull_flow_walk_u16(walk, offset + 6);
	if (total == 0) /* left to the card that would have cut it into segments */
		total = walk->end - offset;
	if (header_bytes < IPV4_BYTES || total < header_bytes)
		return LULL_FLOW_MALFORMED;
	ip->version = 4;
	ip->proto = lull_flow_walk_u8(walk, offset + 9);
	ip->offset = offset;
	ip->payload = offset + header_bytes;
	ip->end = offset + total;
	ip->source = (uint16_t)(offset + 12);
	ip->target = (uint16_t)(offset + 16);
	ip->fragment_offset = fragment & 0x1fff;
	ip->fragment = (fragment & 0x3fff) != 0;
	ip->fragment_id = lull_flow_walk_u16(walk, offset + 4);
	lull_flow_walk_limit(walk, ip->end);
	return lull_flow_walk_need(walk, ip->payload, 0);
}

/* The length in a jumbo payload option (RFC 2675) of the options at @p offset, 0: none. */
static uint32_t
ip_jumbo_bytes(const struct lull_flow_walk *walk, uint32_t offset, uint32_t end)
{
	while (offset + 6 <= end) {
		uint8_t option = lull_flow_walk_u8(walk, offset);

		if (option == OPTION_JUMBO)
			return lull_flow_walk_u32(walk, offset + 2);
		offset += option == OPTION_PAD ? 1 : 2u + lull_flow_walk_u8(walk, offset + 1);
	}
	return 0;
}

/* Payload length 0 of IPv6: a jumbogram, left to the card, or none. */
static enum lull_flow_cause
ip_unsaid_bytes(const struct lull_flow_walk *walk, uint32_t offset, uint8_t next, uint32_t *bytes)
{
	uint32_t rest = walk->end - offset, jumbo, end;
	enum lull_flow_cause cause;

	*bytes = rest > PADDING_BYTES_MAX && next != HEADER_NONE ? rest : 0;
	if (next != HEADER_HOPS || rest == 0)
		return LULL_FLOW_OK;
	cause = lull_flow_walk_need(walk, offset, 8);
	if (cause != LULL_FLOW_OK)
		return cause;
	end = offset + 8 + lull_flow_walk_u8(walk, offset + 1) * 8u;
	cause = lull_flow_walk_need(walk, end, 0);
	if (cause != LULL_FLOW_OK)
		return cause;
	jumbo = ip_jumbo_bytes(walk, offset + 2, end);
	if (jumbo > rest)
		return LULL_FLOW_MALFORMED;
	if (jumbo != 0)
		*bytes = jumbo;
	return LULL_FLOW_OK;
}

static void
ip_fragment_v6(const struct lull_flow_walk *walk, uint32_t offset, struct lull_flow_ip *ip)
{
	uint16_t fragment = lull_flow_walk_u16(walk, offset + 2);

	ip->fragment_offset = fragment >> 3;
	ip->fragment = (fragment & 0xfff9) != 0; /* else whole, in one "atomic" fragment */
	ip->fragment_id = lull_flow_walk_u32(walk, offset + 4);
}

/* Walk the extension headers; ip->proto and ip->payload are those of the first one. */
static enum lull_flow_cause
ip_extensions(const struct lull_flow_walk *walk, struct lull_flow_ip *ip)
{
	for (unsigned int i = 0; i < HEADERS_MAX; i++) {
		uint32_t bytes = 8;
		enum lull_flow_cause cause;

		switch (ip->proto) {
		case HEADER_HOPS:
		case HEADER_ROUTING:
		case HEADER_TARGET:
		case HEADER_AUTHENTICATION:
		case HEADER_FRAGMENT:
			break;
		default:
			return lull_flow_walk_need(walk, ip->payload, 0);
		}
		/* What follows a later fragment's header is the middle of something. */
		if (ip->fragment_offset != 0)
			return LULL_FLOW_OK;
		cause = lull_flow_walk_need(walk, ip->payload, 8);
		if (cause != LULL_FLOW_OK)
			return cause;
		if (ip->proto == HEADER_FRAGMENT)
			ip_fragment_v6(walk, ip->payload, ip);
		else if (ip->proto == HEADER_AUTHENTICATION)
			bytes = (lull_flow_walk_u8(walk, ip->payload + 1) + 2u) * 4;
		else
			bytes += lull_flow_walk_u8(walk, ip->payload + 1) * 8u;
		ip->proto = lull_flow_walk_u8(walk, ip->payload);
		ip->payload += bytes;
	}
	return LULL_FLOW_MALFORMED;
}

static enum lull_flow_cause
ip_read_v6(struct lull_flow_walk *walk, struct lull_flow_ip *ip)
{
	uint32_t offset = walk->offset, bytes;
	enum lull_flow_cause cause = lull_flow_walk_need(walk, offset, IPV6_BYTES);

	if (cause != LULL_FLOW_OK)
		return cause;
	bytes = lull_flow_walk_u16(walk, offset + 4);
	ip->version = 6;
	ip->proto = lull_flow_walk_u8(walk, offset + 6);
	if (bytes == 0)
		cause = ip_unsaid_bytes(walk, offset + IPV6_BYTES, ip->proto, &bytes);
	if (cause != LULL_FLOW_OK)
		return cause;
	ip->offset = offset;
	ip->payload = offset + IPV6_BYTES;
	ip->end = ip->payload + bytes;
	ip->source = (uint16_t)(offset + 8);
	ip->target = (uint16_t)(offset + 24);
	ip->fragment_offset = 0;
	ip->fragment = false;
	ip->fragment_id = 0;
	lull_flow_walk_limit(walk, ip->end);
	if (ip->proto == LULL_FLOW_PROTO_TCP || ip->proto == LULL_FLOW_PROTO_UDP)
		return LULL_FLOW_OK;
	return ip_extensions(walk, ip);
}

enum lull_flow_cause
lull_flow_ip_read(struct lull_flow_walk *walk, struct lull_flow_ip *ip)
{
	enum lull_flow_cause cause = lull_flow_walk_need(walk, walk->offset, 1);
	uint8_t version;

	if (cause != LULL_FLOW_OK)
		return cause;
	version = lull_flow_walk_u8(walk, walk->offset) >> 4;
	if (walk->version != 0 && walk->version != version)
		return LULL_FLOW_MALFORMED;
	if (version == 4)
		return ip_read_v4(walk, ip);
	return version == 6 ? ip_read_v6(walk, ip) : LULL_FLOW_MALFORMED;
}

/* The others' ports are left at 0, SCTP's too: collectors and nDPI do the same. */
static bool
ip_has_ports(uint8_t proto)
{
	return proto == LULL_FLOW_PROTO_TCP || proto == LULL_FLOW_PROTO_UDP;
}

static void
ip_transport_tcp(const struct lull_flow_walk *walk, const struct lull_flow_ip *ip,
		 struct lull_flow_transport *transport)
{
	uint32_t header_bytes;

	if (lull_flow_walk_need(walk, ip->payload, TCP_BYTES) != LULL_FLOW_OK) {
		/* Behind the shortest header, if that is where the capture ends. */
		transport->payload = LULL_MIN(ip->payload + TCP_BYTES, ip->end);
		return;
	}
	transport->tcp_flags = lull_flow_walk_u8(walk, ip->payload + 13);
	header_bytes = (uint32_t)(lull_flow_walk_u8(walk, ip->payload + 12) >> 4) * 4;
	if (header_bytes < TCP_BYTES || header_bytes > ip->end - ip->payload)
		transport->payload = ip->end; /* the header lies: no payload is believed */
	else
		transport->payload = ip->payload + header_bytes;
}

static void
ip_transport_udp(const struct lull_flow_walk *walk, const struct lull_flow_ip *ip,
		 struct lull_flow_transport *transport)
{
	uint32_t bytes, rest;

	transport->payload = LULL_MIN(ip->payload + UDP_BYTES, ip->end);
	rest = ip->end - transport->payload;
	transport->payload_bytes = rest;
	if (lull_flow_walk_need(walk, ip->payload, UDP_BYTES) != LULL_FLOW_OK)
		return;
	bytes = lull_flow_walk_u16(walk, ip->payload + 4);
	/* More than there is: a fragment, or wrong. Less than a header: a jumbogram, or wrong. */
	if (bytes >= UDP_BYTES && bytes - UDP_BYTES < rest)
		transport->payload_bytes = bytes - UDP_BYTES;
}

enum lull_flow_cause
lull_flow_ip_transport(const struct lull_flow_walk *walk, const struct lull_flow_ip *ip,
		       struct lull_flow_transport *transport)
{
	*transport = (struct lull_flow_transport){ .payload = ip->payload };
	if (ip_has_ports(ip->proto)) {
		enum lull_flow_cause cause = lull_flow_walk_need(walk, ip->payload, 4);

		if (cause != LULL_FLOW_OK)
			return cause;
		transport->port[0] = lull_flow_walk_u16(walk, ip->payload);
		transport->port[1] = lull_flow_walk_u16(walk, ip->payload + 2);
	}
	if (ip->proto == LULL_FLOW_PROTO_UDP) {
		ip_transport_udp(walk, ip, transport);
		return LULL_FLOW_OK;
	}
	if (ip->proto == LULL_FLOW_PROTO_TCP)
		ip_transport_tcp(walk, ip, transport);
	transport->payload_bytes = ip->end - transport->payload;
	return LULL_FLOW_OK;
}
