/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every governor of the list keeps to, driven through lull_idle_plan() and lull_idle_wake() in
 * virtual time. A new governor is tested by being in the list.
 */

#include "case.h"
#include "idle_world.h"

static bool
is_named(const struct lull_idle_governor *governor, const char *name)
{
	return strcmp(lull_idle_governor_name(governor), name) == 0;
}

TEST(governors__have_names_and_are_found)
{
	static const char *const expected[] = { "spin",      "yield",  "fixed",
						"ramp",      "halve",  "drain",
						"metronome", "kalman", "kalman-guarded",
						"objective", "phase" };

	for (size_t i = 0; i < COUNT(expected); i++)
		assert_ptr_equal(lull_idle_governor_find(expected[i]), lull_idle_governors[i]);
	FOR_EACH_GOVERNOR(governor)
	{
		assert_ptr_equal(lull_idle_governor_find(lull_idle_governor_name(governor)),
				 governor);
		assert_true(strlen(lull_idle_governor_summary(governor)) > 10);
		assert_true(strlen(lull_idle_governor_summary(governor)) <= 80);
	}
	assert_null(lull_idle_governor_find(""));
	assert_null(lull_idle_governor_find("spi"));
	assert_null(lull_idle_governor_find("spinn"));
	assert_null(lull_idle_governor_find("Spin"));
}

/*
 * world_check() asks at each step: cap, idle states on offer, deadlines, no rest after a full
 * burst.
 */
TEST(plan__keeps_to_the_limits)
{
	static const uint32_t idle_states[] = { SLEEP_ONLY, PAUSE_ONLY, PAUSE_SLEEP, MONITOR_SLEEP,
						EVERYTHING };

	FOR_EACH_GOVERNOR(governor)
	for (uint32_t i = 0; i < WORLD_TRAFFIC_COUNT * WORLD_MACHINE_COUNT * COUNT(idle_states);
	     i++) {
		struct world_setup setup = world_setup_plain(governor);
		struct world *world;

		setup.traffic = i % WORLD_TRAFFIC_COUNT;
		setup.machine = i / WORLD_TRAFFIC_COUNT % WORLD_MACHINE_COUNT;
		setup.limits.idle_states =
			idle_states[i / WORLD_TRAFFIC_COUNT / WORLD_MACHINE_COUNT];
		setup.limits.rest_ns_max = 150 * LULL_NS_PER_US;
		setup.queue_count = 1 + i % 3;
		setup.duty_ns = i % 2 * 400 * LULL_NS_PER_US;
		setup.seed = i + 1;
		world = world_create(&setup);
		world_run(world, 2000);
		world_destroy(world);
	}
}

TEST(plan__rests_in_silence)
{
	FOR_EACH_GOVERNOR(governor)
	for (uint32_t machine = 0; machine < WORLD_LATE_RARELY; machine++) {
		struct world_setup setup = world_setup_plain(governor);
		struct world *world;

		setup.machine = machine;
		world = world_create(&setup);
		world_run(world, 20000);
		if (is_named(governor, "spin"))
			assert_int_equal(world->rests, 0);
		else
			assert_true(world->rests > 20000 / 256 - 2);
		world_destroy(world);
	}
}

/* May this governor rest after an iteration like the last one? What its source file says. */
static bool
may_rest(const struct lull_idle_governor *governor, const struct world *world)
{
	if (is_named(governor, "ramp"))
		return world->last_queue_pkts_max < 16;
	if (is_named(governor, "objective") || is_named(governor, "kalman-guarded"))
		return world->last_drained;
	return world->last_pkts == 0;
}

TEST(plan__traffic_ends_rests)
{
	static const enum world_traffic traffics[] = { WORLD_TRICKLE, WORLD_STEADY, WORLD_BURSTS,
						       WORLD_FLOOD };

	FOR_EACH_GOVERNOR(governor)
	for (size_t i = 0; i < COUNT(traffics); i++) {
		struct world_setup setup = world_setup_plain(governor);
		struct world *world;
		uint64_t full = 0;

		setup.machine = WORLD_LATE_5US;
		world = world_create(&setup);
		world_run(world, 3000);
		world_traffic_set(world, traffics[i]);
		for (uint32_t iteration = 0; iteration < 3000; iteration++) {
			world_step(world, true);
			if (!may_rest(governor, world))
				assert_int_equal(world->last_plan.idle_state, LULL_IDLE_NONE);
			full += !world->last_drained;
		}
		/* A flood leaves nothing to rest for: back to polling for good. */
		if (traffics[i] == WORLD_FLOOD)
			assert_true(full >= 2998);
		/* and back to resting when it is over */
		world_traffic_set(world, WORLD_SILENCE);
		world_run(world, 100);
		world->rests = 0;
		world_run(world, 10000);
		assert_true(is_named(governor, "spin") || world->rests > 10000 / 256 - 2);
		world_destroy(world);
	}
}

