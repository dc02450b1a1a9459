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
