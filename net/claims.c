/* SPDX-License-Identifier: BSD-3-Clause */
#include "claims.h"

#include "base/assert.h"
#include "sums.h"
#include "walk.h"

_Static_assert(LULL_NET_CLAIMS_MAX < UINT8_MAX, "a claim's index fits");

void
lull_net_claims_add(struct lull_net_claims *claims, const struct lull_net_claim *claim)
{
	uint8_t first = (uint8_t)(claim->first + 1);

	if (!claim->ethernet) {
		claims->ports[claim->port] = first;
		return;
	}
	for (uint32_t i = 0; i < claims->type_count; i++)
		if (claims->types[i].ether_type == claim->ether_type)
			return;
	LULL_ASSERT(claims->type_count < LULL_NET_ETHER_TYPES_MAX);
	claims->types[claims->type_count].ether_type = claim->ether_type;
	claims->types[claims->type_count++].first = first;
}

static uint32_t
claims_type(const struct lull_net_claims *claims, uint16_t ether_type)
{
	for (uint32_t i = 0; i < claims->type_count; i++)
		if (claims->types[i].ether_type == ether_type)
			return claims->types[i].first;
	return 0;
}

enum lull_net_found
lull_net_claims_find(const struct lull_net_claims *claims, const uint8_t *frame, size_t len_bytes,
		     uint32_t known, struct lull_net_packet *packet)
{
	struct lull_net_walked walked;
	enum lull_net_walk walk = lull_net_walk(frame, len_bytes, &walked);

	if (walk != LULL_NET_WALK_UDP && walk != LULL_NET_WALK_CUT &&
	    walk != LULL_NET_WALK_ETHERNET)
		return LULL_NET_FOUND_NOBODY;
	*packet = (struct lull_net_packet){
		.data = walked.data,
		.len_bytes = walked.len_bytes,
		.mac = walked.mac,
	};
	if (walk == LULL_NET_WALK_ETHERNET) {
		packet->first = claims_type(claims, walked.ether_type);
	} else {
		packet->source = walked.source;
		packet->source_port = walked.source_port;
		packet->destination = walked.destination;
		packet->first = claims->ports[walked.port];
	}
	if (packet->first == 0)
		return LULL_NET_FOUND_NOBODY;
	if (walk == LULL_NET_WALK_CUT)
		return LULL_NET_FOUND_CUT;
	if (claims->sums && walk == LULL_NET_WALK_UDP && !lull_net_sums_hold(&walked, known))
		return LULL_NET_FOUND_WRONG;
	return LULL_NET_FOUND_CLAIM;
}
