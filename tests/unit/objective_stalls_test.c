/* SPDX-License-Identifier: BSD-3-Clause */
/* The objective governor on hosts that hold it up: what it promises, and what it does instead. */
#include <stdio.h>

#include "case.h"
#include "objective_world.h"

TEST(plan__rests_anyway_where_polling_is_held_up_as_much)
{
	struct world_config config = usual;
	struct world world;

	config.late_ppm = 50000;
	config.late_ns = 2 * MS;
	config.stall_every_ns = 20 * MS;
	config.stall_ns = 2 * MS;
	config.duration_ns = 4000 * MS;
	world_begin(&world, &config);
	world_run(&world, 1000 * MS);
	world_mark(&world);
	world_run(&world, config.duration_ns);
	assert_int_not_equal(world.verdict.state, LULL_VERDICT_FEASIBLE);
	assert_true(cpu_share(&world) < 0.3);
	assert_int_equal(world.lost, 0);
	/* but never where no loss was promised and polling keeps that promise */
	world.config.limits.envelope = LULL_ENVELOPE_STATED;
	world.config.limits.pps_max = 1000000;
	world.config.stall_every_ns = 0;
	assert_int_equal(lull_idle_change(world.idle, NULL, &world.config.limits), 0);
	world_run(&world, 500 * MS);
	world_mark(&world);
	world_run(&world, config.duration_ns);
	assert_true(cpu_share(&world) > 0.8);
	world_end(&world);
}

/* The stalls of a loop that polled say nothing about one that rests. */
TEST(change__another_governor_begins_with_a_clean_record)
{
	struct world_config config = usual;
	struct world world;

	config.governor = "spin";
	config.stall_every_ns = 20 * MS;
	config.stall_ns = 3 * MS;
	world_begin(&world, &config);
	world_run(&world, 500 * MS);
	world.config.stall_every_ns = 0;
	assert_int_equal(
		lull_idle_change(world.idle, lull_idle_governor_find("objective"), &config.limits),
		0);
	world_mark(&world);
	world_run(&world, 50 * MS);
	assert_int_equal(world.verdict.stall_ns, 0);
	assert_int_equal(world.verdict.state, LULL_VERDICT_FEASIBLE);
	world_end(&world);
}

/* After a change of class what was learned of late wake-ups goes, and the promise comes back. */
TEST(forget__drops_what_another_class_has_taught)
{
	struct world_config config = usual;
	struct world world;

	config.late_ppm = 2000;
	config.late_ns = 600 * US;
	world_begin(&world, &config);
	world_run(&world, 1000 * MS);
	assert_true(world.verdict.stall_ppm > 0);
	assert_true(world.verdict.overshoot_p9999_ns > 500 * US);
	world.config.late_ppm = 0;
	lull_idle_forget(world.idle);
	world_mark(&world);
	world_run(&world, 1 * MS);
	assert_int_equal(world.verdict.stall_ppm, 0);
	assert_int_equal(world.verdict.stall_ns, 0);
	assert_true(world.verdict.calibration_count < 100);
	world_end(&world);
}

