/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

/* LINKTYPE_ values of the pcap formats. */
#define LINK_NULL 0
#define LINK_PPP 9
#define LINK_RAW_BSD 12
#define LINK_RAW_OPENBSD 14
#define LINK_PPP_SERIAL 50
#define LINK_PPP_ETHER 51
#define LINK_RAW 101
#define LINK_C_HDLC 104
#define LINK_IEEE802_11 105
#define LINK_LOOP 108
#define LINK_COOKED 113
#define LINK_RADIOTAP 127
#define LINK_IPV4 228
#define LINK_IPV6 229
#define LINK_COOKED2 276

#define ETHER_QINQ 0x88a8u
#define ETHER_QINQ_OLD1 0x9100u
#define ETHER_QINQ_OLD2 0x9200u
#define ETHER_QINQ_OLD3 0x9300u
#define ETHER_MPLS 0x8847u
#define ETHER_MPLS_UPSTREAM 0x8848u
#define ETHER_PPPOE 0x8864u
#define ETHER_LENGTH_MAX 1500u /* 802.3: what is not above is a length, and LLC follows */
#define COOKED_LLC 0x0004u

#define PPP_IPV4 0x0021u
#define PPP_IPV6 0x0057u
#define PPP_MPLS 0x0281u
#define PPP_MPLS_MULTICAST 0x0283u

/* Stacks higher than these are taken for noise. */
#define TAGS_MAX 8
#define LABELS_MAX 16
#define PRESENT_WORDS_MAX 16

#define NEED(walk, count)                                                                          \
	do {                                                                                       \
		enum lull_flow_cause need_cause =                                                  \
			lull_flow_walk_need(walk, (walk)->offset, count);                          \
		if (need_cause != LULL_FLOW_OK)                                                    \
			return need_cause;                                                         \
	} while (0)

static enum lull_flow_cause
link_promise(struct lull_flow_walk *walk, uint8_t version)
{
	walk->version = version;
	return LULL_FLOW_OK;
}

enum lull_flow_cause
lull_flow_link_raw(struct lull_flow_walk *walk)
{
	return link_promise(walk, 0);
}

static enum lull_flow_cause
link_mpls(struct lull_flow_walk *walk)
{
	for (unsigned int i = 0; i < LABELS_MAX; i++) {
		uint32_t label;
		bool bottom;

		NEED(walk, 4);
		label = lull_flow_walk_u16(walk, walk->offset) << 4 |
			lull_flow_walk_u8(walk, walk->offset + 2) >> 4;
		bottom = (lull_flow_walk_u8(walk, walk->offset + 2) & 1) != 0;
		walk->offset += 4;
		if (!bottom)
			continue;
		lull_flow_walk_label(walk, label);
		/* Labels do not say what they carry: its first bits do, where it is IP. */
		NEED(walk, 1);
		switch (lull_flow_walk_u8(walk, walk->offset) >> 4) {
		case 4:
			return link_promise(walk, 4);
		case 6:
			return link_promise(walk, 6);
		default:
			return LULL_FLOW_NOT_IP;
		}
	}
	return LULL_FLOW_MALFORMED;
}

enum lull_flow_cause
lull_flow_link_ppp(struct lull_flow_walk *walk)
{
	uint16_t protocol;

	NEED(walk, 2);
	if (lull_flow_walk_u16(walk, walk->offset) == 0xff03)
		walk->offset += 2;
	NEED(walk, 1);
	protocol = lull_flow_walk_u8(walk, walk->offset);
	if ((protocol & 1) != 0) { /* written in one byte: odd ends it (RFC 1661, 6.5) */
		walk->offset += 1;
	} else {
		NEED(walk, 2);
		protocol = lull_flow_walk_u16(walk, walk->offset);
		walk->offset += 2;
	}
	switch (protocol) {
	case PPP_IPV4:
		return link_promise(walk, 4);
	case PPP_IPV6:
		return link_promise(walk, 6);
	case PPP_MPLS:
	case PPP_MPLS_MULTICAST:
		return link_mpls(walk);
	default:
		return LULL_FLOW_NOT_IP;
	}
}

