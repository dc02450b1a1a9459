/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Yield: the shortest sleep there is after every empty iteration.
 *
 * Source: the usleep(0) that many programs put into their poll loop in the
 * belief that it merely yields. It does not: the thread sleeps for its timer
 * slack plus the time a wake-up takes, about 20 us in a guest even with the
 * slack at its least, and each such sleep costs nearly as much CPU time.
 */
#include "governor.h"

#define YIELD_REST_NS 1 /* as good as 0, which would mean no rest */

static void
yield_init(void *state, const struct lull_idle_view *view)
{
	(void)state;
	(void)view;
}

static struct lull_rest
yield_plan(void *state, const struct lull_idle_iteration *iteration)
{
	(void)state;
	if (iteration->pkt_count > 0)
		return lull_rest_none();
	return lull_rest_sleep(YIELD_REST_NS);
}

const struct lull_idle_governor lull_idle_yield = {
	.name = "yield",
	.summary = "usleep(0) after each empty poll iteration",
	.state_size = 0,
	.init = yield_init,
	.plan = yield_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
};
