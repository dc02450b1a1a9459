/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss_audit.h"

#define COST_SHARE 1000
#define PAUSE_NS_MAX LULL_NS_PER_S

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

static uint64_t
loss_sum(const struct lull_port_loss *loss)
{
	return loss->missed + loss->nombuf;
}

uint64_t
lull_loss_audit_enter(struct lull_loss_audit *audit, struct lull_loss_claim *claim,
		      const struct lull_loss_answer *answer)
{
	uint64_t took_ns = answer->end_ns - answer->begin_ns;
	uint64_t lost = loss_sum(&answer->loss), seen = loss_sum(&audit->seen);
	bool rested = answer->last || answer->rest_ns != audit->rest_ns;

	audit->due_ns = answer->begin_ns + LULL_MIN(COST_SHARE * took_ns, PAUSE_NS_MAX);
	if (!answer->valid)
		return 0;
	audit->rest_ns = answer->rest_ns;
	__atomic_store_n(&audit->seen.missed, answer->loss.missed, __ATOMIC_RELAXED);
	__atomic_store_n(&audit->seen.nombuf, answer->loss.nombuf, __ATOMIC_RELAXED);
	if (!audit->begun) {
		audit->begun = true;
		claim_begin(claim, lost);
		return 0;
	}
	if (lost < seen) {
		claim_lower(claim, lost);
		seen = 0;
	}
	return claim_take(claim, rested ? lost : seen);
}

uint64_t
lull_loss_audit_end(struct lull_loss_audit *audit, struct lull_loss_claim *claim)
{
	return audit->begun ? claim_take(claim, loss_sum(&audit->seen)) : 0;
}

void
lull_loss_audit_add(const struct lull_loss_audit *audit, struct lull_port_loss *loss)
{
	loss->missed += LULL_COUNTER_READ(audit->seen.missed);
	loss->nombuf += LULL_COUNTER_READ(audit->seen.nombuf);
}