TEST(plan__same_inputs_same_plans)
{
	FOR_EACH_GOVERNOR(governor)
	for (uint32_t i = 0; i < WORLD_TRAFFIC_COUNT * WORLD_MACHINE_COUNT; i++) {
		struct world_setup setup = world_setup_plain(governor);
		struct world *first, *second;

		setup.traffic = i % WORLD_TRAFFIC_COUNT;
		setup.machine = i / WORLD_TRAFFIC_COUNT;
		setup.limits.idle_states = EVERYTHING;
		setup.queue_count = 2;
		setup.seed = i;
		first = world_create(&setup);
		setup.garbage = 0xa5;
		second = world_create(&setup);
		world_run(first, 2000);
		world_run(second, 2000);
		assert_int_equal(first->plan_count, second->plan_count);
		assert_memory_equal(first->plans, second->plans,
				    first->plan_count * sizeof(first->plans[0]));
		world_destroy(first);
		world_destroy(second);
	}
}

/* Every governor in three loops, all taking turns, decides what each would alone. */
TEST(plan__instances_do_not_meet)
{
	enum { WORLDS_MAX = 48, ITERATIONS = 1500 };
	struct world *together[WORLDS_MAX], *alone;
	struct world_setup setups[WORLDS_MAX];
	uint32_t count = 0;

	FOR_EACH_GOVERNOR(governor)
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(count < WORLDS_MAX);
		setups[count] = world_setup_plain(governor);
		setups[count].traffic = WORLD_STEADY + i % 2;
		setups[count].machine = WORLD_LATE_5US + i;
		setups[count].seed = 100 + count;
		together[count] = world_create(&setups[count]);
		count++;
	}
	for (uint32_t iteration = 0; iteration < ITERATIONS; iteration++)
		for (uint32_t i = 0; i < count; i++)
			world_step(together[i], true);
	for (uint32_t i = 0; i < count; i++) {
		alone = world_create(&setups[i]);
		world_run(alone, ITERATIONS);
		assert_memory_equal(alone->plans, together[i]->plans,
				    ITERATIONS * sizeof(alone->plans[0]));
		world_destroy(alone);
		world_destroy(together[i]);
	}
}

/* world_check() reads the limits in force, so the very next plan must keep to new ones. */
TEST(change__holds_from_the_next_plan)
{
	FOR_EACH_GOVERNOR(governor)
	{
		struct world_setup setup = world_setup_plain(governor);
		struct lull_idle_limits limits = setup.limits;
		struct world *world = world_create(&setup);
		uint64_t iterations;

		world_run(world, 5000);
		limits.rest_ns_max = 3000;
		assert_int_equal(lull_idle_change(world->idle, NULL, &limits), 0);
		assert_ptr_equal(lull_idle_governor(world->idle), governor);
		world_run(world, 1000);
		limits.idle_states = PAUSE_ONLY;
		assert_int_equal(lull_idle_change(world->idle, NULL, &limits), 0);
		world_run(world, 1000);
		limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_NONE);
		assert_int_equal(lull_idle_change(world->idle, NULL, &limits), 0);
		world_step(world, true);
		assert_int_equal(world->last_plan.idle_state, LULL_IDLE_NONE);

		/* refused: nothing changes */
		limits.rest_ns_max = 2 * LULL_NS_PER_S;
		assert_true(lull_idle_change(world->idle, NULL, &limits) < 0);
		assert_int_equal(lull_idle_limits(world->idle)->rest_ns_max, 3000);

		/* another governor at once, with the counters of the loop going on */
		iterations = lull_idle_counters(world->idle)->iterations;
		FOR_EACH_GOVERNOR(other)
		{
			limits = setup.limits;
			limits.rest_ns = 12345;
			assert_int_equal(lull_idle_change(world->idle, other, &limits), 0);
			world_step(world, true);
			iterations++;
			assert_ptr_equal(lull_idle_governor(world->idle), other);
			if (is_named(other, "spin"))
				assert_int_equal(world->last_plan.idle_state, LULL_IDLE_NONE);
			if (is_named(other, "yield"))
				assert_int_equal(world->last_plan.limit_ns, 1);
			if (is_named(other, "fixed"))
				assert_int_equal(world->last_plan.limit_ns, 12345);
		}
		assert_int_equal(lull_idle_counters(world->idle)->iterations, iterations);
		world_destroy(world);
	}
}

struct extreme {
	uint64_t rest_ns_max;
	uint32_t queue_count;
	uint32_t ring_pkts;
	uint32_t held_pkts;
	uint32_t burst_pkts;
	uint32_t percentile_ppm;
	uint64_t latency_ns;
	uint64_t rest_ns;
	uint64_t pps_max; /* 0: learned */
};

