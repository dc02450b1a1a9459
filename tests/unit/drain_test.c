/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "governor_stand.h"

#define PERIOD_ITERATIONS 256

/*
 * A period whose iteration @p busy_index carries a packet (PERIOD_ITERATIONS: none); returns its
 * rest.
 */
static uint64_t
drain_period(struct governor_stand *stand, uint32_t busy_index)
{
	uint64_t rest_ns = 0;

	for (uint32_t i = 0; i < PERIOD_ITERATIONS; i++) {
		assert_int_equal(rest_ns, 0); /* only the last iteration of a period rests */
		rest_ns = stand_iterate(stand, i == busy_index ? 1 : 0);
	}
	return rest_ns;
}

/* The rest that empty periods lead to. */
static uint64_t
drain_settled(struct governor_stand *stand)
{
	uint64_t before_ns, rest_ns = 0;

	do {
		before_ns = rest_ns;
		rest_ns = drain_period(stand, PERIOD_ITERATIONS);
	} while (rest_ns != before_ns);
	return rest_ns;
}

TEST(drain_plan__sequence)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_drain);
	for (uint64_t us = 1; us <= 5; us++)
		assert_int_equal(drain_period(&stand, PERIOD_ITERATIONS), us * LULL_NS_PER_US);
	/* one packet anywhere in the period: no rest, and the ramp begins anew */
	assert_int_equal(drain_period(&stand, 0), 0);
	assert_int_equal(drain_period(&stand, PERIOD_ITERATIONS), 1 * LULL_NS_PER_US);
	assert_int_equal(drain_period(&stand, PERIOD_ITERATIONS - 1), 0);
	assert_int_equal(drain_period(&stand, 100), 0);
	assert_int_equal(drain_period(&stand, PERIOD_ITERATIONS), 1 * LULL_NS_PER_US);
	assert_int_equal(drain_period(&stand, PERIOD_ITERATIONS), 2 * LULL_NS_PER_US);
}

/* (ring - held - burst) / pps - overshoot, held and burst making 48 here. */
static double
drain_exact_ns(uint64_t megabit, uint32_t ring_pkts, uint64_t overshoot_ns)
{
	double fill_ns = (ring_pkts - 48) * 84.0 * 8.0 * 1e3 / (double)megabit;

	return LULL_CLAMP(fill_ns - (double)overshoot_ns, 0.0, 1e6);
}

static double
drain_cap_ns(uint64_t megabit, uint32_t ring_pkts, uint64_t overshoot_ns)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_drain);
	stand.limits.envelope = LULL_ENVELOPE_LINK;
	stand.limits.pps_max = megabit * 1000000 / (84 * 8);
	stand.limits.ring_pkts = ring_pkts;
	stand.limits.held_pkts = 16;
	stand.limits.burst_pkts = 32;
	stand.calibration[LULL_IDLE_SLEEP].p9999_ns = overshoot_ns;
	return (double)drain_settled(&stand);
}

/* Link rates by ring sizes by overshoots, within 1 %; nothing left means no sleep at all. */
TEST(drain_plan__cap_table)
{
	static const uint64_t megabits[] = { 100, 1000, 2500, 10000, 25000, 40000, 100000, 400000 };
	static const uint32_t rings[] = { 64, 128, 512, 1024, 2048, 4096, 8192 };
	static const uint64_t overshoots[] = { 0, 1000, 20000, 66000, 1000000 };
	double exact_ns, cap_ns;

	for (size_t m = 0; m < sizeof(megabits) / sizeof(megabits[0]); m++)
		for (size_t r = 0; r < sizeof(rings) / sizeof(rings[0]); r++)
			for (size_t o = 0; o < sizeof(overshoots) / sizeof(overshoots[0]); o++) {
				exact_ns = drain_exact_ns(megabits[m], rings[r], overshoots[o]);
				cap_ns = drain_cap_ns(megabits[m], rings[r], overshoots[o]);
				assert_true(cap_ns >= 0.99 * exact_ns - 2.0);
				assert_true(cap_ns <= 1.01 * exact_ns + 2.0);
				assert_true(exact_ns > 0.0 || cap_ns <= 0.0);
			}
}

TEST(drain_plan__lowered_cap_holds_at_once)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_drain);
	assert_int_equal(drain_settled(&stand), LULL_NS_PER_MS);
	stand.limits.rest_ns_max = 30 * LULL_NS_PER_US;
	assert_int_equal(drain_period(&stand, PERIOD_ITERATIONS), 30 * LULL_NS_PER_US);
	stand.limits.pps_max = 100000000; /* 1024 - 32 packets last 9.92 us */
	assert_int_equal(drain_period(&stand, PERIOD_ITERATIONS), 9920);
	stand.calibration[LULL_IDLE_SLEEP].p9999_ns = 9920;
	assert_int_equal(drain_period(&stand, PERIOD_ITERATIONS), 0);
	/* room again: from the bottom */
	stand.calibration[LULL_IDLE_SLEEP].p9999_ns = 0;
	assert_int_equal(drain_period(&stand, PERIOD_ITERATIONS), 1 * LULL_NS_PER_US);
}

TEST(drain_plan__learned_rate_lowers_the_cap)
{
	struct lull_arrival_windows windows = { 0 };
	struct governor_stand stand;
	uint64_t before_ns;

	stand_init(&stand, &lull_idle_drain);
	stand.limits.envelope = LULL_ENVELOPE_LEARNED;
	before_ns = drain_settled(&stand);
	assert_true(before_ns > 0 && before_ns <= stand.limits.rest_ns_max);
	for (uint64_t us = 1; us <= 1000; us++)
		lull_arrival_curve_add(&stand.curve, &windows, us * 1000, (us + 1) * 1000, 5);
	assert_true(drain_settled(&stand) <= 992 * LULL_NS_PER_S / 10000000);
}

TEST(drain_verdict__names_what_binds)
{
	struct governor_stand stand;
	struct lull_verdict verdict;

	stand_init(&stand, &lull_idle_drain);
	memset(&verdict, 0xff, sizeof(verdict));
	stand.governor->verdict(stand.state, &verdict);
	assert_int_equal(verdict.state, LULL_VERDICT_NONE);
	assert_int_equal(verdict.binding, LULL_BOUND_CAP);
	stand.limits.pps_max = 10000000;
	stand.governor->verdict(stand.state, &verdict);
	assert_int_equal(verdict.binding, LULL_BOUND_RING);
	assert_int_equal(verdict.ring_bound_ns, 99200);
}
