/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "governor_stand.h"
#include "idle/outlook.h"

#define US LULL_NS_PER_US

static struct governor_stand stand;

static void
stand_learn(uint64_t late_ns, uint64_t cost_ns)
{
	stand_init(&stand, &lull_idle_objective);
	lull_calibration_init(&stand.calibration[LULL_IDLE_SLEEP]);
	for (int i = 0; i < 64; i++)
		lull_calibration_add(&stand.calibration[LULL_IDLE_SLEEP], late_ns, cost_ns);
	stand.load.resting_ppm = LULL_PPM;
}

static struct lull_outlook
outlook_of(uint64_t ring_ns)
{
	struct lull_outlook outlook;

	lull_outlook_begin(&outlook, &stand.view, ring_ns);
	lull_outlook_bound_latency(&outlook, &stand.view, NULL);
	return outlook;
}

TEST(outlook__the_tightest_bound_decides)
{
	struct lull_outlook outlook;

	stand_learn(20 * US, 10 * US);
	stand.load.serve_ns = 10 * US;
	outlook = outlook_of(UINT64_MAX);
	/* 200 us less an eleventh, less what serving takes */
	assert_in_range(outlook.limits.latency_ns, 171 * US, 172 * US);
	assert_int_equal(outlook.binding, LULL_BOUND_LATENCY);
	assert_in_range(outlook.goal_ns, 148 * US, 156 * US);
	assert_false(outlook.forbidden);
	outlook = outlook_of(100 * US);
	assert_int_equal(outlook.binding, LULL_BOUND_RING);
	assert_int_equal(outlook.goal_ns, 100 * US);
	stand.limits.rest_ns_max = 50 * US;
	outlook = outlook_of(100 * US);
	assert_int_equal(outlook.binding, LULL_BOUND_CAP);
	assert_int_equal(outlook.goal_ns, 50 * US);
}

TEST(outlook__forbids_what_saves_nothing)
{
	struct lull_outlook outlook;

	stand_learn(10 * US, 40 * US); /* 50 us are the least that saves a fifth */
	outlook = outlook_of(30 * US);
	assert_in_range(outlook.least_ns, 39 * US, 40 * US);
	assert_true(outlook.forbidden);
	assert_false(outlook_of(41 * US).forbidden);
	stand.limits.latency_ns = 5 * US;
	outlook = outlook_of(UINT64_MAX);
	assert_int_equal(outlook.binding, LULL_BOUND_OVERSHOOT);
	assert_true(outlook.forbidden);
}

TEST(cpu_ppm__is_the_work_and_what_rests_cost_beside)
{
	const struct lull_calibration *sleeps = &stand.calibration[LULL_IDLE_SLEEP];
	uint64_t real_ns;

	stand_learn(20 * US, 10 * US);
	real_ns = 80 * US + sleeps->p50_ns;
	assert_int_equal(lull_outlook_cpu_ppm(sleeps, 0, 80 * US),
			 sleeps->cost_ns * LULL_PPM / real_ns);
	assert_int_equal(lull_outlook_cpu_ppm(sleeps, 500000, 80 * US),
			 500000 + 500000 * sleeps->cost_ns / real_ns);
	assert_int_equal(lull_outlook_cpu_ppm(sleeps, 2000000, 80 * US), LULL_PPM);
}

/* Where two bounds are as tight the first is told: the cap, then the ring. */
TEST(outlook__at_the_edges)
{
	struct lull_outlook outlook;
	uint64_t latency_ns;

	stand_learn(20 * US, 10 * US);
	stand.load.serve_ns = 10 * US;
	outlook = outlook_of(UINT64_MAX);
	assert_int_equal(outlook.limits.latency_ns, 200 * US - 10 * US - 200 * US / 11);
	latency_ns = outlook.goal_ns;
	assert_int_equal(latency_ns, outlook.latency_ns);
	assert_int_equal(outlook_of(latency_ns).binding, LULL_BOUND_RING);
	assert_int_equal(outlook_of(latency_ns + 1).binding, LULL_BOUND_LATENCY);
	stand.limits.rest_ns_max = 60 * US;
	assert_int_equal(outlook_of(60 * US).binding, LULL_BOUND_CAP);
	assert_int_equal(outlook_of(60 * US - 1).binding, LULL_BOUND_RING);
	/* serving takes what is left, or all but a nanosecond of it */
	stand.load.serve_ns = 200 * US - 200 * US / 11;
	assert_int_equal(outlook_of(UINT64_MAX).limits.latency_ns, 1);
	stand.load.serve_ns -= 2;
	assert_int_equal(outlook_of(UINT64_MAX).limits.latency_ns, 2);
	stand.load.serve_ns += 3;
	assert_int_equal(outlook_of(UINT64_MAX).limits.latency_ns, 1);
}

TEST(outlook__forbids_below_the_least)
{
	uint64_t least_ns;

	stand_learn(10 * US, 40 * US);
	least_ns = outlook_of(UINT64_MAX).least_ns;
	assert_false(outlook_of(least_ns).forbidden);
	assert_true(outlook_of(least_ns - 1).forbidden);
	/* no rest is one, however little it would have to save */
	stand.calibration[LULL_IDLE_SLEEP].cost_ns = 0;
	assert_true(outlook_of(0).forbidden);
}

/* Stalls that have spent the budget are left out: short rests do not bring it back. */
TEST(outlook__leaves_out_stalls_that_took_everything)
{
	struct lull_outlook outlook;
	struct lull_stalls stalls;
	uint64_t free_ns;

	stand_learn(10 * US, 40 * US);
	for (int i = 0; i < 1000; i++)
		lull_calibration_add(&stand.calibration[LULL_IDLE_SLEEP],
				     i == 500 ? 400 * US : 10 * US, 0);
	free_ns = outlook_of(UINT64_MAX).latency_ns;
	lull_stalls_init(&stalls, LULL_STALL_MEMORY_NS, 0);
	stalls.time_ns = 100 * LULL_NS_PER_S;
	stalls.bins[3].count_x256 = 20 * 256;
	stalls.bins[3].len_ns = 5000 * 100 * US;
	lull_outlook_begin(&outlook, &stand.view, UINT64_MAX);
	lull_outlook_bound_latency(&outlook, &stand.view, &stalls);
	assert_true(outlook.latency_ns > outlook.least_ns);
	assert_true(outlook.latency_ns < free_ns);
	stalls.bins[3].len_ns = 20000 * 100 * US;
	lull_outlook_begin(&outlook, &stand.view, UINT64_MAX);
	lull_outlook_bound_latency(&outlook, &stand.view, &stalls);
	assert_int_equal(outlook.latency_ns, free_ns);
	assert_int_equal(outlook.goal_ns, free_ns);
}

TEST(cpu_ppm__of_rests_that_cost_all_of_themselves)
{
	struct lull_calibration sleeps = { .cost_ns = 10 * US };

	assert_int_equal(lull_outlook_cpu_ppm(&sleeps, 0, 0), LULL_PPM);
	assert_int_equal(lull_outlook_cpu_ppm(&sleeps, 0, 1), LULL_PPM);
	assert_int_equal(lull_outlook_cpu_ppm(&sleeps, 0, 10 * US), LULL_PPM);
	assert_int_equal(lull_outlook_cpu_ppm(&sleeps, 0, 40 * US), 250000);
	sleeps.p50_ns = 40 * US;
	assert_int_equal(lull_outlook_cpu_ppm(&sleeps, 200000, 40 * US), 300000);
}