static enum lull_flow_cause
link_pppoe(struct lull_flow_walk *walk)
{
	NEED(walk, 6);
	if (lull_flow_walk_u8(walk, walk->offset + 1) != 0)
		return LULL_FLOW_NOT_IP; /* discovery, not session data */
	walk->offset += 6;
	return lull_flow_link_ppp(walk);
}

static bool
link_is_tag(uint16_t type)
{
	return type == LULL_ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD1 ||
	       type == ETHER_QINQ_OLD2 || type == ETHER_QINQ_OLD3;
}

/* Walk behind the tags, if any; @p type is then that of what follows. */
static enum lull_flow_cause
link_tags(struct lull_flow_walk *walk, uint16_t *type)
{
	for (unsigned int i = 0; link_is_tag(*type); i++) {
		if (i == TAGS_MAX)
			return LULL_FLOW_MALFORMED;
		NEED(walk, 4);
		if (!walk->tagged)
			walk->vlan_id = lull_flow_walk_u16(walk, walk->offset) & 0xfff;
		walk->tagged = true;
		*type = lull_flow_walk_u16(walk, walk->offset + 2);
		walk->offset += 4;
	}
	return LULL_FLOW_OK;
}

static enum lull_flow_cause
link_untagged(struct lull_flow_walk *walk, uint16_t type)
{
	switch (type) {
	case LULL_ETHER_IPV4:
		return link_promise(walk, 4);
	case LULL_ETHER_IPV6:
		return link_promise(walk, 6);
	case ETHER_MPLS:
	case ETHER_MPLS_UPSTREAM:
		return link_mpls(walk);
	case ETHER_PPPOE:
		return link_pppoe(walk);
	default:
		return LULL_FLOW_NOT_IP;
	}
}

static enum lull_flow_cause
link_llc(struct lull_flow_walk *walk)
{
	enum lull_flow_cause cause;
	uint16_t points, type;

	NEED(walk, 3);
	points = lull_flow_walk_u16(walk, walk->offset);
	if (points == 0x0606) { /* IP without SNAP */
		walk->offset += 3;
		return link_promise(walk, 4);
	}
	if (points != 0xaaaa)
		return LULL_FLOW_NOT_IP;
	NEED(walk, 8);
	/* RFC 1042, and bridged tunnels (802.1H): an EtherType follows. */
	if (lull_flow_walk_u16(walk, walk->offset + 3) != 0 ||
	    (lull_flow_walk_u8(walk, walk->offset + 5) & 0x07) != 0)
		return LULL_FLOW_NOT_IP;
	type = lull_flow_walk_u16(walk, walk->offset + 6);
	walk->offset += 8;
	cause = link_tags(walk, &type);
	return cause == LULL_FLOW_OK ? link_untagged(walk, type) : cause;
}

enum lull_flow_cause
lull_flow_link_type(struct lull_flow_walk *walk, uint16_t type)
{
	enum lull_flow_cause cause = link_tags(walk, &type);

	if (cause != LULL_FLOW_OK)
		return cause;
	return type <= ETHER_LENGTH_MAX ? link_llc(walk) : link_untagged(walk, type);
}

enum lull_flow_cause
lull_flow_link_ethernet(struct lull_flow_walk *walk)
{
	uint16_t type;

	NEED(walk, 14);
	type = lull_flow_walk_u16(walk, walk->offset + 12);
	walk->offset += 14;
	if (type == LULL_ETHER_IPV4)
		return link_promise(walk, 4);
	return lull_flow_link_type(walk, type);
}

/* @p type_offset and @p header_bytes: where the cooked header has its EtherType and its end. */
static enum lull_flow_cause
link_cooked(struct lull_flow_walk *walk, uint32_t type_offset, uint32_t header_bytes)
{
	uint16_t type;

	NEED(walk, header_bytes);
	type = lull_flow_walk_u16(walk, walk->offset + type_offset);
	walk->offset += header_bytes;
	if (type == COOKED_LLC)
		return link_llc(walk);
	/* Small numbers are Linux's own here, never lengths. */
	return type > ETHER_LENGTH_MAX ? lull_flow_link_type(walk, type) : LULL_FLOW_NOT_IP;
}

