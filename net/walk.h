/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Walk: from an Ethernet frame to its payload.
 *
 * Lengths are believed in this order: frame, IP total length, UDP length; what Ethernet pads does
 * not count. VLAN tags (two at most), IPv4 options and IPv6 hop-by-hop, routing and destination
 * headers are stepped over. Fragments are not put together.
 */
#ifndef LULL_LULL_NET_WALK_H
#define LULL_LULL_NET_WALK_H

#include <stddef.h>

#include "address.h"

enum lull_net_walk {
	LULL_NET_WALK_UDP,       /**< data is the UDP payload */
	LULL_NET_WALK_ETHERNET,  /**< neither IP: data is what follows the ether type */
	LULL_NET_WALK_OTHER,     /**< IP, but not UDP */
	LULL_NET_WALK_FRAGMENT,  /**< of a UDP datagram */
	LULL_NET_WALK_CUT,       /**< UDP whose end is missing; data goes as far as it is there */
	LULL_NET_WALK_MALFORMED, /**< lengths contradict each other */
};
struct lull_net_walked {
	const uint8_t *data;
	uint32_t len_bytes;
	uint16_t ether_type;
	uint16_t port, source_port; /**< UDP destination and source */
	struct lull_net_ip destination, source;
	const uint8_t *mac; /**< of the sender */
	/** Of UDP and CUT: the header of IP; NULL: there is a routing header behind it. */
	const uint8_t *ip;
};
/** @p walked: filled in for UDP, CUT and ETHERNET. */
enum lull_net_walk lull_net_walk(const uint8_t *frame, size_t len_bytes,
				 struct lull_net_walked *walked);

#endif
