/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Spin: never rest.
 *
 * Source: what every poll-mode program does by default; the measure of both the
 * latency and the CPU time that all other governors are held against.
 */
#include "governor.h"

static void
spin_init(void *state, const struct lull_idle_view *view)
{
	(void)state;
	(void)view;
}

static struct lull_rest
spin_plan(void *state, const struct lull_idle_iteration *iteration)
{
	(void)state;
	(void)iteration;
	return lull_rest_none();
}

const struct lull_idle_governor lull_idle_spin = {
	.name = "spin",
	.summary = "never rest: lowest latency, uses the whole core",
	.state_size = 0,
	.init = spin_init,
	.plan = spin_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
};
