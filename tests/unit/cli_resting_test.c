/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program/resting.h"

static const struct lull_resting resting = {
	.max_latency_ns = 200000,
	.percentile = 99.9,
	.loss = LULL_LOSS_TOLERATE,
	.max_rest_ns = 1000000,
	.rest_ns = 50000,
	.pps_max = { .automatic = true },
	.kalman = { .step_ns = 10000 },
	.kalman_tolerance = 0.5,
	.kalman_layout = LULL_RECORD_ARRAY,
};

static void
resting_limits__takes_every_setting(void **state)
{
	struct lull_idle_limits limits = lull_resting_limits(&resting, 1024, 32, 0);

	(void)state;
	assert_int_equal(limits.latency_ns, 200000);
	assert_int_equal(limits.percentile_ppm, 999000);
	assert_int_equal(limits.loss, LULL_LOSS_TOLERATE);
	assert_int_equal(limits.rest_ns_max, 1000000);
	assert_int_equal(limits.rest_ns, 50000);
	assert_int_equal(limits.ring_pkts, 1024);
	assert_int_equal(limits.held_pkts, 32);
	assert_int_equal(limits.kalman.step_ns, 10000);
	assert_int_equal(limits.kalman.tolerance_ppm, 5000);
	assert_int_equal(limits.kalman.layout, LULL_RECORD_ARRAY);
}

/* A driver that keeps all of a small ring back leaves room for a packet, not for the whole ring. */
static void
resting_limits__all_held_back_is_no_room(void **state)
{
	(void)state;
	assert_int_equal(lull_resting_limits(&resting, 32, 32, 0).held_pkts, 31);
	assert_int_equal(lull_resting_limits(&resting, 32, 64, 0).held_pkts, 31);
	assert_int_equal(lull_resting_limits(&resting, 0, 32, 0).held_pkts, 0);
}

static void
resting_limits__link_or_learned(void **state)
{
	struct lull_resting stated = resting;
	struct lull_idle_limits limits = lull_resting_limits(&resting, 1024, 0, 0);

	(void)state;
	assert_int_equal(limits.envelope, LULL_ENVELOPE_LEARNED);
	limits = lull_resting_limits(&resting, 1024, 0, 14880952);
	assert_int_equal(limits.envelope, LULL_ENVELOPE_LINK);
	assert_int_equal(limits.pps_max, 14880952);
	stated.pps_max = (struct lull_pps_max){ .envelope = LULL_ENVELOPE_STATED, .pps = 5000 };
	limits = lull_resting_limits(&stated, 1024, 0, 14880952);
	assert_int_equal(limits.envelope, LULL_ENVELOPE_STATED);
	assert_int_equal(limits.pps_max, 5000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resting_limits__takes_every_setting),
		cmocka_unit_test(resting_limits__all_held_back_is_no_room),
		cmocka_unit_test(resting_limits__link_or_learned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
