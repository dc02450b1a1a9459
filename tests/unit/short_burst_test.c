/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where short bursts may leave packets a queue is empty after a receive of none, or where the
 * caller says so.
 */
#include <stdlib.h>

#include "case.h"
#include "idle/governor.h"

#define US LULL_NS_PER_US

/* Two queues; the second gives none at 2000, and 7 packets at 2010 and at 2020. */
static uint64_t
longest_wait_ns(bool leaves, uint64_t emptied)
{
	const struct lull_idle_limits limits = { .burst_pkts = 32, .short_leaves = leaves };
	void *memory = aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + 63) / 64 * 64);
	uint16_t pkts[2] = { 0, 0 };
	struct lull_iteration iteration = { .queue_pkts = pkts, .queue_count = 2 };
	struct lull_idle *idle;
	uint64_t wait_ns;

	assert_int_equal(lull_idle_init(memory, &lull_idle_spin, &limits, 1000 * US, &idle), 0);
	for (uint64_t i = 0; i < 3; i++) {
		iteration.now_ns = (2000 + 10 * i) * US;
		iteration.emptied = i == 1 ? emptied : 0;
		pkts[1] = i == 0 ? 0 : 7;
		lull_idle_plan(idle, &iteration);
	}
	lull_idle_polled(idle, 2030 * US, 0, 0, 0); /* the last iteration ends */
	assert_int_equal(lull_idle_wait_histogram(idle)->count, 14);
	wait_ns = lull_histogram_quantile(lull_idle_wait_histogram(idle), 1000000);
	free(memory);
	return wait_ns;
}

TEST(emptied__ends_the_wait_of_its_queue)
{
	assert_int_equal(longest_wait_ns(true, 2) / US, 20);
	assert_int_equal(longest_wait_ns(true, 3) / US, 20);
}

TEST(emptied__of_another_queue_does_not)
{
	assert_int_equal(longest_wait_ns(true, 0) / US, 30);
	assert_int_equal(longest_wait_ns(true, 1) / US, 30);
}

TEST(emptied__is_not_needed_where_short_bursts_empty)
{
	assert_int_equal(longest_wait_ns(false, 0) / US, 20);
	assert_int_equal(longest_wait_ns(false, 2) / US, 20);
}