/* The address family of BSD loopback: in the byte order of the machine that captured. */
static enum lull_flow_cause
link_family(struct lull_flow_walk *walk)
{
	uint32_t family;

	NEED(walk, 4);
	family = lull_flow_walk_u32(walk, walk->offset);
	if (family > 0xffff)
		family = lull_flow_walk_u16_little(walk, walk->offset);
	walk->offset += 4;
	switch (family) {
	case 2:
		return link_promise(walk, 4);
	case 10: /* AF_INET6 of Linux */
	case 23: /* Windows */
	case 24: /* NetBSD, OpenBSD */
	case 28: /* FreeBSD */
	case 30: /* macOS */
		return link_promise(walk, 6);
	default:
		return LULL_FLOW_NOT_IP;
	}
}

static enum lull_flow_cause
link_hdlc(struct lull_flow_walk *walk)
{
	uint16_t type;

	NEED(walk, 4);
	type = lull_flow_walk_u16(walk, walk->offset + 2);
	walk->offset += 4;
	return type > ETHER_LENGTH_MAX ? lull_flow_link_type(walk, type) : LULL_FLOW_NOT_IP;
}

/* PPP on a serial line, which may speak Cisco's framing instead: its first byte tells. */
static enum lull_flow_cause
link_serial(struct lull_flow_walk *walk)
{
	uint8_t first;

	NEED(walk, 1);
	first = lull_flow_walk_u8(walk, walk->offset);
	return first == 0x0f || first == 0x8f ? link_hdlc(walk) : lull_flow_link_ppp(walk);
}

/* @p padded: the header is filled up to a multiple of four bytes. */
static enum lull_flow_cause
link_wireless(struct lull_flow_walk *walk, bool padded)
{
	uint32_t header_bytes = 24;
	uint8_t type, flags;
	bool quality;

	NEED(walk, 24);
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
		NEED(walk, header_bytes + 2);
		/* Several frames in one (A-MSDU) are not taken apart. */
		if ((lull_flow_walk_u8(walk, walk->offset + header_bytes) & 0x80) != 0)
			return LULL_FLOW_NOT_IP;
		header_bytes += 2;
		header_bytes += (flags & 0x80) != 0 ? 4 : 0; /* HT control */
	}
	walk->offset += padded ? (header_bytes + 3) & ~3u : header_bytes;
	return link_llc(walk);
}

/* Radiotap's flags: bit 1 of the present words, behind the 8-byte time of bit 0. */
static enum lull_flow_cause
link_radiotap(struct lull_flow_walk *walk)
{
	uint32_t start = walk->offset, present, fields, len;
	uint8_t flags = 0;
	unsigned int i;

	NEED(walk, 8);
	len = lull_flow_walk_u16_little(walk, start + 2);
	if (lull_flow_walk_u8(walk, start) != 0 || len < 8)
		return LULL_FLOW_MALFORMED;
	NEED(walk, len);
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
	return link_wireless(walk, (flags & 0x20) != 0);
}

enum lull_flow_cause
lull_flow_link_enter(struct lull_flow_walk *walk, uint16_t link_type)
{
	switch (link_type) {
	case LULL_LINK_ETHERNET:
		return lull_flow_link_ethernet(walk);
	case LINK_RAW_BSD:
	case LINK_RAW_OPENBSD:
	case LINK_RAW:
		return link_promise(walk, 0);
	case LINK_IPV4:
		return link_promise(walk, 4);
	case LINK_IPV6:
		return link_promise(walk, 6);
	case LINK_COOKED:
		return link_cooked(walk, 14, 16);
	case LINK_COOKED2:
		return link_cooked(walk, 0, 20);
	case LINK_NULL:
	case LINK_LOOP:
		return link_family(walk);
	case LINK_PPP:
		return lull_flow_link_ppp(walk);
	case LINK_PPP_SERIAL:
		return link_serial(walk);
	case LINK_PPP_ETHER:
		return link_pppoe(walk);
	case LINK_C_HDLC:
		return link_hdlc(walk);
	case LINK_IEEE802_11:
		return link_wireless(walk, false);
	case LINK_RADIOTAP:
		return link_radiotap(walk);
	default:
		return LULL_FLOW_LINK;
	}
}
