/* SPDX-License-Identifier: BSD-3-Clause */
/* The governors that need no memory: fixed, yield and spin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "governor_stand.h"

static void
fixed_plan__after_every_empty_turn(void **state)
{
	struct governor_stand stand;

	(void)state;
	stand_init(&stand, &lull_idle_fixed);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(stand_turn(&stand, 0), 50 * LULL_NS_PER_US);
		assert_int_equal(stand_turn(&stand, 1), 0);
	}
}

static void
fixed_plan__follows_a_live_change(void **state)
{
	struct governor_stand stand;

	(void)state;
	stand_init(&stand, &lull_idle_fixed);
	assert_int_equal(stand_turn(&stand, 0), 50 * LULL_NS_PER_US);
	stand.limits.rest_ns = 7;
	assert_int_equal(stand_turn(&stand, 0), 7);
}

static void
yield_plan__shortest_sleep_after_every_empty_turn(void **state)
{
	struct governor_stand stand;

	(void)state;
	stand_init(&stand, &lull_idle_yield);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(stand_turn(&stand, 0), 1);
		assert_int_equal(stand_turn(&stand, 32), 0);
	}
}

static void
spin_plan__never_rests(void **state)
{
	struct governor_stand stand;

	(void)state;
	stand_init(&stand, &lull_idle_spin);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(stand_turn(&stand, 0), 0);
		assert_int_equal(stand_turn(&stand, 32), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_plan__after_every_empty_turn),
		cmocka_unit_test(fixed_plan__follows_a_live_change),
		cmocka_unit_test(yield_plan__shortest_sleep_after_every_empty_turn),
		cmocka_unit_test(spin_plan__never_rests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
