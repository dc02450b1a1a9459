/* SPDX-License-Identifier: BSD-3-Clause */
/* The objective governor in virtual time: what it promises is compared with what happened. */
#include <stdio.h>

#include "case.h"
#include "idle/blame.h"
#include "objective_world.h"

TEST(plan__keeps_every_objective_at_every_load)
{
	static const uint64_t objectives_us[] = { 50, 100, 200, 500 };
	static const double rates[] = { 100, 1e3, 5e4, 3e5, 1e6, 5e6, 1.5e7 };
	struct world world;
	uint32_t o, r, constant;

	for (o = 0; o < 4; o++) {
		for (r = 0; r < 7; r++) {
			for (constant = 0; constant < 2; constant++) {
				struct world_config config = usual;

				config.limits.latency_ns = objectives_us[o] * US;
				config.pps = rates[r];
				config.constant = constant;
				if (rates[r] > 2e6)
					config.duration_ns = 50 * MS;
				settle_and_run(&world, &config);
				assert_int_equal(world.lost, 0);
				assert_true(p99(&world.waits) <= config.limits.latency_ns);
				/* the bound that needs no stamps is one */
				assert_true(p99(lull_idle_wait_histogram(world.idle)) >=
					    p99(&world.waits) * 98 / 100);
				if (rates[r] <= 1e6)
					assert_int_equal(world.verdict.state,
							 LULL_VERDICT_FEASIBLE);
				world_end(&world);
			}
		}
	}
}

TEST(plan__uses_the_latency_it_was_given)
{
	struct world world;

	settle_and_run(&world, &usual);
	/* within 10 % of the objective: anything less would waste CPU */
	assert_in_range(p99(&world.waits), 180 * US, 200 * US);
	assert_true(cpu_share(&world) < 0.05);
	assert_in_range(world.verdict.predicted_ns, p99(&world.waits) * 98 / 100, 200 * US);
	world_end(&world);
}

TEST(plan__rests_under_load_too)
{
	struct world_config config = usual, ramp = usual;
	struct world objective_world, ramp_world;

	config.pps = 300000;
	ramp.pps = 300000;
	ramp.governor = "ramp";
	ramp.limits.rest_ns_max = 200 * US;
	settle_and_run(&objective_world, &config);
	settle_and_run(&ramp_world, &ramp);
	assert_true(cpu_share(&objective_world) < cpu_share(&ramp_world) / 2);
	world_end(&objective_world);
	world_end(&ramp_world);
}

TEST(plan__idle_costs_little)
{
	struct world_config config = usual;
	struct world world;

	config.pps = 0;
	settle_and_run(&world, &config);
	assert_true(cpu_share(&world) < 0.04);
	world_end(&world);
}

