/* SPDX-License-Identifier: BSD-3-Clause */
/* Blame: a loss belongs to a rest only if its ring may have been full then. */
#include <stdlib.h>

#include "case.h"
#include "idle/blame.h"
#include "idle/governor.h"

#define US LULL_NS_PER_US

/*
 * A ring of 512 of which the driver keeps 32: half of the room are 240. Bursts of 32: 17
 * iterations.
 */
static struct lull_blame
blame_begin(uint32_t ring_pkts)
{
	const struct lull_idle_limits limits = { .ring_pkts = 512,
						 .held_pkts = 32,
						 .burst_pkts = 32 };
	struct lull_blame blame = { 0 };

	lull_blame_size(&blame, ring_pkts, &limits);
	return blame;
}

TEST(suspects__a_rest_with_half_a_ring_behind_it)
{
	struct lull_blame blame = blame_begin(512);

	assert_false(lull_blame_suspects(&blame, 0, UINT64_MAX));
	lull_blame_rested(&blame, 1000);
	lull_blame_iterate(&blame, 2000, 239, true);
	assert_false(lull_blame_suspects(&blame, 0, UINT64_MAX));
	lull_blame_rested(&blame, 3000);
	lull_blame_iterate(&blame, 4000, 120, false);
	lull_blame_iterate(&blame, 4100, 120, true);
	assert_true(lull_blame_suspects(&blame, 4100, 5000));
	assert_false(lull_blame_suspects(&blame, 4101, 5000));
	/* what comes while it polls is no longer behind that rest */
	lull_blame_iterate(&blame, 6000, 10000, true);
	assert_false(lull_blame_suspects(&blame, 4101, 7000));
}

TEST(suspects__a_rest_of_which_nothing_is_known_yet)
{
	struct lull_blame blame = blame_begin(512);

	lull_blame_rested(&blame, 1000);
	assert_true(lull_blame_suspects(&blame, 900, 1000));
	assert_false(lull_blame_suspects(&blame, 900, 999)); /* lost before it began */
	lull_blame_iterate(&blame, 2000, 10, true);
	assert_false(lull_blame_suspects(&blame, 900, 3000));
}

/* After a ring full of bursts all has been fetched that the rest had left. */
TEST(suspects__no_rest_for_an_overload_that_lasts)
{
	struct lull_blame blame = blame_begin(512);
	uint64_t now_ns = 2000;

	lull_blame_rested(&blame, 1000);
	for (uint32_t i = 0; i < 17; i++)
		lull_blame_iterate(&blame, now_ns++, 32, false);
	assert_true(lull_blame_suspects(&blame, 5000, 5000));
	lull_blame_iterate(&blame, now_ns, 32, false);
	assert_true(lull_blame_suspects(&blame, now_ns, 5000));
	assert_false(lull_blame_suspects(&blame, now_ns + 1, 5000));
	lull_blame_iterate(&blame, now_ns + 10, 32, false);
	assert_false(lull_blame_suspects(&blame, now_ns + 1, 5000));
}

/* A rest on top of a backlog: both have filled the ring. */
TEST(rested__counts_on_while_a_backlog_is_left)
{
	struct lull_blame blame = blame_begin(512);

	lull_blame_rested(&blame, 1000);
	for (uint32_t i = 0; i < 5; i++)
		lull_blame_iterate(&blame, 2000, 32, false);
	lull_blame_rested(&blame, 3000);
	for (uint32_t i = 0; i < 3; i++)
		lull_blame_iterate(&blame, 4000, 32, i == 2);
	assert_true(lull_blame_suspects(&blame, 4000, 5000));
	/* and the next one alone again */
	lull_blame_rested(&blame, 6000);
	lull_blame_iterate(&blame, 7000, 200, true);
	assert_false(lull_blame_suspects(&blame, 4001, 8000));
}

TEST(suspects__each_rest_when_the_ring_is_not_known)
{
	struct lull_blame blame = blame_begin(0);

	lull_blame_iterate(&blame, 500, 100, true);
	assert_false(lull_blame_suspects(&blame, 0, 1000));
	lull_blame_rested(&blame, 1000);
	lull_blame_iterate(&blame, 2000, 0, true);
	assert_true(lull_blame_suspects(&blame, 2000, 3000));
}

/* ---- of an idle object ---- */

static struct lull_idle *
idle_begin(uint32_t ring_pkts)
{
	struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED,
					   .ring_pkts = ring_pkts };
	void *memory = aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + 63) / 64 * 64);
	struct lull_idle *idle;

	assert_int_equal(lull_idle_init(memory, &lull_idle_spin, &limits, 1000 * US, &idle), 0);
	return idle;
}

static void
iteration(struct lull_idle *idle, uint64_t now_ns, uint16_t pkts)
{
	struct lull_iteration iteration = { .now_ns = now_ns,
					    .queue_pkts = &pkts,
					    .queue_count = 1 };

	lull_idle_plan(idle, &iteration);
}

