/* SPDX-License-Identifier: BSD-3-Clause */
#include "medium.h"

#include "link.h"

/* LINKTYPE_ values of the pcap formats. */
#define LINK_NULL 0
#define LINK_TOKEN_RING 6
#define LINK_ARCNET 7
#define LINK_PPP 9
#define LINK_FDDI 10
#define LINK_RAW_BSD 12
#define LINK_RAW_OPENBSD 14
#define LINK_PPP_SERIAL 50
#define LINK_PPP_ETHER 51
#define LINK_RAW 101
#define LINK_C_HDLC 104
#define LINK_IEEE802_11 105
#define LINK_RELAY 107
#define LINK_LOOP 108
#define LINK_COOKED 113
#define LINK_RADIOTAP 127
#define LINK_ARCNET_LINUX 129
#define LINK_PPI 192
#define LINK_PPP_DIRECTED 204
#define LINK_C_HDLC_DIRECTED 205
#define LINK_RELAY_DIRECTED 206
#define LINK_IPNET 226
#define LINK_IPV4 228
#define LINK_IPV6 229
#define LINK_NFLOG 239
#define LINK_IPOIB 242
#define LINK_COOKED2 276

#define COOKED_LLC 0x0004u

#define ARCNET_IPV6 196
#define ARCNET_IP 212
#define ARCNET_IP_OLD 240
#define ARCNET_EXCEPTION 0xff

#define NLPID_SNAP 0x80
#define NLPID_IPV6 0x8e
#define NLPID_IPV4 0xcc
#define NLPID_PPP 0xcf
#define RELAY_UI 0x03
#define RELAY_BRIDGED 0x0080c2u
#define RELAY_ADDRESS_MAX 4

#define NFLOG_PAYLOAD 9
/* More of them than these are taken for noise. */
#define NFLOG_FIELDS_MAX 64
#define PRESENT_WORDS_MAX 16

/* @p type_offset and @p header_bytes: where the cooked header has its EtherType and its end. */
static enum lull_flow_cause
medium_cooked(struct lull_flow_walk *walk, uint32_t type_offset, uint32_t header_bytes)
{
	uint16_t type;

	LULL_FLOW_NEED(walk, header_bytes);
	type = lull_flow_walk_u16(walk, walk->offset + type_offset);
	walk->offset += header_bytes;
	if (type == COOKED_LLC)
		return lull_flow_link_llc(walk);
	/* Small numbers are Linux's own here, never lengths. */
	return type > LULL_ETHER_LENGTH_MAX ? lull_flow_link_type(walk, type) : LULL_FLOW_NOT_IP;
}

/* The address family of BSD loopback: in the byte order of the machine that captured. */
static enum lull_flow_cause
medium_family(struct lull_flow_walk *walk)
{
	uint32_t family;

	LULL_FLOW_NEED(walk, 4);
	family = lull_flow_walk_u32(walk, walk->offset);
	if (family > 0xffff)
		family = lull_flow_walk_u16_little(walk, walk->offset);
	walk->offset += 4;
	switch (family) {
	case 2:
		return lull_flow_link_promise(walk, 4);
	case 10: /* AF_INET6 of Linux */
	case 23: /* Windows */
	case 24: /* NetBSD, OpenBSD */
	case 28: /* FreeBSD */
	case 30: /* macOS */
		return lull_flow_link_promise(walk, 6);
	default:
		return LULL_FLOW_NOT_IP;
	}
}

static enum lull_flow_cause
medium_hdlc(struct lull_flow_walk *walk)
{
	uint16_t type;

	LULL_FLOW_NEED(walk, 4);
	type = lull_flow_walk_u16(walk, walk->offset + 2);
	walk->offset += 4;
	return type > LULL_ETHER_LENGTH_MAX ? lull_flow_link_type(walk, type) : LULL_FLOW_NOT_IP;
}

/* PPP on a serial line, which may speak Cisco's framing instead: its first byte tells. */
static enum lull_flow_cause
medium_serial(struct lull_flow_walk *walk)
{
	uint8_t first;

	LULL_FLOW_NEED(walk, 1);
	first = lull_flow_walk_u8(walk, walk->offset);
	return first == 0x0f || first == 0x8f ? medium_hdlc(walk) : lull_flow_link_ppp(walk);
}

