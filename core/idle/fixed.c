/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fixed: the same rest after every empty iteration.
 *
 * Source: the usleep(n) of countless poll loops (F-Stack's idle_sleep, for
 * one). With n searched by hand for one load it is the yardstick of adaptive
 * governors: none of them can do much better at that load.
 */
#include "governor.h"

struct fixed {
	const struct lull_idle_view *view;
};
_Static_assert(sizeof(struct fixed) <= LULL_GOVERNOR_STATE_SIZE, "state of fixed");

static void
fixed_init(void *state, const struct lull_idle_view *view)
{
	struct fixed *fixed = state;

	fixed->view = view;
}

static struct lull_rest
fixed_plan(void *state, const struct lull_idle_iteration *iteration)
{
	const struct fixed *fixed = state;

	if (iteration->pkt_count > 0)
		return lull_rest_none();
	return lull_rest_sleep(fixed->view->limits->rest_ns);
}

const struct lull_idle_governor lull_idle_fixed = {
	.name = "fixed",
	.summary = "sleep for a fixed time (rest) after each empty poll iteration",
	.state_size = sizeof(struct fixed),
	.init = fixed_init,
	.plan = fixed_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
};
