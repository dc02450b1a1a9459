/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/flow.h>

#include <string.h>

bool
lull_flow_key_same(const struct lull_flow_key *a, const struct lull_flow_key *b)
{
	/* Member by member: bytes between and behind members may differ. */
	return memcmp(a->addr, b->addr, sizeof(a->addr)) == 0 && a->port[0] == b->port[0] &&
	       a->port[1] == b->port[1] && a->vlan_id == b->vlan_id && a->version == b->version &&
	       a->proto == b->proto;
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
	return order;
}
