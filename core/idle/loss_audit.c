/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss_audit.h"

/* The port counts from the beginning again, or another port has its id. */
static void
claim_lower(struct lull_loss_claim *claim, uint64_t lost)
{
	uint64_t old = __atomic_load_n(&claim->taken, __ATOMIC_RELAXED);

	while (old > lost + 1 && !__atomic_compare_exchange_n(&claim->taken, &old, lost + 1, false,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void
claim_begin(struct lull_loss_claim *claim, uint64_t lost)
{
	uint64_t nobody = 0;

	if (!__atomic_compare_exchange_n(&claim->taken, &nobody, lost + 1, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		claim_lower(claim, lost);
}

/* All up to @p limit that nobody has taken. */
static uint64_t
claim_take(struct lull_loss_claim *claim, uint64_t limit)
{
	uint64_t old = __atomic_load_n(&claim->taken, __ATOMIC_RELAXED);

	while (old < limit + 1) {
		if (__atomic_compare_exchange_n(&claim->taken, &old, limit + 1, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return limit + 1 - old;
	}
	return 0;
}

void
lull_loss_audit_enter(struct lull_loss_audit *audit, struct lull_loss_claim *claim,
		      const struct lull_loss_reading *reading, bool suspect,
		      struct lull_loss_charge *charge)
{
	uint64_t lost = reading->loss.missed, seen = audit->seen.missed;
	bool starved = reading->loss.nombuf > audit->seen.nombuf;

	audit->begin_ns = reading->begin_ns;
	__atomic_store_n(&audit->seen.missed, lost, __ATOMIC_RELAXED);
	__atomic_store_n(&audit->seen.nombuf, reading->loss.nombuf, __ATOMIC_RELAXED);
	if (!audit->begun) {
		audit->begun = true;
		claim_begin(claim, lost);
		return;
	}
	if (lost < seen) {
		claim_lower(claim, lost);
		seen = 0;
	}
	charge->others += claim_take(claim, seen);
	if (suspect && !starved)
		charge->rests += claim_take(claim, lost);
}

void
lull_loss_audit_end(struct lull_loss_audit *audit, struct lull_loss_claim *claim,
		    struct lull_loss_charge *charge)
{
	if (audit->begun)
		charge->others += claim_take(claim, audit->seen.missed);
}

void
lull_loss_audit_add(const struct lull_loss_audit *audit, struct lull_port_loss *loss)
{
	loss->missed += LULL_COUNTER_READ(audit->seen.missed);
	loss->nombuf += LULL_COUNTER_READ(audit->seen.nombuf);
}
