/* SPDX-License-Identifier: BSD-3-Clause */
/* host/loop under ThreadSanitizer: others command it and read it. */
#include "loop_world.h"

#include <errno.h>

TEST(loop__takes_commands_in_order_and_tells_what_it_does)
{
	const struct lull_idle_governor *ramp = lull_idle_governor_find("ramp");
	const struct lull_idle_limits limits = { .latency_ns = 300 * LULL_NS_PER_US };
	struct lull_loop_snapshot snapshot;
	const void *read;

	for (uint64_t number = 1; number <= 1000; number++)
		while (lull_loop_post_stage(&world->loop, &number, sizeof(number)) == -EAGAIN)
			usleep(100);
	WAIT_FOR(LULL_COUNTER_READ(world->counters.commands) == 1000);
	assert_ptr_equal(lull_loop_stage_counters(&world->loop, &read), world_counters);
	assert_ptr_equal(read, &world->counters);
	assert_int_equal(lull_loop_post_mark(&world->loop, 5), 0);
	assert_int_equal(lull_loop_post_change(&world->loop, ramp, &limits), 0);
	WAIT_FOR((lull_loop_snapshot(&world->loop, &snapshot), snapshot.window == 5));
	WAIT_FOR((lull_loop_snapshot(&world->loop, &snapshot), snapshot.governor == ramp));
	assert_int_equal(snapshot.limits.latency_ns, 300 * LULL_NS_PER_US);
	assert_int_equal(snapshot.limits.burst_pkts, 32);
	assert_int_equal(__atomic_load_n(&world->kicks, __ATOMIC_RELAXED), 1002);
	assert_int_equal(LULL_COUNTER_READ(world->counters.marks), 2); /* one as it began */
	assert_true(lull_loop_tid(&world->loop) > 0);
	WAIT_FOR(LULL_COUNTER_READ(lull_loop_counters(&world->loop)->rests[LULL_IDLE_SLEEP]) +
			 LULL_COUNTER_READ(
				 lull_loop_counters(&world->loop)->rests[LULL_IDLE_PAUSE]) >
		 0);
	assert_int_equal(__atomic_load_n(&world->begun, __ATOMIC_RELAXED), 1);
	assert_int_equal(__atomic_load_n(&world->ended, __ATOMIC_RELAXED), 0);
}

/* What its source lost after a rest is charged to resting. */
TEST(loop__hears_of_losses_in_its_housekeeping)
{
	const struct lull_idle_counters *idle = lull_loop_counters(&world->loop);
	uint64_t missed, nombuf;

	WAIT_FOR(__atomic_load_n(&world->audits, __ATOMIC_RELAXED) > 2);
	__atomic_store_n(&world->losing, true, __ATOMIC_RELAXED);
	WAIT_FOR(LULL_COUNTER_READ(idle->misses) + LULL_COUNTER_READ(idle->misses_other) ==
		 LOST_PKTS);
	lull_loop_missed(&world->loop, &missed, &nombuf);
	assert_int_equal(missed + nombuf, 0); /* this source does not tell */
}

TEST(loop__refuses_limits_that_do_not_fit)
{
	const struct lull_idle_limits wrong = { .latency_ns = 5 * LULL_NS_PER_S };

	assert_int_equal(lull_loop_post_change(&world->loop, NULL, &wrong), -EINVAL);
}

TEST_GROUP(world_open, world_close);
