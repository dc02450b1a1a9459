/* SPDX-License-Identifier: BSD-3-Clause */
/* When a loop loses its real-time class, and when it gets it back. */

#include "case.h"
#include "sim/watch.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

/* A loop that takes iterations of 100 us, so many in 100 of them CPU time. */
struct loop {
	struct lull_sim_watch watch;
	uint64_t now_ns, cpu_ns;
};

static void
go_on(struct loop *loop, uint64_t ns, bool rests, uint64_t busy_pct)
{
	uint64_t end_ns = loop->now_ns + ns;

	while (loop->now_ns < end_ns) {
		loop->now_ns += 100 * US;
		loop->cpu_ns += busy_pct * US;
		lull_sim_watch_iteration(&loop->watch, rests, loop->now_ns, loop->cpu_ns);
	}
}

/* How long until the class is the one expected, at most a second. */
static uint64_t
until(struct loop *loop, bool realtime, bool rests, uint64_t busy_pct)
{
	uint64_t begin_ns = loop->now_ns;

	while (loop->watch.realtime != realtime && loop->now_ns < begin_ns + LULL_NS_PER_S)
		go_on(loop, 100 * US, rests, busy_pct);
	return loop->now_ns - begin_ns;
}

TEST(rests__keep_the_class)
{
	struct loop loop = { .now_ns = 7 * MS };

	lull_sim_watch_init(&loop.watch, true, loop.now_ns);
	assert_true(loop.watch.realtime);
	go_on(&loop, LULL_NS_PER_S, true, 69);
	assert_true(loop.watch.realtime);
	assert_int_equal(loop.watch.leave_count, 0);
}

TEST(no_rest__loses_it_within_10_ms)
{
	for (uint64_t phase_ns = 0; phase_ns < 8 * MS; phase_ns += 300 * US) {
		struct loop loop = { .now_ns = 0 };
		uint64_t ns;

		lull_sim_watch_init(&loop.watch, true, 0);
		go_on(&loop, 100 * MS + phase_ns, true, 10);
		ns = until(&loop, false, false, 100);
		assert_in_range(ns, 3900 * US, 8100 * US);
		assert_int_equal(loop.watch.leave_count, 1);
	}
}

/* It rests in every iteration, but hardly: that is not what the class is for. */
TEST(seventy_percent__lose_it_within_two_windows)
{
	struct loop loop = { .now_ns = 0 };

	lull_sim_watch_init(&loop.watch, true, 0);
	go_on(&loop, 100 * MS, true, 10);
	assert_in_range(until(&loop, false, true, 80), 16 * MS, 24 * MS);
	/* and at once from the start of a load that fills the core */
	lull_sim_watch_init(&loop.watch, true, loop.now_ns);
	assert_in_range(until(&loop, false, true, 100), 16 * MS, 24 * MS);
}

TEST(class__comes_back_after_50_ms_of_rests)
{
	struct loop loop = { .now_ns = 0 };

	lull_sim_watch_init(&loop.watch, true, 0);
	go_on(&loop, 2 * LULL_NS_PER_S, true, 10);
	until(&loop, false, false, 100);
	go_on(&loop, 50 * MS, false, 100);
	/* more than half, and it is not at rest, rests or not */
	go_on(&loop, 100 * MS, true, 60);
	assert_in_range(until(&loop, true, true, 10), 50 * MS, 62 * MS);
	go_on(&loop, 2 * LULL_NS_PER_S, true, 60); /* inside, that is good enough */
	assert_int_equal(loop.watch.leave_count, 1);
	/* one look without a rest, and the wait begins anew */
	until(&loop, false, false, 100);
	go_on(&loop, 40 * MS, true, 10);
	go_on(&loop, 8 * MS, false, 10);
	assert_in_range(until(&loop, true, true, 10), 50 * MS, 62 * MS);
	assert_int_equal(loop.watch.leave_count, 2);
}

/* In and out again: each time it waits twice as long, until it has stayed for a second. */
TEST(flapping__waits_longer_each_time)
{
	struct loop loop = { .now_ns = 0 };
	uint64_t wait_ms = 50;

	lull_sim_watch_init(&loop.watch, true, 0);
	for (uint32_t i = 0; i < 4; i++, wait_ms *= 2) {
		go_on(&loop, 500 * MS, true, 10);
		until(&loop, false, false, 100);
		assert_in_range(until(&loop, true, true, 10), wait_ms * MS, (wait_ms + 12) * MS);
	}
	go_on(&loop, 1100 * MS, true, 10);
	until(&loop, false, false, 100);
	assert_in_range(until(&loop, true, true, 10), 50 * MS, 62 * MS);
}

/* A sleep of many looks uses nothing: no reason to leave. */
TEST(long_rest__keeps_the_class)
{
	struct loop loop = { .now_ns = 0 };

	lull_sim_watch_init(&loop.watch, true, 0);
	go_on(&loop, 100 * MS, false, 10);
	assert_true(loop.watch.realtime);
}

TEST(not_wanted__never_has_it)
{
	struct loop loop = { .now_ns = 0 };

	lull_sim_watch_init(&loop.watch, false, 0);
	go_on(&loop, LULL_NS_PER_S, true, 1);
	assert_false(loop.watch.realtime);
	assert_int_equal(loop.watch.leave_count, 0);
}
