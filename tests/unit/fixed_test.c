/* SPDX-License-Identifier: BSD-3-Clause */
/* The governors that need no memory: fixed, yield and spin. */

#include "case.h"
#include "governor_stand.h"

TEST(fixed_plan__after_every_empty_iteration)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_fixed);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(stand_iterate(&stand, 0), 50 * LULL_NS_PER_US);
		assert_int_equal(stand_iterate(&stand, 1), 0);
	}
}

TEST(fixed_plan__follows_a_live_change)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_fixed);
	assert_int_equal(stand_iterate(&stand, 0), 50 * LULL_NS_PER_US);
	stand.limits.rest_ns = 7;
	assert_int_equal(stand_iterate(&stand, 0), 7);
}

TEST(yield_plan__shortest_sleep_after_every_empty_iteration)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_yield);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(stand_iterate(&stand, 0), 1);
		assert_int_equal(stand_iterate(&stand, 32), 0);
	}
}

TEST(spin_plan__never_rests)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_spin);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(stand_iterate(&stand, 0), 0);
		assert_int_equal(stand_iterate(&stand, 32), 0);
	}
}
