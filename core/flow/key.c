/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/flow.h>

#include <string.h>

#include "base/crc32.h"

const char *
lull_flow_tunnel_name(enum lull_flow_tunnel tunnel)
{
	static const char *const names[] = { "", "vxlan", "geneve", "gre", "gtp" };

	return names[tunnel];
}

bool
lull_flow_key_same(const struct lull_flow_key *a, const struct lull_flow_key *b)
{
	/* Member by member: bytes between and behind members may differ. */
	return memcmp(a->addr, b->addr, sizeof(a->addr)) == 0 && a->port[0] == b->port[0] &&
	       a->port[1] == b->port[1] && a->vlan_id == b->vlan_id && a->version == b->version &&
	       a->proto == b->proto && a->tunnel_id == b->tunnel_id && a->tunnel == b->tunnel &&
	       a->labelled == b->labelled && a->interface == b->interface &&
	       a->mpls_label == b->mpls_label && a->outer == b->outer;
}

static int
key_order(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

int
lull_flow_key_compare(const struct lull_flow_key *a, const struct lull_flow_key *b)
{
	int order = memcmp(a->addr, b->addr, sizeof(a->addr));

	if (order == 0)
		order = key_order(a->port[0], b->port[0]);
	if (order == 0)
		order = key_order(a->port[1], b->port[1]);
	if (order == 0)
		order = key_order(a->proto, b->proto);
	if (order == 0)
		order = key_order(a->vlan_id, b->vlan_id);
	if (order == 0)
		order = key_order(a->version, b->version);
	if (order == 0)
		order = key_order(a->tunnel, b->tunnel);
	if (order == 0)
		order = key_order(a->tunnel_id, b->tunnel_id);
	if (order == 0)
		order = key_order(a->labelled, b->labelled);
	if (order == 0)
		order = key_order(a->mpls_label, b->mpls_label);
	if (order == 0)
		order = key_order(a->interface, b->interface);
	if (order == 0)
		order = key_order(a->outer, b->outer);
	return order;
}

uint32_t
lull_flow_key_crc32(const struct lull_flow_key *key)
{
	size_t addr_bytes = key->version == 4 ? 4 : 16, at = 2 * addr_bytes;
	uint8_t bytes[2 * 16 + 5];

	memcpy(bytes, key->addr[0], addr_bytes);
	memcpy(bytes + addr_bytes, key->addr[1], addr_bytes);
	for (int i = 0; i < 2; i++) {
		bytes[at++] = (uint8_t)(key->port[i] >> 8);
		bytes[at++] = (uint8_t)key->port[i];
	}
	bytes[at++] = key->proto;
	return lull_crc32(0, bytes, at);
}