TEST(verdict__proven_loss_bound_says_infeasible_and_never_sleeps)
{
	struct world_config config = usual;
	struct world world;

	config.limits.envelope = LULL_ENVELOPE_LINK;
	config.limits.pps_max = 148809523; /* 100 Gb/s: the ring fills in 6.9 us */
	settle_and_run(&world, &config);
	assert_int_equal(world.verdict.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(world.verdict.binding, LULL_BOUND_RING);
	assert_int_equal(world.verdict.idle_state, LULL_IDLE_PAUSE);
	assert_int_equal(LULL_COUNTER_READ(lull_idle_counters(world.idle)->rests[LULL_IDLE_SLEEP]),
			 0);
	world_end(&world);
}

TEST(verdict__ring_binds_at_ten_gigabit)
{
	struct world_config config = usual;
	struct world world;

	config.limits.envelope = LULL_ENVELOPE_LINK;
	config.limits.pps_max = 14880952;
	settle_and_run(&world, &config);
	assert_int_equal(world.verdict.state, LULL_VERDICT_FEASIBLE);
	assert_int_equal(world.verdict.binding, LULL_BOUND_RING);
	/* (1024 - 32) / 14.88 Mpps = 66.7 us, less the rarest overshoot of at least 9 us */
	assert_in_range(world.verdict.rest_ns, 50 * US, 58 * US);
	assert_true(world.rest_ns_longest <= 667 * US / 10);
	world_end(&world);
}

TEST(plan__line_rate_burst_after_silence_loses_nothing)
{
	struct world_config config = usual;
	struct world world;

	config.limits.envelope = LULL_ENVELOPE_LINK;
	config.limits.pps_max = 14880952;
	config.pps = 14880952;
	config.constant = true;
	config.on_ns = 1 * MS;
	config.off_ns = 20 * MS;
	settle_and_run(&world, &config);
	assert_true(world.sent > 100000);
	assert_int_equal(world.lost, 0);
	assert_true(cpu_share(&world) < 0.25);
	world_end(&world);
}

TEST(miss__halves_the_ring_bound_and_lets_go_slowly)
{
	struct world_config config = usual;
	struct world world;
	const struct lull_loss_charge lost = { .rests = 3, .others = 5 };
	uint64_t before_ns;

	config.limits.envelope = LULL_ENVELOPE_STATED;
	config.limits.pps_max = 10000000;
	settle_and_run(&world, &config);
	before_ns = world.verdict.rest_ns;
	lull_idle_charge(world.idle, world.now_ns, &lost);
	world_run(&world, 3 * MS);
	assert_in_range(world.verdict.rest_ns, before_ns / 3, before_ns * 6 / 10);
	assert_int_equal(LULL_COUNTER_READ(lull_idle_counters(world.idle)->misses), 3);
	assert_true(LULL_COUNTER_READ(lull_idle_counters(world.idle)->backoffs) >= 1);
	world_run(&world, 1000 * MS);
	assert_true(world.verdict.rest_ns < before_ns * 8 / 10);
	world_run(&world, 20000 * MS);
	assert_true(world.verdict.rest_ns > before_ns * 9 / 10);
	world_end(&world);
}

TEST(plan__small_ring_overflow_is_answered)
{
	struct world_config config = usual;
	struct world world;
	uint64_t lost_early;

	/*
	 * the envelope is stated far too low: the promise is wrong, the loss audit must save what
	 * it can
	 */
	config.limits.envelope = LULL_ENVELOPE_STATED;
	config.limits.pps_max = 100000;
	config.limits.ring_pkts = 128;
	config.ring_pkts = 128;
	config.pps = 2000000;
	world_begin(&world, &config);
	world_run(&world, 100 * MS);
	lost_early = world.lost;
	world_mark(&world);
	world_run(&world, 100 * MS);
	assert_true(lost_early > 0);
	assert_true(world.lost < lost_early);
	assert_true(LULL_COUNTER_READ(lull_idle_counters(world.idle)->backoffs) > 0);
	world_end(&world);
}

TEST(plan__tolerated_loss_ignores_the_ring)
{
	struct world_config config = usual;
	struct world world;

	config.limits.envelope = LULL_ENVELOPE_LINK;
	config.limits.pps_max = 148809523;
	config.limits.loss = LULL_LOSS_TOLERATE;
	settle_and_run(&world, &config);
	assert_int_equal(world.verdict.state, LULL_VERDICT_FEASIBLE);
	assert_int_equal(world.verdict.binding, LULL_BOUND_LATENCY);
	world_end(&world);
}

TEST(verdict__objective_below_overshoot_is_infeasible)
{
	struct world_config config = usual;
	struct world world;

	config.limits.latency_ns = 5 * US;
	settle_and_run(&world, &config);
	assert_int_equal(world.verdict.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(world.verdict.idle_state, LULL_IDLE_PAUSE);
	assert_true(p99(&world.waits) <= 5 * US);
	world_end(&world);
}

TEST(plan__monitor_takes_over_where_offered_and_interrupts_once_measured)
{
	struct world_config config = usual;
	struct world world;

	config.limits.latency_ns = 5 * US;
	config.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) |
				    LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP) |
				    LULL_IDLE_STATE_BIT(LULL_IDLE_MONITOR);
	settle_and_run(&world, &config);
	assert_int_equal(world.verdict.idle_state, LULL_IDLE_MONITOR);
	world_end(&world);

	/* With interrupts on offer, and nobody knows how late: not while packets come,
	 * and once nothing comes at all. */
	config = usual;
	config.pps = 100;
	config.limits.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) |
				    LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP) |
				    LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT);
	settle_and_run(&world, &config);
	assert_int_equal(world.verdict.idle_state, LULL_IDLE_SLEEP);
	assert_int_equal(world.verdict.interrupt_late_ns, 0);
	world.config.pps = 0;
	world_next(&world);
	world_run(&world, 1500 * MS);
	assert_int_equal(world.verdict.idle_state, LULL_IDLE_INTERRUPT);
	world_end(&world);
}

TEST(plan__load_steps_are_followed)
{
	static const double rates[] = { 1e3, 1e6, 1e3, 5e6, 0, 3e5 };
	struct world world;
	uint32_t i;

	settle_and_run(&world, &usual);
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		world.config.pps = rates[i];
		world.next_ns = world.now_ns;
		world_next(&world);
		world_mark(&world);
		world_run(&world, 200 * MS);
		assert_int_equal(world.lost, 0);
		assert_true(p99(&world.waits) <= 200 * US);
	}
	world_end(&world);
}
