/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of outer packets in fragments the first one is looked into, and what it carries ends with it. Its
 * later pieces follow it by its name (fragment.h).
 */
#include "tunnel.h"

#include "link.h"

#define PROTO_IPV4 4
#define PROTO_IPV6 41
#define PROTO_GRE 47
#define PROTO_AUTHENTICATION 51

#define PORT_GTP 2152
#define PORT_TEREDO 3544
#define PORT_VXLAN 4789
#define PORT_VXLAN_GPE 4790
#define PORT_VXLAN_LINUX 8472
#define PORT_GENEVE 6081

#define GRE_CHECKSUM 0x8000u
#define GRE_ROUTING 0x4000u
#define GRE_KEY 0x2000u
#define GRE_SEQUENCE 0x1000u
#define GRE_ACKNOWLEDGE 0x0080u
#define GRE_ERSPAN2 0x88beu /* type I, too, when there is no sequence number */
#define GRE_ERSPAN3 0x22ebu

#define VXLAN_VNI 0x08u
#define VXLAN_PROTO 0x04u
#define VXLAN_OTHER 0x31u /* another version, or not for the user */
#define GPE_IPV4 1
#define GPE_IPV6 2
#define GPE_ETHERNET 3
#define GPE_MPLS 5
#define ETHER_MPLS 0x8847u

#define GTP_DATA 255
#define GTP_EXTENSIONS_MAX 8

/* Take @p count bytes: they can be read, and the walk stands behind them. */
static bool
tunnel_take(struct lull_flow_walk *walk, uint32_t count)
{
	if (lull_flow_walk_need(walk, walk->offset, count) != LULL_FLOW_OK)
		return false;
	walk->offset += count;
	return true;
}

/* What an EtherType announces inside a tunnel. */
static bool
tunnel_type(struct lull_flow_walk *walk, uint16_t type)
{
	enum lull_flow_cause cause;

	if (type == LULL_ETHER_BRIDGED)
		cause = lull_flow_link_ethernet(walk);
	else if (type == LULL_ETHER_PPP)
		cause = lull_flow_link_ppp(walk);
	else
		cause = lull_flow_link_type(walk, type);
	return cause == LULL_FLOW_OK;
}

static bool
tunnel_erspan(struct lull_flow_walk *walk, uint16_t type, bool numbered)
{
	uint32_t start = walk->offset;

	if (type == GRE_ERSPAN2) {
		if (numbered && !tunnel_take(walk, 8))
			return false;
	} else {
		if (!tunnel_take(walk, 12))
			return false;
		if ((lull_flow_walk_u8(walk, start + 11) & 1) != 0 && !tunnel_take(walk, 8))
			return false;
	}
	return lull_flow_link_ethernet(walk) == LULL_FLOW_OK;
}

static bool
tunnel_gre(struct lull_flow_walk *walk)
{
	uint32_t start = walk->offset, bytes;
	uint16_t flags, type;
	bool numbered;

	if (!tunnel_take(walk, 4))
		return false;
	flags = lull_flow_walk_u16(walk, start);
	type = lull_flow_walk_u16(walk, start + 2);
	numbered = (flags & GRE_SEQUENCE) != 0;
	bytes = ((flags & GRE_KEY) != 0 ? 4 : 0) + (numbered ? 4 : 0);
	if ((flags & 7) == 1) { /* PPTP (RFC 2637); without a number it only acknowledges */
		bytes += (flags & GRE_ACKNOWLEDGE) != 0 ? 4 : 0;
		return type == LULL_ETHER_PPP && numbered && tunnel_take(walk, bytes) &&
		       lull_flow_link_ppp(walk) == LULL_FLOW_OK;
	}
	bytes += (flags & GRE_CHECKSUM) != 0 ? 4 : 0;
	if ((flags & 7) != 0 || (flags & GRE_ROUTING) != 0 || !tunnel_take(walk, bytes))
		return false;
	if ((flags & GRE_KEY) != 0)
		lull_flow_walk_tunnel(
			walk, LULL_FLOW_KEY_GRE, LULL_FLOW_TUNNEL_GRE,
			lull_flow_walk_u32(walk, start + ((flags & GRE_CHECKSUM) != 0 ? 8 : 4)));
	if (type == GRE_ERSPAN2 || type == GRE_ERSPAN3)
		return tunnel_erspan(walk, type, numbered);
	return tunnel_type(walk, type);
}

