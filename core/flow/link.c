/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

#define ETHER_QINQ 0x88a8u
#define ETHER_QINQ_OLD1 0x9100u
#define ETHER_QINQ_OLD2 0x9200u
#define ETHER_QINQ_OLD3 0x9300u
#define ETHER_MPLS 0x8847u
#define ETHER_MPLS_UPSTREAM 0x8848u
#define ETHER_PPPOE 0x8864u
#define ETHER_FABRIC_PATH 0x8903u
#define ETHER_VN_TAG 0x8926u
#define ETHER_E_TAG 0x893fu
#define ETHER_BACKBONE 0x88e7u /* 802.1ah: a frame of a customer follows */
#define ETHER_MACSEC 0x88e5u
#define ETHER_NSH 0x894fu

#define MACSEC_VERSION 0x80u
#define MACSEC_CHANNEL 0x20u /* an identifier of 8 bytes stands there */
#define MACSEC_HIDDEN 0x0cu  /* encrypted, or changed otherwise */
#define NSH_IPV4 1
#define NSH_IPV6 2
#define NSH_ETHERNET 3
#define NSH_NSH 4
#define NSH_MPLS 5

#define PPP_IPV4 0x0021u
#define PPP_IPV6 0x0057u
#define PPP_MPLS 0x0281u
#define PPP_MPLS_MULTICAST 0x0283u

/* Stacks higher than these are taken for noise. */
#define TAGS_MAX 8
#define LABELS_MAX 16
#define FRAMES_MAX 32 /* frames in frames */

enum lull_flow_cause
lull_flow_link_promise(struct lull_flow_walk *walk, uint8_t version)
{
	walk->version = version;
	return LULL_FLOW_OK;
}

enum lull_flow_cause
lull_flow_link_raw(struct lull_flow_walk *walk)
{
	return lull_flow_link_promise(walk, 0);
}

static bool
link_is_tag(uint16_t type)
{
	return type == LULL_ETHER_VLAN || type == ETHER_QINQ || type == ETHER_QINQ_OLD1 ||
	       type == ETHER_QINQ_OLD2 || type == ETHER_QINQ_OLD3;
}

/* Is there an Ethernet frame at @p offset, by the type that it would announce? */
static bool
link_is_frame(const struct lull_flow_walk *walk, uint32_t offset)
{
	uint16_t type;

	if (lull_flow_walk_need(walk, offset, 14) != LULL_FLOW_OK)
		return false;
	type = lull_flow_walk_u16(walk, offset + 12);
	return type == LULL_ETHER_IPV4 || type == LULL_ETHER_IPV6 || link_is_tag(type) ||
	       type == ETHER_MPLS || type == ETHER_MPLS_UPSTREAM || type == ETHER_PPPOE;
}

/*
 * A pseudowire (RFC 4448): a frame, perhaps behind a control word that begins with four zero bits.
 * Not the other way round: what stands behind a VLAN tag would look like the type behind a word.
 */
static enum lull_flow_cause
link_pseudowire(struct lull_flow_walk *walk)
{
	if (!link_is_frame(walk, walk->offset)) {
		if (lull_flow_walk_u8(walk, walk->offset) >> 4 != 0 ||
		    !link_is_frame(walk, walk->offset + 4))
			return LULL_FLOW_NOT_IP;
		walk->offset += 4;
	}
	return lull_flow_link_ethernet(walk);
}

/* Does an IP header stand here that fits, and not an address that begins like one? */
static bool
link_is_ip(const struct lull_flow_walk *walk)
{
	uint32_t rest = walk->end - walk->offset;
	uint8_t first = lull_flow_walk_u8(walk, walk->offset);

	if (lull_flow_walk_need(walk, walk->offset, 6) != LULL_FLOW_OK)
		return true;
	if (first >> 4 == 4)
		return (first & 0x0f) >= 5 && lull_flow_walk_u16(walk, walk->offset + 2) <= rest;
	return lull_flow_walk_u16(walk, walk->offset + 4) + 40u <= rest;
}