/* @p padded: the header is filled up to a multiple of four bytes. */
static enum lull_flow_cause
medium_wireless(struct lull_flow_walk *walk, bool padded)
{
	uint32_t header_bytes = 24;
	uint8_t type, flags;
	bool quality;

	LULL_FLOW_NEED(walk, 24);
	type = lull_flow_walk_u8(walk, walk->offset);
	flags = lull_flow_walk_u8(walk, walk->offset + 1);
	/* Data that are there (not a null subtype), and not encrypted. */
	if ((type & 0x4f) != 0x08 || (flags & 0x40) != 0)
		return LULL_FLOW_NOT_IP;
	/* Pieces behind the first have no LLC. */
	if ((lull_flow_walk_u8(walk, walk->offset + 22) & 0x0f) != 0)
		return LULL_FLOW_NOT_IP;
	quality = (type & 0x80) != 0;
	header_bytes += (flags & 0x03) == 0x03 ? 6 : 0; /* a fourth address */
	if (quality) {
		LULL_FLOW_NEED(walk, header_bytes + 2);
		/* Several frames in one (A-MSDU) are not taken apart. */
		if ((lull_flow_walk_u8(walk, walk->offset + header_bytes) & 0x80) != 0)
			return LULL_FLOW_NOT_IP;
		header_bytes += 2;
		header_bytes += (flags & 0x80) != 0 ? 4 : 0; /* HT control */
	}
	walk->offset += padded ? (header_bytes + 3) & ~3u : header_bytes;
	return lull_flow_link_llc(walk);
}

/* Radiotap's flags: bit 1 of the present words, behind the 8-byte time of bit 0. */
static enum lull_flow_cause
medium_radiotap(struct lull_flow_walk *walk)
{
	uint32_t start = walk->offset, present, fields, len;
	uint8_t flags = 0;
	unsigned int i;

	LULL_FLOW_NEED(walk, 8);
	len = lull_flow_walk_u16_little(walk, start + 2);
	if (lull_flow_walk_u8(walk, start) != 0 || len < 8)
		return LULL_FLOW_MALFORMED;
	LULL_FLOW_NEED(walk, len);
	present = lull_flow_walk_u8(walk, start + 4);
	fields = 8;
	for (i = 0; (lull_flow_walk_u8(walk, start + fields - 1) & 0x80) != 0; i++) {
		fields += 4;
		if (i == PRESENT_WORDS_MAX || fields > len)
			return LULL_FLOW_MALFORMED;
	}
	if ((present & 1) != 0)
		fields = ((fields + 7) & ~7u) + 8;
	if ((present & 2) != 0 && fields < len)
		flags = lull_flow_walk_u8(walk, start + fields);
	walk->offset += len;
	return medium_wireless(walk, (flags & 0x20) != 0);
}

/* ---- rings and rows ---- */

/* 802.5; RIF: the way through the bridges, where the source's first bit says so. */
static enum lull_flow_cause
medium_token_ring(struct lull_flow_walk *walk)
{
	bool routed;

	LULL_FLOW_NEED(walk, 14);
	if ((lull_flow_walk_u8(walk, walk->offset + 1) & 0xc0) != 0x40)
		return LULL_FLOW_NOT_IP; /* the ring's own */
	routed = (lull_flow_walk_u8(walk, walk->offset + 8) & 0x80) != 0;
	walk->offset += 14;
	if (routed) {
		LULL_FLOW_NEED(walk, 2);
		walk->offset += lull_flow_walk_u8(walk, walk->offset) & 0x1f;
	}
	return lull_flow_link_llc(walk);
}

static enum lull_flow_cause
medium_fddi(struct lull_flow_walk *walk)
{
	LULL_FLOW_NEED(walk, 13);
	if ((lull_flow_walk_u8(walk, walk->offset) & 0x70) != 0x50)
		return LULL_FLOW_NOT_IP; /* the ring's own */
	walk->offset += 13;
	return lull_flow_link_llc(walk);
}

