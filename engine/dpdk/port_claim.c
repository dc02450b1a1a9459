/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_claim.h"

#include <rte_ethdev.h>

/* Ports belong to the process, and so does this. Packets taken + 1; 0: nobody has begun. */
static uint64_t claim_taken[RTE_MAX_ETHPORTS];

/* The port counts from the beginning again, or another port has its id. */
static void
claim_lower(uint64_t *taken, uint64_t missed)
{
	uint64_t old = __atomic_load_n(taken, __ATOMIC_RELAXED);

	while (old > missed + 1 && !__atomic_compare_exchange_n(taken, &old, missed + 1, false,
								__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void
lull_port_claim_begin(uint16_t port_id, struct lull_port_view *view, uint64_t missed)
{
	uint64_t nobody = 0;

	view->missed = missed;
	if (!__atomic_compare_exchange_n(&claim_taken[port_id], &nobody, missed + 1, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		claim_lower(&claim_taken[port_id], missed);
}

uint64_t
lull_port_claim_take(uint16_t port_id, struct lull_port_view *view, uint64_t missed, bool rested)
{
	uint64_t *taken = &claim_taken[port_id];
	uint64_t limit, old;

	if (missed < view->missed) {
		claim_lower(taken, missed);
		view->missed = 0;
	}
	limit = rested ? missed : view->missed;
	view->missed = missed;
	old = __atomic_load_n(taken, __ATOMIC_RELAXED);
	while (old < limit + 1) {
		if (__atomic_compare_exchange_n(taken, &old, limit + 1, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return limit + 1 - old;
	}
	return 0;
}
