/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "governor_stand.h"

TEST(halve_plan__sequence)
{
	/* Iterations are 2 us long here, so that each empty one is more than 1 us after traffic. */
	static const struct {
		uint32_t pkts;
		uint64_t rest_us;
	} steps[] = {
		{ 0, 1 }, { 0, 2 }, { 0, 3 },  { 0, 4 },
		{ 0, 5 }, { 0, 6 }, { 0, 7 },  { 1, 0 },  /* 7 -> 3, rounded down */
		{ 0, 4 }, { 0, 5 }, { 32, 0 }, { 32, 0 }, /* 5 -> 2 -> 1 */
		{ 0, 2 }, { 5, 0 }, { 5, 0 },  { 5, 0 },  /* 2 -> 1 -> 0 -> 0 */
		{ 0, 1 }, { 0, 2 },
	};
	struct governor_stand stand;
	uint64_t rest_ns;

	stand_init(&stand, &lull_idle_halve);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		rest_ns = stand_iteration_of(&stand, steps[i].pkts, 2000);
		assert_int_equal(rest_ns, steps[i].rest_us * LULL_NS_PER_US);
		stand.now_ns += rest_ns;
	}
}

/* An empty iteration within 1 us of traffic neither sleeps nor grows the sleep. */
TEST(halve_plan__waits_1_us_after_traffic)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_halve);
	for (int i = 0; i < 8; i++)
		stand_iteration_of(&stand, 0, 100);
	assert_int_equal(stand_iteration_of(&stand, 1, 400), 0); /* 8 -> 4 us; t = 0 */
	assert_int_equal(stand_iteration_of(&stand, 0, 300), 0); /* t = 400 ns */
	assert_int_equal(stand_iteration_of(&stand, 0, 300), 0); /* t = 700 ns */
	assert_int_equal(stand_iteration_of(&stand, 0, 1), 0);   /* t = 1000 ns: not yet more */
	assert_int_equal(stand_iteration_of(&stand, 0, 100), 5000);
}

TEST(halve_plan__stays_at_the_cap)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_halve);
	stand.limits.rest_ns_max = 2500;
	assert_int_equal(stand_iterate(&stand, 0), 1000);
	assert_int_equal(stand_iterate(&stand, 0), 2000);
	for (int i = 0; i < 10; i++)
		assert_int_equal(stand_iterate(&stand, 0), 2500);
	assert_int_equal(stand_iteration_of(&stand, 1, 2000), 0); /* 2.5 -> 1 us */
	assert_int_equal(stand_iterate(&stand, 0), 2000);
}

/* From the longest sleep to none: ten iterations with packets for 1 ms. */
TEST(halve_plan__forgets_by_halves)
{
	struct governor_stand stand;
	uint64_t last_ns = LULL_NS_PER_MS;

	stand_init(&stand, &lull_idle_halve);
	for (int i = 0; i < 1200; i++)
		stand_iterate(&stand, 0);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(stand_iteration_of(&stand, 1, 2000), 0);
		last_ns = last_ns / 2000 * 1000;
	}
	assert_int_equal(last_ns, 0);
	assert_int_equal(stand_iterate(&stand, 0), 1000);
}
