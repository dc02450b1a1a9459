/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Link: Ethernet, its tags and what carries frames or stands in them, up to the IP header.
 *
 * Each function begins at walk->offset and, for LULL_FLOW_OK, leaves it at the IP header, with
 * walk->version and walk->vlan_id set. Otherwise the walk is spoilt.
 */
#ifndef LULL_FLOW_LINK_H
#define LULL_FLOW_LINK_H

#include "walk.h"

#define LULL_LINK_ETHERNET 1 /* LINKTYPE_ */

#define LULL_ETHER_IPV4 0x0800u
#define LULL_ETHER_IPV6 0x86ddu
#define LULL_ETHER_VLAN 0x8100u
#define LULL_ETHER_PPP 0x880bu
#define LULL_ETHER_BRIDGED 0x6558u  /* an Ethernet frame, inside a tunnel */
#define LULL_ETHER_LENGTH_MAX 1500u /* 802.3: what is not above is a length, and LLC follows */

#define LULL_FLOW_NEED(walk, count)                                                                \
	do {                                                                                       \
		enum lull_flow_cause need_cause =                                                  \
			lull_flow_walk_need(walk, (walk)->offset, count);                          \
		if (need_cause != LULL_FLOW_OK)                                                    \
			return need_cause;                                                         \
	} while (0)

/** An Ethernet header. */
enum lull_flow_cause lull_flow_link_ethernet(struct lull_flow_walk *walk);
/** What EtherType @p type announces; a length of 802.3 means LLC. */
enum lull_flow_cause lull_flow_link_type(struct lull_flow_walk *walk, uint16_t type);
/** PPP, with or without address and control. */
enum lull_flow_cause lull_flow_link_ppp(struct lull_flow_walk *walk);
/** An IP header, of the version that it says itself. */
enum lull_flow_cause lull_flow_link_raw(struct lull_flow_walk *walk);

/** An IP header of @p version, 0: any. */
enum lull_flow_cause lull_flow_link_promise(struct lull_flow_walk *walk, uint8_t version);
/** Logical link control, with or without SNAP. */
enum lull_flow_cause lull_flow_link_llc(struct lull_flow_walk *walk);
/** A session of PPP over Ethernet. */
enum lull_flow_cause lull_flow_link_pppoe(struct lull_flow_walk *walk);

#endif