/* Stalls longer than the ring lasts at the stated rate, for pollers too: no promise, but a rest. */
TEST(plan__rests_anyway_where_polling_cannot_promise_either)
{
	struct world_config config = usual;
	struct world world;

	config.limits.envelope = LULL_ENVELOPE_STATED;
	config.limits.pps_max = 1000000;
	config.stall_every_ns = 500 * MS;
	config.stall_ns = 2 * MS;
	config.pps = 1000;
	world_begin(&world, &config);
	world_run(&world, 8000 * MS);
	world_mark(&world);
	world.config.duration_ns = 10000 * MS;
	world_run(&world, world.config.duration_ns);
	assert_int_equal(world.verdict.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(world.verdict.binding, LULL_BOUND_RING);
	assert_int_equal(world.verdict.idle_state, LULL_IDLE_SLEEP);
	assert_true(cpu_share(&world) < 0.06);
	world_end(&world);
}

/* Wake-ups so late that the ring may overflow: only a promise of no loss holds from the start. */
TEST(plan__rests_in_its_first_second_unless_loss_is_promised)
{
	struct world_config config = usual;
	struct world world;

	config.ring_pkts = config.limits.ring_pkts = 256;
	config.pps = 300000;
	config.late_ppm = 2000;
	config.late_ns = 900 * US;
	settle_and_run(&world, &config);
	assert_true(cpu_share(&world) < 0.3);
	world_end(&world);
	config.limits.envelope = LULL_ENVELOPE_STATED;
	config.limits.pps_max = 400000;
	settle_and_run(&world, &config);
	assert_true(cpu_share(&world) > 0.9);
	world_end(&world);
}

TEST(plan__rests_where_no_packet_can_be_late)
{
	struct world_config config = usual;
	struct world world;

	config.late_ppm = 50000;
	config.late_ns = 1 * MS;
	world_begin(&world, &config);
	world_run(&world, 2000 * MS);
	assert_int_equal(world.verdict.idle_state, LULL_IDLE_PAUSE);
	world.config.pps = 0;
	world_next(&world);
	world_run(&world, 1100 * MS);
	world_mark(&world);
	world.config.duration_ns = 5000 * MS;
	world_run(&world, world.config.duration_ns);
	assert_true(cpu_share(&world) < 0.05);
	world_end(&world);
}

/* Wake-ups that leave no room for a rest under traffic are no reason to poll without any. */
TEST(plan__rests_in_silence_where_the_objective_forbids_it)
{
	struct world_config config = usual;
	struct world world;

	config.limits.latency_ns = 60 * US;
	config.overshoot_ns = 40 * US;
	config.late_ppm = 30000;
	config.late_ns = 100 * US;
	config.cost_ns = 16 * US;
	world_begin(&world, &config);
	world_run(&world, 2000 * MS);
	assert_int_equal(world.verdict.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(world.verdict.idle_state, LULL_IDLE_PAUSE);
	world.config.pps = 0;
	world_next(&world);
	world_run(&world, 1100 * MS);
	world_mark(&world);
	world.config.duration_ns = 1000 * MS;
	world_run(&world, world.config.duration_ns);
	assert_true(cpu_share(&world) < 0.5);
	assert_int_equal(world.verdict.state, LULL_VERDICT_INFEASIBLE);
	/* a link that could fill the ring meanwhile is another matter */
	world.config.limits.envelope = LULL_ENVELOPE_LINK;
	world.config.limits.pps_max = 148809523;
	assert_int_equal(lull_idle_change(world.idle, NULL, &world.config.limits), 0);
	world_run(&world, 100 * MS);
	world_mark(&world);
	world_run(&world, world.config.duration_ns);
	assert_true(cpu_share(&world) > 0.9);
	world_end(&world);
}

TEST(wake__a_late_one_shortens_the_next_rests)
{
	struct world world;
	uint64_t before_ns, backoffs;

	settle_and_run(&world, &usual);
	before_ns = world.verdict.rest_ns;
	backoffs = LULL_COUNTER_READ(lull_idle_counters(world.idle)->backoffs);
	world.config.late_ppm = 1000000;
	world.config.late_ns = 300 * US;
	world_run(&world, 100 * US);
	world.config.late_ppm = 0;
	world_run(&world, 10 * US);
	assert_true(LULL_COUNTER_READ(lull_idle_counters(world.idle)->backoffs) > backoffs);
	assert_in_range(world.verdict.rest_ns, before_ns / 2, before_ns * 8 / 10);
	world_run(&world, 100 * MS);
	assert_in_range(world.verdict.rest_ns, before_ns * 95 / 100, before_ns * 101 / 100);
	world_end(&world);
}

TEST(verdict__late_host_suspends_within_100_ms_and_resumes)
{
	struct world_config config = usual;
	struct world world;
	uint32_t i;

	/* it has known better for some time */
	config.duration_ns = 5000 * MS;
	settle_and_run(&world, &config);
	assert_int_equal(world.verdict.state, LULL_VERDICT_FEASIBLE);
	world.config.late_ppm = 50000;
	world.config.late_ns = 1 * MS;
	world_run(&world, 100 * MS);
	assert_int_not_equal(world.verdict.state, LULL_VERDICT_FEASIBLE);
	assert_int_equal(world.verdict.binding, LULL_BOUND_OVERSHOOT);
	world_mark(&world);
	world_run(&world, 1000 * MS);
	assert_true(p99(&world.waits) <= 200 * US);
	/* the host recovers, and so does the saving; slowly */
	world.config.late_ppm = 0;
	for (i = 0; i < 60 && world.verdict.state != LULL_VERDICT_FEASIBLE; i++)
		world_run(&world, 1000 * MS);
	assert_in_range(i, 1, 59);
	world_run(&world, 1000 * MS);
	assert_int_equal(world.verdict.state, LULL_VERDICT_FEASIBLE);
	assert_true(world.verdict.rest_ns > 100 * US);
	world_end(&world);
}

TEST(verdict__healthy_host_does_not_flap)
{
	struct world_config config = usual;
	struct world world;
	uint32_t i, changes = 0;
	enum lull_verdict_state last;
	uint64_t low_ns = UINT64_MAX, high_ns = 0;

	config.late_ppm = 500;
	config.late_ns = 100 * US;
	settle_and_run(&world, &config);
	last = world.verdict.state;
	for (i = 0; i < 600; i++) {
		world_run(&world, 50 * MS);
		changes += world.verdict.state != last;
		last = world.verdict.state;
		low_ns = LULL_MIN(low_ns, world.verdict.rest_ns);
		high_ns = LULL_MAX(high_ns, world.verdict.rest_ns);
	}
	assert_int_equal(changes, 0);
	assert_true(low_ns > 100 * US);
	assert_true(high_ns < 200 * US);
	world_end(&world);
}
