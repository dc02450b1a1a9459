/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Claims: which of them an Ethernet frame may be for, in constant time.
 */
#ifndef LULL_NET_CLAIMS_H
#define LULL_NET_CLAIMS_H

#include "backend.h"

#define LULL_NET_ETHER_TYPES_MAX 8

struct lull_net_claims {
	bool sums;            /* look at checksums */
	uint8_t ports[65536]; /* first claim of a UDP port, plus 1 */
	uint32_t type_count;
	struct {
		uint16_t ether_type;
		uint8_t first;
	} types[LULL_NET_ETHER_TYPES_MAX];
};

/** For whom a frame is. */
enum lull_net_found {
	LULL_NET_FOUND_NOBODY,
	LULL_NET_FOUND_CLAIM, /**< one, or some with the same port or ether type */
	LULL_NET_FOUND_CUT,   /**< the same, but its end is missing */
	LULL_NET_FOUND_WRONG, /**< the same, but a checksum is wrong */
};

void lull_net_claims_add(struct lull_net_claims *claims, const struct lull_net_claim *claim);
/**
 * Fill in @p packet from a frame that is for a claim, but for its stamp. @p known: checksums that a
 * NIC has found right, LULL_NET_SUMS_... .
 */
enum lull_net_found lull_net_claims_find(const struct lull_net_claims *claims, const uint8_t *frame,
					 size_t len_bytes, uint32_t known,
					 struct lull_net_packet *packet);

#endif