static bool
tunnel_vxlan(struct lull_flow_walk *walk)
{
	uint32_t start = walk->offset;

	if (!tunnel_take(walk, 8) || (lull_flow_walk_u8(walk, start) & VXLAN_VNI) == 0)
		return false;
	lull_flow_walk_tunnel(walk, LULL_FLOW_KEY_VNI, LULL_FLOW_TUNNEL_VXLAN,
			      lull_flow_walk_u32(walk, start + 4) >> 8);
	return lull_flow_link_ethernet(walk) == LULL_FLOW_OK;
}

/* draft-ietf-nvo3-vxlan-gpe: without its flag the next protocol is Ethernet. */
static bool
tunnel_vxlan_gpe(struct lull_flow_walk *walk)
{
	uint32_t start = walk->offset;
	uint8_t flags, next;

	if (!tunnel_take(walk, 8))
		return false;
	flags = lull_flow_walk_u8(walk, start);
	next = (flags & VXLAN_PROTO) != 0 ? lull_flow_walk_u8(walk, start + 3) : GPE_ETHERNET;
	if ((flags & VXLAN_OTHER) != 0)
		return false;
	if ((flags & VXLAN_VNI) != 0)
		lull_flow_walk_tunnel(walk, LULL_FLOW_KEY_VNI, LULL_FLOW_TUNNEL_VXLAN,
				      lull_flow_walk_u32(walk, start + 4) >> 8);
	switch (next) {
	case GPE_IPV4:
		return tunnel_type(walk, LULL_ETHER_IPV4);
	case GPE_IPV6:
		return tunnel_type(walk, LULL_ETHER_IPV6);
	case GPE_ETHERNET:
		return tunnel_type(walk, LULL_ETHER_BRIDGED);
	case GPE_MPLS:
		return tunnel_type(walk, ETHER_MPLS);
	default:
		return false;
	}
}

static bool
tunnel_geneve(struct lull_flow_walk *walk)
{
	uint32_t start = walk->offset;
	uint8_t first;

	if (!tunnel_take(walk, 8))
		return false;
	first = lull_flow_walk_u8(walk, start);
	lull_flow_walk_tunnel(walk, LULL_FLOW_KEY_VNI, LULL_FLOW_TUNNEL_GENEVE,
			      lull_flow_walk_u32(walk, start + 4) >> 8);
	return first >> 6 == 0 && tunnel_take(walk, (first & 0x3fu) * 4) &&
	       tunnel_type(walk, lull_flow_walk_u16(walk, start + 2));
}

static bool
tunnel_gtp(struct lull_flow_walk *walk)
{
	uint32_t start = walk->offset;
	uint8_t flags, next;

	if (!tunnel_take(walk, 8))
		return false;
	flags = lull_flow_walk_u8(walk, start);
	if ((flags & 0xf0) != 0x30 || lull_flow_walk_u8(walk, start + 1) != GTP_DATA)
		return false;
	lull_flow_walk_tunnel(walk, LULL_FLOW_KEY_TEID, LULL_FLOW_TUNNEL_GTP,
			      lull_flow_walk_u32(walk, start + 4));
	if ((flags & 0x07) != 0 && !tunnel_take(walk, 4))
		return false;
	next = (flags & 0x04) != 0 ? lull_flow_walk_u8(walk, start + 11) : 0;
	for (unsigned int i = 0; next != 0; i++) {
		uint32_t words;

		if (i == GTP_EXTENSIONS_MAX || !tunnel_take(walk, 1))
			return false;
		words = lull_flow_walk_u8(walk, walk->offset - 1);
		if (words == 0 || !tunnel_take(walk, words * 4 - 1))
			return false;
		next = lull_flow_walk_u8(walk, walk->offset - 1);
	}
	return lull_flow_link_raw(walk) == LULL_FLOW_OK;
}

