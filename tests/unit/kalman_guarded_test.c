/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One scenario per mend, numbered as in core/idle/kalman_guarded.c: kalman fails it and
 * kalman-guarded holds.
 */

#include "case.h"
#include "world.h"

#define MS LULL_NS_PER_MS
#define LATENCY_NS (200 * LULL_NS_PER_US)
#define RING_PKTS 1024

static struct world world;

static struct world_config
scenario(const char *governor, double pps)
{
	return (struct world_config){
		.governor = governor,
		.limits = {
			.latency_ns = LATENCY_NS,
			.ring_pkts = RING_PKTS,
			.envelope = LULL_ENVELOPE_STATED,
			.pps_max = 2500000,
			.idle_states = LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) |
				       LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP),
		},
		.pps = pps,
		.iteration_ns = 60,
		.pkt_ns = 50,
		.overshoot_ns = 20 * LULL_NS_PER_US,
		.cost_ns = 5 * LULL_NS_PER_US,
		.ring_pkts = RING_PKTS,
		.pkt_bytes = 256,
		.seed = 1,
	};
}

/* Run for @p warm_ms, then measure @p run_ms; returns the share of a CPU, percent. */
static double
scenario_run(const struct world_config *config, uint64_t warm_ms, uint64_t run_ms)
{
	uint64_t begin_ns;

	world_begin(&world, config);
	world_run(&world, warm_ms * MS);
	world_mark(&world);
	begin_ns = world.now_ns;
	world_run(&world, run_ms * MS);
	return 100.0 * (double)world.cpu_ns / (double)(world.now_ns - begin_ns);
}

static uint64_t
scenario_p99_ns(void)
{
	return lull_histogram_quantile(&world.waits, 990000);
}

TEST(kalman_guarded__1_keeps_to_ring_and_latency)
{
	struct world_config config = scenario("kalman", 1000000);

	config.constant = true;
	scenario_run(&config, 2000, 1000);
	assert_true(world.lost > 0);
	assert_true(scenario_p99_ns() > 2 * LATENCY_NS);
	world_end(&world);

	config.governor = "kalman-guarded";
	assert_true(scenario_run(&config, 2000, 1000) < 15.0);
	assert_int_equal(world.lost, 0);
	assert_true(scenario_p99_ns() <= LATENCY_NS);
	assert_int_equal(world.verdict.state, LULL_VERDICT_FEASIBLE);
	world_end(&world);
}

static uint64_t
rising_lost(const char *governor)
{
	struct world_config config = scenario(governor, 10000);
	uint64_t lost;

	world_begin(&world, &config);
	for (uint32_t i = 0; i < 20; i++) { /* up to 1.9 million packets/s in 2 s */
		world_run(&world, 100 * MS);
		world.config.pps *= 1.3;
	}
	lost = world.lost;
	world_end(&world);
	return lost;
}

TEST(kalman_guarded__2_rising_load_loses_nothing)
{
	assert_true(rising_lost("kalman") > 1000);
	assert_int_equal(rising_lost("kalman-guarded"), 0);
}

/* Percent of a CPU at a thirtieth of the load before. */
static double
fallen_cpu(const char *governor)
{
	struct world_config config = scenario(governor, 300000);
	uint64_t begin_ns;
	double cpu;

	world_begin(&world, &config);
	world_run(&world, 500 * MS);
	world.config.pps /= 30;
	world_run(&world, 3000 * MS);
	world_mark(&world);
	begin_ns = world.now_ns;
	world_run(&world, 1000 * MS);
	cpu = 100.0 * (double)world.cpu_ns / (double)(world.now_ns - begin_ns);
	world_end(&world);
	return cpu;
}

TEST(kalman_guarded__3_falling_load_rests_more)
{
	assert_true(fallen_cpu("kalman") > 2.0 * fallen_cpu("kalman-guarded"));
	assert_true(fallen_cpu("kalman-guarded") < 5.0);
}

/* Share of what a sender could send that waits for its packets to be fetched, 64 at a time. */
static double
window_share(const char *governor, uint64_t step_ns, uint64_t overshoot_ns)
{
	struct world_config config = scenario(governor, 2000000);
	double share;

	config.constant = true;
	config.window_pkts = 64;
	config.overshoot_ns = overshoot_ns;
	config.limits.latency_ns = LULL_NS_PER_MS;
	config.limits.rest_ns_max = 500 * LULL_NS_PER_US;
	config.limits.kalman.step_ns = step_ns;
	scenario_run(&config, 3000, 5000);
	share = (double)world.waits.count / (5 * 2000000.0);
	world_end(&world);
	return share;
}

