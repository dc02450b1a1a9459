/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fragment: what the first fragment of a datagram said, for the fragments that follow it.
 *
 * A datagram is named by source, target, number, what else belongs to keys and, in IPv4, protocol;
 * the two directions of a flow have datagrams of their own. One that carries a tunnel is remembered
 * by the key of the packet inside. Pieces that come before their first one find nothing; early.h
 * lets them wait.
 * Memory: a table of fixed size; where a new datagram finds no room the oldest neighbour goes.
 */
#ifndef LULL_FLOW_FRAGMENT_H
#define LULL_FLOW_FRAGMENT_H

#include <lull/flow.h>

#define LULL_FRAGMENT_WAYS 4

struct lull_fragment_name {
	uint8_t source[16], target[16];
	uint32_t id;
	uint32_t tunnel_id, mpls_label, outer; /**< as in the key, with the next four */
	uint16_t vlan_id, interface;
	uint8_t tunnel, labelled;
	uint8_t version;
	uint8_t proto; /**< 0 in IPv6, where later fragments may say another one */
};
struct lull_fragment_datagram {
	struct lull_fragment_name name; /**< version 0: no datagram */
	struct lull_flow_key key;       /**< as the first fragment has it, with the next three */
	uint32_t digest, dispatch_hash;
	uint8_t direction;
	uint8_t flags;    /**< LULL_FLOW_TUNNEL, or 0 */
	bool inner;       /**< the key is of a packet inside, with its own header */
	uint64_t time_ns; /**< stamp of the first fragment */
};
struct lull_fragment_table {
	struct lull_fragment_datagram *datagrams;
	uint32_t set_mask; /**< sets of LULL_FRAGMENT_WAYS, a power of two, less one */
	uint32_t seed;
	uint64_t lifetime_ns;
};

/** Spread by the table's seed: equal names have equal hashes. */
uint32_t lull_fragment_hash(const struct lull_fragment_table *table,
			    const struct lull_fragment_name *name);
bool lull_fragment_same(const struct lull_fragment_name *a, const struct lull_fragment_name *b);
/** Give @p packet, a later fragment, what @p datagram knows. */
void lull_fragment_apply(const struct lull_fragment_datagram *datagram,
			 struct lull_flow_packet *packet);
/** What is remembered of the datagram @p name at @p time_ns, or NULL. */
const struct lull_fragment_datagram *lull_fragment_find(const struct lull_fragment_table *table,
							const struct lull_fragment_name *name,
							uint64_t time_ns);
/** Remember @p datagram. @return true: another one that still lived was forgotten for it */
bool lull_fragment_remember(struct lull_fragment_table *table,
			    const struct lull_fragment_datagram *datagram);

#endif