/* Labels do not say what they carry: its first bits do, where it is IP. */
static enum lull_flow_cause
link_labelled(struct lull_flow_walk *walk)
{
	uint8_t version;

	LULL_FLOW_NEED(walk, 1);
	version = lull_flow_walk_u8(walk, walk->offset) >> 4;
	if ((version == 4 || version == 6) &&
	    (link_is_ip(walk) || !link_is_frame(walk, walk->offset)))
		return lull_flow_link_promise(walk, version);
	return link_pseudowire(walk);
}

static enum lull_flow_cause
link_mpls(struct lull_flow_walk *walk)
{
	for (unsigned int i = 0; i < LABELS_MAX; i++) {
		uint32_t label;
		bool bottom;

		LULL_FLOW_NEED(walk, 4);
		label = lull_flow_walk_u16(walk, walk->offset) << 4 |
			lull_flow_walk_u8(walk, walk->offset + 2) >> 4;
		bottom = (lull_flow_walk_u8(walk, walk->offset + 2) & 1) != 0;
		walk->offset += 4;
		if (!bottom)
			continue;
		lull_flow_walk_label(walk, label);
		return link_labelled(walk);
	}
	return LULL_FLOW_MALFORMED;
}

enum lull_flow_cause
lull_flow_link_ppp(struct lull_flow_walk *walk)
{
	uint16_t protocol;

	LULL_FLOW_NEED(walk, 2);
	if (lull_flow_walk_u16(walk, walk->offset) == 0xff03)
		walk->offset += 2;
	LULL_FLOW_NEED(walk, 1);
	protocol = lull_flow_walk_u8(walk, walk->offset);
	if ((protocol & 1) != 0) { /* written in one byte: odd ends it (RFC 1661, 6.5) */
		walk->offset += 1;
	} else {
		LULL_FLOW_NEED(walk, 2);
		protocol = lull_flow_walk_u16(walk, walk->offset);
		walk->offset += 2;
	}
	switch (protocol) {
	case PPP_IPV4:
		return lull_flow_link_promise(walk, 4);
	case PPP_IPV6:
		return lull_flow_link_promise(walk, 6);
	case PPP_MPLS:
	case PPP_MPLS_MULTICAST:
		return link_mpls(walk);
	default:
		return LULL_FLOW_NOT_IP;
	}
}

enum lull_flow_cause
lull_flow_link_pppoe(struct lull_flow_walk *walk)
{
	LULL_FLOW_NEED(walk, 6);
	if (lull_flow_walk_u8(walk, walk->offset + 1) != 0)
		return LULL_FLOW_NOT_IP; /* discovery, not session data */
	walk->offset += 6;
	return lull_flow_link_ppp(walk);
}

/* Bytes of a tag of another kind, with the type behind it; 0: @p type is none. */
static uint32_t
link_tag_bytes(uint16_t type)
{
	switch (type) {
	case ETHER_VN_TAG:
		return 6;
	case ETHER_E_TAG:
		return 8;
	default:
		return link_is_tag(type) ? 4 : 0;
	}
}

/* Walk behind the tags, if any; @p type is then that of what follows. */
static enum lull_flow_cause
link_tags(struct lull_flow_walk *walk, uint16_t *type)
{
	uint32_t bytes;

	for (unsigned int i = 0; (bytes = link_tag_bytes(*type)) != 0; i++) {
		if (i == TAGS_MAX)
			return LULL_FLOW_MALFORMED;
		LULL_FLOW_NEED(walk, bytes);
		if (link_is_tag(*type) && !walk->tagged) {
			walk->vlan_id = lull_flow_walk_u16(walk, walk->offset) & 0xfff;
			walk->tagged = true;
		}
		*type = lull_flow_walk_u16(walk, walk->offset + bytes - 2);
		walk->offset += bytes;
	}
	return LULL_FLOW_OK;
}

/* A frame behind @p bytes of a header of its carrier. */
static enum lull_flow_cause
link_carried(struct lull_flow_walk *walk, uint32_t bytes)
{
	LULL_FLOW_NEED(walk, bytes);
	walk->offset += bytes;
	return lull_flow_link_ethernet(walk);
}

