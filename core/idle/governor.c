/* SPDX-License-Identifier: BSD-3-Clause */
#include "governor.h"

void
lull_governor_wake_none(void *state, const struct lull_wake *wake)
{
	(void)state;
	(void)wake;
}

void
lull_governor_miss_none(void *state, uint64_t now_ns, uint64_t pkts)
{
	(void)state;
	(void)now_ns;
	(void)pkts;
}

void
lull_governor_verdict_none(const void *state, struct lull_verdict *verdict)
{
	(void)state;
	verdict->state = LULL_VERDICT_NONE;
	verdict->binding = LULL_BOUND_NONE;
}