/* RFC 4380: authentication and origin may stand before the IPv6 header. */
static bool
tunnel_teredo(struct lull_flow_walk *walk)
{
	uint32_t start = walk->offset;

	if (lull_flow_walk_need(walk, start, 4) != LULL_FLOW_OK)
		return false;
	if (lull_flow_walk_u16(walk, start) == 1) {
		uint32_t bytes = 13u + lull_flow_walk_u8(walk, start + 2) +
				 lull_flow_walk_u8(walk, start + 3);

		if (!tunnel_take(walk, bytes))
			return false;
	}
	if (lull_flow_walk_need(walk, walk->offset, 8) != LULL_FLOW_OK)
		return false;
	if (lull_flow_walk_u16(walk, walk->offset) == 0)
		walk->offset += 8;
	walk->version = 6;
	return true;
}

static bool
tunnel_udp_port(struct lull_flow_walk *walk, uint16_t port)
{
	switch (port) {
	case PORT_VXLAN:
	case PORT_VXLAN_LINUX:
		return tunnel_vxlan(walk);
	case PORT_VXLAN_GPE:
		return tunnel_vxlan_gpe(walk);
	case PORT_GENEVE:
		return tunnel_geneve(walk);
	case PORT_GTP:
		return tunnel_gtp(walk);
	case PORT_TEREDO:
		return tunnel_teredo(walk);
	default:
		return false;
	}
}

/* By the port it is sent to; Teredo's servers and relays also answer from it. */
static bool
tunnel_udp(struct lull_flow_walk *walk)
{
	uint32_t start = walk->offset;
	uint16_t source;

	if (!tunnel_take(walk, 8))
		return false;
	source = lull_flow_walk_u16(walk, start);
	return tunnel_udp_port(walk, source == PORT_TEREDO ? source :
							     lull_flow_walk_u16(walk, start + 2));
}

static bool
tunnel_payload(struct lull_flow_walk *walk, uint8_t proto)
{
	switch (proto) {
	case PROTO_IPV4:
		walk->version = 4;
		return true;
	case PROTO_IPV6:
		walk->version = 6;
		return true;
	case PROTO_GRE:
		return tunnel_gre(walk);
	case LULL_FLOW_PROTO_UDP:
		return tunnel_udp(walk);
	default:
		return false;
	}
}

/* Behind the authentication header of IPv4: the same packet, by what it protects (RFC 4302). */
static bool
tunnel_authentication(struct lull_flow_walk *walk, struct lull_flow_ip *ip)
{
	struct lull_flow_transport transport;
	struct lull_flow_ip inner = *ip;

	if (lull_flow_walk_need(walk, ip->payload, 12) != LULL_FLOW_OK)
		return false;
	inner.proto = lull_flow_walk_u8(walk, ip->payload);
	inner.payload += (lull_flow_walk_u8(walk, ip->payload + 1) + 2u) * 4;
	if (inner.payload > ip->end ||
	    lull_flow_walk_need(walk, inner.payload, 0) != LULL_FLOW_OK ||
	    lull_flow_ip_transport(walk, &inner, &transport) != LULL_FLOW_OK)
		return false;
	*ip = inner;
	return true;
}

bool
lull_flow_tunnel_enter(struct lull_flow_walk *walk, struct lull_flow_ip *ip)
{
	struct lull_flow_walk inner_walk = *walk;
	struct lull_flow_transport transport;
	struct lull_flow_ip inner;

	if (ip->fragment_offset != 0)
		return false;
	if (ip->version == 4 && ip->proto == PROTO_AUTHENTICATION)
		return tunnel_authentication(walk, ip);
	inner_walk.offset = ip->payload;
	if (!tunnel_payload(&inner_walk, ip->proto) ||
	    lull_flow_ip_read(&inner_walk, &inner) != LULL_FLOW_OK)
		return false;
	if (inner.end > ip->end && !ip->fragment)
		return false;
	inner.end = LULL_MIN(inner.end, ip->end);
	/* A flow without ports is worse than the outer one. */
	if (inner.fragment_offset == 0 &&
	    lull_flow_ip_transport(&inner_walk, &inner, &transport) != LULL_FLOW_OK)
		return false;
	*walk = inner_walk;
	*ip = inner;
	return true;
}
