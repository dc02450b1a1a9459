/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring_facts.h"

#include <lull/base.h>

static uint64_t
facts_rate(const struct lull_ring_facts *all, uint64_t rate, uint64_t other)
{
	if (all->count == 0)
		return other;
	return rate > 0 && other > 0 ? LULL_MAX(rate, other) : 0;
}

void
lull_ring_facts_add(struct lull_ring_facts *all, const struct lull_ring_facts *one)
{
	uint32_t room = one->ring_pkts - one->held_pkts;

	if (one->count == 0)
		return;
	if (one->ring_pkts > 0 && (all->ring_pkts == 0 || room < all->ring_pkts - all->held_pkts)) {
		all->ring_pkts = one->ring_pkts;
		all->ring_pkts_max = one->ring_pkts_max;
		all->held_pkts = one->held_pkts;
	}
	all->link_pps = facts_rate(all, all->link_pps, one->link_pps);
	all->hardware_pps = facts_rate(all, all->hardware_pps, one->hardware_pps);
	all->short_leaves |= one->short_leaves;
	all->loss_lag_ns = LULL_MAX(all->loss_lag_ns, one->loss_lag_ns);
	all->count += one->count;
}
