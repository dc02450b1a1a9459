/* SPDX-License-Identifier: BSD-3-Clause */
#include "fragment.h"

#include <string.h>

uint32_t
lull_fragment_hash(const struct lull_fragment_table *table, const struct lull_fragment_name *name)
{
	struct lull_flow_key key = {
		.port = { (uint16_t)name->id, (uint16_t)(name->id >> 16) },
		.vlan_id = name->vlan_id,
		.version = name->version,
		.proto = name->proto,
		.tunnel = name->tunnel,
		.labelled = name->labelled,
		.interface = name->interface,
		.tunnel_id = name->tunnel_id,
		.mpls_label = name->mpls_label,
		.outer = name->outer,
	};

	memcpy(key.addr[0], name->source, sizeof(key.addr[0]));
	memcpy(key.addr[1], name->target, sizeof(key.addr[1]));
	return lull_flow_digest(table->seed, &key);
}

static struct lull_fragment_datagram *
fragment_set(const struct lull_fragment_table *table, const struct lull_fragment_name *name)
{
	size_t set = lull_fragment_hash(table, name) & table->set_mask;

	return table->datagrams + set * LULL_FRAGMENT_WAYS;
}

bool
lull_fragment_same(const struct lull_fragment_name *a, const struct lull_fragment_name *b)
{
	return a->id == b->id && a->vlan_id == b->vlan_id && a->version == b->version &&
	       a->proto == b->proto && a->tunnel == b->tunnel && a->tunnel_id == b->tunnel_id &&
	       a->labelled == b->labelled && a->mpls_label == b->mpls_label &&
	       a->interface == b->interface && a->outer == b->outer &&
	       memcmp(a->source, b->source, sizeof(a->source)) == 0 &&
	       memcmp(a->target, b->target, sizeof(a->target)) == 0;
}

void
lull_fragment_apply(const struct lull_fragment_datagram *datagram, struct lull_flow_packet *packet)
{
	packet->key = datagram->key;
	packet->direction = datagram->direction;
	packet->digest = datagram->digest;
	packet->dispatch_hash = datagram->dispatch_hash;
	packet->flags |= datagram->flags;
}

/* Stamps may go back a little: what lies ahead is as near as what lies behind. */
static bool
fragment_lives(const struct lull_fragment_table *table,
	       const struct lull_fragment_datagram *datagram, uint64_t time_ns)
{
	uint64_t age_ns = datagram->time_ns > time_ns ? datagram->time_ns - time_ns :
							time_ns - datagram->time_ns;

	return datagram->name.version != 0 && age_ns <= table->lifetime_ns;
}

const struct lull_fragment_datagram *
lull_fragment_find(const struct lull_fragment_table *table, const struct lull_fragment_name *name,
		   uint64_t time_ns)
{
	const struct lull_fragment_datagram *set = fragment_set(table, name);

	for (unsigned int way = 0; way < LULL_FRAGMENT_WAYS; way++)
		if (lull_fragment_same(&set[way].name, name))
			return fragment_lives(table, &set[way], time_ns) ? &set[way] : NULL;
	return NULL;
}

bool
lull_fragment_remember(struct lull_fragment_table *table,
		       const struct lull_fragment_datagram *datagram)
{
	struct lull_fragment_datagram *set = fragment_set(table, &datagram->name);
	struct lull_fragment_datagram *place = NULL, *oldest = set;

	for (unsigned int way = 0; way < LULL_FRAGMENT_WAYS; way++) {
		if (lull_fragment_same(&set[way].name, &datagram->name)) {
			set[way] = *datagram;
			return false;
		}
		if (place == NULL && !fragment_lives(table, &set[way], datagram->time_ns))
			place = &set[way];
		if (set[way].time_ns < oldest->time_ns)
			oldest = &set[way];
	}
	if (place != NULL) {
		*place = *datagram;
		return false;
	}
	*oldest = *datagram;
	return true;
}