/* @p type_offset: behind the addresses, and with Linux two bytes more (RFC 1201, RFC 1051). */
static enum lull_flow_cause
medium_arcnet(struct lull_flow_walk *walk, uint32_t type_offset)
{
	uint32_t bytes = type_offset + 4;
	uint8_t type, flag;

	LULL_FLOW_NEED(walk, type_offset + 1);
	type = lull_flow_walk_u8(walk, walk->offset + type_offset);
	if (type == ARCNET_IP_OLD) {
		walk->offset += type_offset + 1;
		return lull_flow_link_promise(walk, 4);
	}
	if (type != ARCNET_IP && type != ARCNET_IPV6)
		return LULL_FLOW_NOT_IP;
	LULL_FLOW_NEED(walk, bytes);
	flag = lull_flow_walk_u8(walk, walk->offset + type_offset + 1);
	if (flag == ARCNET_EXCEPTION) { /* filled up to a length that the ring can send */
		bytes += 4;
		LULL_FLOW_NEED(walk, bytes);
	} else if (flag != 0 && (flag & 1) == 0) {
		return LULL_FLOW_NOT_IP; /* a later piece of a packet */
	}
	walk->offset += bytes;
	return lull_flow_link_promise(walk, type == ARCNET_IP ? 4 : 6);
}

/* RFC 2427, behind the NLPID of SNAP: a type, or a bridged frame. */
static enum lull_flow_cause
medium_relay_snap(struct lull_flow_walk *walk)
{
	uint32_t organization;
	uint16_t type;

	LULL_FLOW_NEED(walk, 5);
	organization = lull_flow_walk_u32(walk, walk->offset) >> 8;
	type = lull_flow_walk_u16(walk, walk->offset + 3);
	walk->offset += 5;
	if (organization == 0)
		return lull_flow_link_type(walk, type);
	if (organization == RELAY_BRIDGED && (type == 1 || type == 7)) /* with checksum, without */
		return lull_flow_link_ethernet(walk);
	return LULL_FLOW_NOT_IP;
}

static enum lull_flow_cause
medium_relay(struct lull_flow_walk *walk)
{
	uint16_t type;
	uint8_t next;

	/* The address: its last byte is odd. */
	for (unsigned int i = 0;; i++) {
		if (i == RELAY_ADDRESS_MAX)
			return LULL_FLOW_MALFORMED;
		LULL_FLOW_NEED(walk, 1);
		next = lull_flow_walk_u8(walk, walk->offset++);
		if ((next & 1) != 0)
			break;
	}
	LULL_FLOW_NEED(walk, 2);
	type = lull_flow_walk_u16(walk, walk->offset);
	if (type > LULL_ETHER_LENGTH_MAX) { /* Cisco's: no control byte */
		walk->offset += 2;
		return lull_flow_link_type(walk, type);
	}
	walk->offset += type == RELAY_UI << 8 ? 2 : 1; /* a zero for padding */
	if (type >> 8 != RELAY_UI)
		return LULL_FLOW_NOT_IP;
	LULL_FLOW_NEED(walk, 1);
	switch (lull_flow_walk_u8(walk, walk->offset++)) {
	case NLPID_IPV4:
		return lull_flow_link_promise(walk, 4);
	case NLPID_IPV6:
		return lull_flow_link_promise(walk, 6);
	case NLPID_SNAP:
		return medium_relay_snap(walk);
	case NLPID_PPP:
		return lull_flow_link_ppp(walk);
	default:
		return LULL_FLOW_NOT_IP;
	}
}

/* ---- headers that a capturing system wrote ---- */

/* Fields in the byte order of who captured: types are small, so their place tells it. */
static enum lull_flow_cause
medium_nflog(struct lull_flow_walk *walk)
{
	LULL_FLOW_NEED(walk, 4);
	if (lull_flow_walk_u8(walk, walk->offset + 1) != 0)
		return LULL_FLOW_NOT_IP; /* another version */
	walk->offset += 4;
	for (unsigned int i = 0; i < NFLOG_FIELDS_MAX; i++) {
		uint32_t length, type;

		LULL_FLOW_NEED(walk, 4);
		length = lull_flow_walk_u16_little(walk, walk->offset);
		type = lull_flow_walk_u16_little(walk, walk->offset + 2);
		if (type > UINT8_MAX) {
			length = lull_flow_walk_u16(walk, walk->offset);
			type = lull_flow_walk_u16(walk, walk->offset + 2);
		}
		if (length < 4)
			return LULL_FLOW_MALFORMED;
		if (type == NFLOG_PAYLOAD) {
			walk->offset += 4;
			return lull_flow_link_promise(walk, 0);
		}
		walk->offset += (length + 3) & ~3u;
	}
	return LULL_FLOW_MALFORMED;
}