/* 802.1AE that only signs; the signature stands behind the packet. */
static enum lull_flow_cause
link_macsec(struct lull_flow_walk *walk)
{
	uint32_t bytes = 6;
	uint16_t type;
	uint8_t flags;

	LULL_FLOW_NEED(walk, 6);
	flags = lull_flow_walk_u8(walk, walk->offset);
	if ((flags & (MACSEC_VERSION | MACSEC_HIDDEN)) != 0)
		return LULL_FLOW_NOT_IP;
	bytes += (flags & MACSEC_CHANNEL) != 0 ? 8 : 0;
	LULL_FLOW_NEED(walk, bytes + 2);
	type = lull_flow_walk_u16(walk, walk->offset + bytes);
	walk->offset += bytes + 2;
	return lull_flow_link_type(walk, type);
}

/* Network service header (RFC 8300). */
static enum lull_flow_cause
link_nsh(struct lull_flow_walk *walk)
{
	uint32_t bytes;
	uint8_t next;

	LULL_FLOW_NEED(walk, 8);
	bytes = (lull_flow_walk_u8(walk, walk->offset + 1) & 0x3fu) * 4;
	next = lull_flow_walk_u8(walk, walk->offset + 3);
	if (lull_flow_walk_u8(walk, walk->offset) >> 6 != 0 || bytes < 8)
		return LULL_FLOW_NOT_IP;
	LULL_FLOW_NEED(walk, bytes);
	walk->offset += bytes;
	switch (next) {
	case NSH_IPV4:
		return lull_flow_link_promise(walk, 4);
	case NSH_IPV6:
		return lull_flow_link_promise(walk, 6);
	case NSH_ETHERNET:
		return lull_flow_link_ethernet(walk);
	case NSH_NSH:
		return lull_flow_link_type(walk, ETHER_NSH);
	case NSH_MPLS:
		return link_mpls(walk);
	default:
		return LULL_FLOW_NOT_IP;
	}
}

static enum lull_flow_cause
link_untagged(struct lull_flow_walk *walk, uint16_t type)
{
	switch (type) {
	case LULL_ETHER_IPV4:
		return lull_flow_link_promise(walk, 4);
	case LULL_ETHER_IPV6:
		return lull_flow_link_promise(walk, 6);
	case ETHER_MPLS:
	case ETHER_MPLS_UPSTREAM:
		return link_mpls(walk);
	case ETHER_PPPOE:
		return lull_flow_link_pppoe(walk);
	case ETHER_FABRIC_PATH:
		return link_carried(walk, 2);
	case ETHER_BACKBONE:
		return link_carried(walk, 4);
	case ETHER_MACSEC:
		return link_macsec(walk);
	case ETHER_NSH:
		return link_nsh(walk);
	default:
		return LULL_FLOW_NOT_IP;
	}
}

enum lull_flow_cause
lull_flow_link_llc(struct lull_flow_walk *walk)
{
	enum lull_flow_cause cause;
	uint16_t points, type;

	LULL_FLOW_NEED(walk, 3);
	points = lull_flow_walk_u16(walk, walk->offset);
	if (points == 0x0606) { /* IP without SNAP */
		walk->offset += 3;
		return lull_flow_link_promise(walk, 4);
	}
	if (points != 0xaaaa)
		return LULL_FLOW_NOT_IP;
	LULL_FLOW_NEED(walk, 8);
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
	enum lull_flow_cause cause;

	if (walk->depth++ == FRAMES_MAX)
		return LULL_FLOW_MALFORMED;
	cause = link_tags(walk, &type);
	if (cause != LULL_FLOW_OK)
		return cause;
	return type <= LULL_ETHER_LENGTH_MAX ? lull_flow_link_llc(walk) : link_untagged(walk, type);
}

enum lull_flow_cause
lull_flow_link_ethernet(struct lull_flow_walk *walk)
{
	uint16_t type;

	LULL_FLOW_NEED(walk, 14);
	type = lull_flow_walk_u16(walk, walk->offset + 12);
	walk->offset += 14;
	if (type == LULL_ETHER_IPV4)
		return lull_flow_link_promise(walk, 4);
	return lull_flow_link_type(walk, type);
}