static void
rested(struct lull_idle *idle, uint64_t *now_ns)
{
	struct lull_wake wake = { .rest = { .idle_state = LULL_IDLE_SLEEP, .limit_ns = 50 * US },
				  .begin_ns = *now_ns,
				  .end_ns = *now_ns + 50 * US };

	lull_idle_wake(idle, &wake);
	*now_ns = wake.end_ns;
}

/* One rest, and then so many packets in bursts before the queue runs short. */
static void
rest_and_fetch(struct lull_idle *idle, uint64_t *now_ns, uint32_t pkts)
{
	rested(idle, now_ns);
	for (; pkts >= 32; pkts -= 32, *now_ns += US)
		iteration(idle, *now_ns, 32);
	iteration(idle, *now_ns, (uint16_t)pkts);
	*now_ns += US;
}

TEST(miss__charged_to_a_rest_that_may_have_filled_the_ring)
{
	struct lull_idle *idle = idle_begin(512);
	const struct lull_idle_counters *counters = lull_idle_counters(idle);
	uint64_t now_ns = 2000 * US;

	lull_idle_miss(idle, 1000 * US, 7);
	assert_int_equal(counters->misses_other, 7); /* no rest at all */
	rest_and_fetch(idle, &now_ns, 200);
	lull_idle_miss(idle, now_ns, 5);
	assert_int_equal(counters->misses_other, 12); /* far from a ring full behind it */
	rest_and_fetch(idle, &now_ns, 500);
	lull_idle_miss(idle, now_ns, 3);
	assert_int_equal(counters->misses, 3);
	lull_idle_miss(idle, now_ns + 10 * US, 2);
	assert_int_equal(counters->misses_other, 14); /* since then it has polled */
	free(idle);
}

/* A driver that is told of its losses once a second: what a rest lost appears long after it. */
TEST(miss__charged_to_a_rest_of_which_the_counter_tells_late)
{
	const struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED,
						 .ring_pkts = 512,
						 .loss_lag_ns = LULL_NS_PER_S };
	struct lull_idle *idle = idle_begin(512);
	const struct lull_idle_counters *counters = lull_idle_counters(idle);
	uint64_t now_ns = 2000 * US, suspect_ns;

	assert_int_equal(lull_idle_change(idle, NULL, &limits), 0);
	rest_and_fetch(idle, &now_ns, 500);
	suspect_ns = now_ns;
	/* looked at every 10 ms, and nothing has been lost so far as anybody knows */
	for (; now_ns < suspect_ns + 990 * LULL_NS_PER_MS; now_ns += 10 * LULL_NS_PER_MS) {
		rest_and_fetch(idle, &now_ns, 1);
		lull_idle_miss(idle, now_ns, 0);
	}
	lull_idle_miss(idle, now_ns, 3);
	assert_int_equal(counters->misses, 3);
	assert_int_equal(counters->misses_other, 0);
	/* a second later that rest is none of it */
	for (int i = 0; i < 100; i++, now_ns += 10 * LULL_NS_PER_MS) {
		rest_and_fetch(idle, &now_ns, 1);
		lull_idle_miss(idle, now_ns, 0);
	}
	lull_idle_miss(idle, now_ns, 5);
	assert_int_equal(counters->misses, 3);
	assert_int_equal(counters->misses_other, 5);
	free(idle);
}

/* Behind a small ring nobody has spoken of any rest may be too long. */
TEST(miss__charged_to_any_rest_when_the_ring_is_not_known)
{
	struct lull_idle *idle = idle_begin(0);
	uint64_t now_ns = 2000 * US;

	rest_and_fetch(idle, &now_ns, 1);
	lull_idle_miss(idle, now_ns, 3);
	lull_idle_miss(idle, now_ns + 10 * US, 2);
	assert_int_equal(lull_idle_counters(idle)->misses, 3);
	assert_int_equal(lull_idle_counters(idle)->misses_other, 2);
	/* one that has just ended, and nothing has been fetched yet */
	now_ns += 20 * US;
	rested(idle, &now_ns);
	lull_idle_miss(idle, now_ns, 4);
	assert_int_equal(lull_idle_counters(idle)->misses, 7);
	free(idle);
}

/* More comes than the loop can take: the last rest is to blame for what its ring held, no more. */
TEST(miss__overload_is_not_charged_to_the_rest_before_it)
{
	struct lull_idle *idle = idle_begin(512);
	const struct lull_idle_counters *counters = lull_idle_counters(idle);
	uint64_t now_ns = 2000 * US;

	rest_and_fetch(idle, &now_ns, 0);
	lull_idle_miss(idle, now_ns, 0);
	rested(idle, &now_ns);
	for (uint32_t i = 0; i < 1000; i++, now_ns += US)
		iteration(idle, now_ns, 32);
	lull_idle_miss(idle, now_ns, 100);
	assert_int_equal(counters->misses, 100); /* some of them in the rest */
	for (uint32_t i = 0; i < 1000; i++, now_ns += US)
		iteration(idle, now_ns, 32);
	lull_idle_miss(idle, now_ns, 400);
	assert_int_equal(counters->misses, 100);
	assert_int_equal(counters->misses_other, 400);
	free(idle);
}
