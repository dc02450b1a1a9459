/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Idle stand: one idle object whose governor answers what the test wants.
 */
#ifndef LULL_TEST_IDLE_STAND_H
#define LULL_TEST_IDLE_STAND_H

#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "idle/governor.h"

#define US LULL_NS_PER_US

/* One idle object with a governor whose answer the test sets. */
struct stand {
	void *memory;
	struct lull_idle *idle;
};

static struct lull_rest answer;

static void
puppet_init(void *state, const struct lull_idle_view *view)
{
	(void)state;
	(void)view;
}

static struct lull_rest
puppet_plan(void *state, const struct lull_idle_iteration *iteration)
{
	(void)state;
	(void)iteration;
	return answer;
}

static const struct lull_idle_governor puppet = {
	.name = "puppet",
	.summary = "answers what the test wants",
	.state_size = 1,
	.init = puppet_init,
	.plan = puppet_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
};

static inline void
stand_begin(struct stand *stand, const struct lull_idle_limits *limits)
{
	stand->memory = aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + 63) / 64 * 64);
	memset(stand->memory, 0xa5, lull_idle_size());
	assert_int_equal(lull_idle_init(stand->memory, &puppet, limits, 1000 * US, &stand->idle),
			 0);
}

static inline struct lull_rest
iteration(struct stand *stand, uint64_t now_ns, uint16_t pkts, uint64_t deadline_ns)
{
	struct lull_iteration t = {
		.now_ns = now_ns,
		.deadline_ns = deadline_ns,
		.queue_pkts = &pkts,
		.queue_count = 1,
	};

	return lull_idle_plan(stand->idle, &t);
}

static inline void
wake(struct stand *stand, struct lull_rest rest, uint64_t begin_ns, uint64_t end_ns,
     enum lull_wake_reason reason)
{
	struct lull_wake w = {
		.rest = rest, .begin_ns = begin_ns, .end_ns = end_ns, .reason = reason
	};

	lull_idle_wake(stand->idle, &w);
}

#endif
