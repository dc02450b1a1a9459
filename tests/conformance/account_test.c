/* SPDX-License-Identifier: BSD-3-Clause */
/* What an idle object reports is true whichever governor rests: counters and the bound of waits. */

#include "case.h"
#include "idle_world.h"

TEST(counters__add_up)
{
	FOR_EACH_GOVERNOR(governor)
	for (uint32_t i = 0; i < WORLD_TRAFFIC_COUNT * WORLD_MACHINE_COUNT; i++) {
		struct world_setup setup = world_setup_plain(governor);
		const struct lull_idle_counters *counters;
		uint64_t rests = 0;
		struct world *world;

		setup.traffic = i % WORLD_TRAFFIC_COUNT;
		setup.machine = i / WORLD_TRAFFIC_COUNT;
		setup.limits.idle_states = i % 2 ? PAUSE_SLEEP : EVERYTHING;
		setup.limits.ring_pkts = 128;
		setup.queue_count = 1 + i % 4;
		setup.seed = i;
		world = world_create(&setup);
		world_run(world, 3000);
		/*
		 * time is accounted up to the last iteration's begin, which this makes the end of
		 * all
		 */
		world_step(world, false);
		world_step(world, false);
		counters = lull_idle_counters(world->idle);
		assert_int_equal(counters->iterations, world->iterations);
		assert_int_equal(counters->iterations_empty, world->iterations_empty);
		assert_int_equal(counters->pkts, world->pkts);
		assert_int_equal(counters->rest_ns, world->rest_ns);
		assert_int_equal(counters->rest_requested_ns, world->requested_ns);
		assert_int_equal(counters->busy_ns + counters->empty_ns + counters->rest_ns,
				 world->last_iteration_ns - world->begin_ns);
		for (uint32_t idle_state = 0; idle_state < LULL_IDLE_STATE_COUNT; idle_state++)
			rests += counters->rests[idle_state];
		assert_int_equal(rests, world->rests);
		assert_int_equal(lull_idle_rest_histogram(world->idle)->count, world->rests);
		assert_int_equal(counters->misses + counters->misses_other, world->lost_told);
		assert_int_equal(lull_idle_wait_histogram(world->idle)->count,
				 world->pkts - world->last_pkts);
		assert_true(lull_idle_empty_ppm(counters) <= LULL_PPM);
		assert_true(lull_idle_usage_ppm(counters) <= LULL_PPM);
		world_destroy(world);
	}
}

/* At no percentile does the bound lie below the waits that the world knows to be true. */
TEST(wait__bound_is_one)
{
	static const uint32_t idle_states[] = { SLEEP_ONLY, MONITOR_SLEEP, EVERYTHING };

	FOR_EACH_GOVERNOR(governor)
	for (uint32_t i = 0; i < WORLD_TRAFFIC_COUNT * WORLD_MACHINE_COUNT * COUNT(idle_states);
	     i++) {
		struct world_setup setup = world_setup_plain(governor);
		const struct lull_histogram *bound;
		uint64_t bound_above = 0, true_above = 0;
		struct world *world;

		setup.traffic = i % WORLD_TRAFFIC_COUNT;
		setup.machine = i / WORLD_TRAFFIC_COUNT % WORLD_MACHINE_COUNT;
		setup.limits.idle_states =
			idle_states[i / WORLD_TRAFFIC_COUNT / WORLD_MACHINE_COUNT];
		setup.queue_count = 1 + i % 4 * 4;
		setup.seed = i;
		world = world_create(&setup);
		world_run(world, 1500);
		/* the last packets are accounted by two iterations without any */
		world_traffic_set(world, WORLD_SILENCE);
		while (world->last_pkts > 0)
			world_step(world, false);
		world_step(world, false);
		bound = lull_idle_wait_histogram(world->idle);
		assert_int_equal(bound->count, world->waits.count);
		for (uint32_t bin = LULL_HISTOGRAM_BINS; bin-- > 0;) {
			bound_above += bound->bins[bin];
			true_above += world->waits.bins[bin];
			if (bound_above < true_above)
				fail_msg("%s, case %u: %llu packets waited %llu ns or more, "
					 "the bound says %llu",
					 lull_idle_governor_name(governor), i,
					 (unsigned long long)true_above,
					 (unsigned long long)lull_histogram_low(bin),
					 (unsigned long long)bound_above);
		}
		world_destroy(world);
	}
}