TEST(kalman_guarded__4_a_rest_that_cost_speed_is_taken_back)
{
	assert_true(window_share("kalman", 10 * LULL_NS_PER_US, 20000) < 0.85);
	assert_true(window_share("kalman-guarded", 10 * LULL_NS_PER_US, 20000) > 0.94);
}

/* Steps so small that each costs less than the tolerance, and wake-ups that do not scatter. */
TEST(kalman_guarded__5_tolerances_do_not_add_up)
{
	assert_true(window_share("kalman", 100, 2000) < 0.5);
	assert_true(window_share("kalman-guarded", 100, 2000) > 0.94);
}

/* A minute after a trickle a sender comes that waits for its packets: its first 50 ms. */
static double
decay_share(const char *governor)
{
	struct world_config config = scenario(governor, 5000);
	double share;

	config.limits.latency_ns = LULL_NS_PER_MS;
	world_begin(&world, &config);
	world_run(&world, 3000 * MS);
	world.config.pps = 0;
	world_run(&world, 60000 * MS);
	world.config.pps = 2000000;
	world.config.constant = true;
	world.config.window_pkts = 64;
	world.next_ns = world.now_ns;
	world_mark(&world);
	world_run(&world, 50 * MS);
	share = (double)world.waits.count / (0.05 * 2000000.0);
	world_end(&world);
	return share;
}

TEST(kalman_guarded__6_old_rests_are_forgotten)
{
	assert_true(decay_share("kalman") < 0.5);
	assert_true(decay_share("kalman-guarded") > 0.75);
}

/* Thirty times the stated rate: nobody could know, but one learns. */
static uint64_t
understated_lost(const char *governor)
{
	struct world_config config = scenario(governor, 3000000);
	uint64_t lost;

	config.constant = true;
	config.limits.pps_max = 100000;
	config.limits.latency_ns = 10 * LULL_NS_PER_MS;
	scenario_run(&config, 2000, 4000);
	lost = world.lost;
	world_end(&world);
	return lost;
}

TEST(kalman_guarded__7_loss_backs_off)
{
	uint64_t faithful = understated_lost("kalman");

	assert_true(faithful > 10000);
	assert_true(understated_lost("kalman-guarded") < faithful / 20);
}

TEST(kalman_guarded__8_silence_rests_at_length)
{
	struct world_config config = scenario("kalman", 0);

	assert_true(scenario_run(&config, 200, 1000) > 20.0);
	world_end(&world);
	config.governor = "kalman-guarded";
	assert_true(scenario_run(&config, 200, 1000) < 4.0);
	world_end(&world);
}

TEST(kalman_guarded__9_rests_though_no_iteration_is_empty)
{
	struct world_config config = scenario("kalman", 500000);

	config.constant = true; /* a packet in 2 us, and iterations of 2 us */
	config.iteration_ns = 2000;
	assert_true(scenario_run(&config, 200, 1000) > 99.0);
	world_end(&world);
	config.governor = "kalman-guarded";
	assert_true(scenario_run(&config, 2000, 1000) < 30.0);
	assert_true(scenario_p99_ns() <= LATENCY_NS);
	world_end(&world);
}

/* Nothing fits into 20 us on a machine that wakes as late as that: said, not tried. */
TEST(kalman_guarded_verdict__says_when_it_cannot)
{
	struct world_config config = scenario("kalman-guarded", 100000);

	config.limits.latency_ns = 20 * LULL_NS_PER_US;
	scenario_run(&config, 500, 500);
	assert_int_equal(world.verdict.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(world.verdict.binding, LULL_BOUND_OVERSHOOT);
	assert_int_equal(world.verdict.idle_state, LULL_IDLE_PAUSE);
	world_end(&world);

	/* a ring that the stated rate fills while waking up */
	config.limits.latency_ns = LATENCY_NS;
	config.limits.pps_max = 100000000;
	scenario_run(&config, 500, 500);
	assert_int_equal(world.verdict.state, LULL_VERDICT_INFEASIBLE);
	assert_int_equal(world.verdict.binding, LULL_BOUND_RING);
	world_end(&world);
}