/* RFC 4391 behind the global routing header. */
static enum lull_flow_cause
medium_ipoib(struct lull_flow_walk *walk)
{
	uint16_t type;

	LULL_FLOW_NEED(walk, 44);
	type = lull_flow_walk_u16(walk, walk->offset + 40);
	walk->offset += 44;
	return type > LULL_ETHER_LENGTH_MAX ? lull_flow_link_type(walk, type) : LULL_FLOW_NOT_IP;
}

/* Solaris: the family is its own number. */
static enum lull_flow_cause
medium_ipnet(struct lull_flow_walk *walk)
{
	uint8_t family;

	LULL_FLOW_NEED(walk, 24);
	family = lull_flow_walk_u8(walk, walk->offset + 1);
	walk->offset += 24;
	switch (family) {
	case 2:
		return lull_flow_link_promise(walk, 4);
	case 26:
		return lull_flow_link_promise(walk, 6);
	default:
		return LULL_FLOW_NOT_IP;
	}
}

/* One byte tells which way the frame went. */
static enum lull_flow_cause
medium_directed(struct lull_flow_walk *walk, uint16_t link_type)
{
	LULL_FLOW_NEED(walk, 1);
	walk->offset++;
	switch (link_type) {
	case LINK_PPP_DIRECTED:
		return medium_serial(walk);
	case LINK_C_HDLC_DIRECTED:
		return medium_hdlc(walk);
	default:
		return medium_relay(walk);
	}
}

/* Links of the last decades, beside those of today. */
static enum lull_flow_cause
medium_enter_rare(struct lull_flow_walk *walk, uint16_t link_type)
{
	switch (link_type) {
	case LINK_TOKEN_RING:
		return medium_token_ring(walk);
	case LINK_FDDI:
		return medium_fddi(walk);
	case LINK_ARCNET:
		return medium_arcnet(walk, 2);
	case LINK_ARCNET_LINUX:
		return medium_arcnet(walk, 4);
	case LINK_RELAY:
		return medium_relay(walk);
	case LINK_PPP_DIRECTED:
	case LINK_C_HDLC_DIRECTED:
	case LINK_RELAY_DIRECTED:
		return medium_directed(walk, link_type);
	case LINK_NFLOG:
		return medium_nflog(walk);
	case LINK_IPOIB:
		return medium_ipoib(walk);
	case LINK_IPNET:
		return medium_ipnet(walk);
	default:
		return LULL_FLOW_LINK;
	}
}

static enum lull_flow_cause
medium_enter(struct lull_flow_walk *walk, uint16_t link_type)
{
	switch (link_type) {
	case LULL_LINK_ETHERNET:
		return lull_flow_link_ethernet(walk);
	case LINK_RAW_BSD:
	case LINK_RAW_OPENBSD:
	case LINK_RAW:
		return lull_flow_link_promise(walk, 0);
	case LINK_IPV4:
		return lull_flow_link_promise(walk, 4);
	case LINK_IPV6:
		return lull_flow_link_promise(walk, 6);
	case LINK_COOKED:
		return medium_cooked(walk, 14, 16);
	case LINK_COOKED2:
		return medium_cooked(walk, 0, 20);
	case LINK_NULL:
	case LINK_LOOP:
		return medium_family(walk);
	case LINK_PPP:
	case LINK_PPP_SERIAL:
		return medium_serial(walk);
	case LINK_PPP_ETHER:
		return lull_flow_link_pppoe(walk);
	case LINK_C_HDLC:
		return medium_hdlc(walk);
	case LINK_IEEE802_11:
		return medium_wireless(walk, false);
	case LINK_RADIOTAP:
		return medium_radiotap(walk);
	default:
		return medium_enter_rare(walk, link_type);
	}
}

enum lull_flow_cause
lull_flow_medium_enter(struct lull_flow_walk *walk, uint16_t link_type)
{
	uint32_t start = walk->offset, inner;

	if (link_type != LINK_PPI)
		return medium_enter(walk, link_type);
	/* Per-packet information: the link type of what follows stands in it, little-endian. */
	LULL_FLOW_NEED(walk, 8);
	inner = lull_flow_walk_u16_little(walk, start + 4);
	walk->offset += lull_flow_walk_u16_little(walk, start + 2);
	if (lull_flow_walk_u8(walk, start) != 0 || walk->offset < start + 8)
		return LULL_FLOW_MALFORMED;
	return medium_enter(walk, (uint16_t)inner);
}
