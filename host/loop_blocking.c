/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A source whose files the kernel watches needs no estimate of anything: the thread blocks until
 * packets come.
 */
#include "idle/governor.h"
#include "loop.h"

/* A blocking wait ends at the latest then: the clock of the machine may be set, a signal lost. */
#define BLOCK_NS_MAX LULL_NS_PER_S

static void
blocking_init(void *state, const struct lull_idle_view *view)
{
	(void)state;
	(void)view;
}

static struct lull_rest
blocking_plan(void *state, const struct lull_idle_iteration *iteration)
{
	(void)state;
	if (iteration->pkt_count > 0)
		return lull_rest_none();
	return (struct lull_rest){ .idle_state = LULL_IDLE_INTERRUPT, .limit_ns = BLOCK_NS_MAX };
}

const struct lull_idle_governor lull_loop_blocking = {
	.name = "kernel",
	.summary = "the kernel wakes the thread when packets come",
	.state_size = 0,
	.init = blocking_init,
	.plan = blocking_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
};