static const struct extreme extremes[] = {
	/* cap, queues, ring, held, burst, percentile, latency, rest, pps */
	{ 1, 1, 512, 0, 32, 0, 0, 0, 500000 },
	{ 1, 64, 64, 0, 32, 0, 0, 1, 0 },
	{ LULL_NS_PER_S, 1, 1024, 0, 32, 0, LULL_NS_PER_S, LULL_NS_PER_S, 1 },
	{ LULL_NS_PER_S, 64, 64, 0, 32, 500000, LULL_NS_PER_S, LULL_NS_PER_S, 0 },
	{ LULL_NS_PER_S, 2, 64, 63, 32, 999999, LULL_NS_PER_US, 1, 1000000000000 },
	{ LULL_NS_PER_MS, 3, 1, 0, 1, 999999, LULL_NS_PER_US, 1, 14880952 },
	{ 999, 1, 64, 0, 64, 0, 0, 0, 1000 },
	{ LULL_NS_PER_MS, 64, 1024, 64, 1, 0, 0, 0, 0 },
};

static struct world_setup
setup_extreme(const struct lull_idle_governor *governor, const struct extreme *extreme)
{
	struct world_setup setup = world_setup_plain(governor);

	setup.queue_count = extreme->queue_count;
	setup.limits = (struct lull_idle_limits){
		.latency_ns = extreme->latency_ns,
		.percentile_ppm = extreme->percentile_ppm,
		.rest_ns_max = extreme->rest_ns_max,
		.rest_ns = extreme->rest_ns,
		.ring_pkts = extreme->ring_pkts,
		.held_pkts = extreme->held_pkts,
		.envelope = extreme->pps_max > 0 ? LULL_ENVELOPE_STATED : LULL_ENVELOPE_LEARNED,
		.pps_max = extreme->pps_max,
		.burst_pkts = extreme->burst_pkts,
		.idle_states = EVERYTHING,
	};
	return setup;
}

/* An iteration with nothing and a wake of @p end_ns as told, whatever was planned. */
static void
world_odd_wake(struct world *world, enum lull_idle_state idle_state, uint64_t begin_ns,
	       uint64_t end_ns)
{
	struct lull_wake wake = {
		.rest = { .idle_state = idle_state, .limit_ns = 1 },
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.reason = LULL_WAKE_KICK,
	};

	world_step(world, false);
	lull_idle_wake(world->idle, &wake);
	world->now_ns = LULL_MAX(world->now_ns, end_ns);
}

TEST(plan__survives_extremes)
{
	FOR_EACH_GOVERNOR(governor)
	for (uint32_t i = 0; i < COUNT(extremes) * WORLD_TRAFFIC_COUNT; i++) {
		struct world_setup setup =
			setup_extreme(governor, &extremes[i / WORLD_TRAFFIC_COUNT]);
		struct world *world;

		setup.traffic = i % WORLD_TRAFFIC_COUNT;
		setup.machine = i % WORLD_MACHINE_COUNT;
		setup.seed = i;
		world = world_create(&setup);
		world_run(world, 300);
		for (uint32_t idle_state = LULL_IDLE_PAUSE; idle_state < LULL_IDLE_STATE_COUNT;
		     idle_state++) {
			/* no length at all, no time passing, and 10 s beyond the limit */
			world_odd_wake(world, idle_state, world->now_ns, world->now_ns);
			world_run(world, 20);
			world_odd_wake(world, idle_state, world->now_ns, world->now_ns + 1);
			world_odd_wake(world, idle_state, world->now_ns,
				       world->now_ns + 10 * LULL_NS_PER_S);
			world_run(world, 20);
			/* the loop itself was away for 10 s */
			world->now_ns += 10 * LULL_NS_PER_S;
			world_run(world, 20);
			lull_idle_miss(world->idle, world->now_ns, UINT32_MAX);
		}
		world_run(world, 300);
		world_destroy(world);
	}
}

/* The same instant again and again: a clock coarser than an iteration. */
TEST(plan__survives_a_standing_clock)
{
	uint16_t queue_pkts[2] = { 0, 0 };

	FOR_EACH_GOVERNOR(governor)
	{
		struct world_setup setup = world_setup_plain(governor);
		struct world *world = world_create(&setup);
		struct lull_iteration iteration = {
			.now_ns = world->now_ns,
			.queue_pkts = queue_pkts,
			.queue_count = 2,
		};

		for (uint32_t i = 0; i < 2000; i++) {
			struct lull_rest rest;
			struct lull_wake wake = { .begin_ns = iteration.now_ns,
						  .end_ns = iteration.now_ns,
						  .reason = LULL_WAKE_TIMER };

			queue_pkts[0] = i % 7 == 0 ? 32 : 0;
			rest = lull_idle_plan(world->idle, &iteration);
			wake.rest = rest;
			if (rest.idle_state != LULL_IDLE_NONE)
				lull_idle_wake(world->idle, &wake);
		}
		world_destroy(world);
	}
}
