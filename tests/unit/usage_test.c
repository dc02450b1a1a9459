/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/idle.h>

#include "case.h"

TEST(usage__is_what_does_not_rest)
{
	struct lull_idle_counters counters = { .busy_ns = 100000,
					       .empty_ns = 300000,
					       .rest_ns = 600000 };

	assert_int_equal(lull_idle_usage_ppm(&counters), 400000);
	assert_int_equal(lull_idle_empty_ppm(&counters), 300000);
	counters.busy_ns = 600000;
	assert_int_equal(lull_idle_usage_ppm(&counters), 600000);
	assert_int_equal(lull_idle_empty_ppm(&counters), 200000);
}

/* Below a microsecond nothing is known: a loop that has not rested yet uses its core. */
TEST(usage__of_no_time_is_a_whole_core)
{
	struct lull_idle_counters counters = { .busy_ns = 999 };

	assert_int_equal(lull_idle_usage_ppm(&counters), 1000000);
	assert_int_equal(lull_idle_empty_ppm(&counters), 0);
	counters = (struct lull_idle_counters){ .empty_ns = 999 };
	assert_int_equal(lull_idle_usage_ppm(&counters), 1000000);
	assert_int_equal(lull_idle_empty_ppm(&counters), 0);
}

TEST(usage__of_a_year_does_not_overflow)
{
	uint64_t day_ns = 24 * 3600 * LULL_NS_PER_S;
	struct lull_idle_counters counters = { .busy_ns = 50 * day_ns,
					       .empty_ns = 50 * day_ns,
					       .rest_ns = 100 * day_ns };

	assert_int_equal(lull_idle_usage_ppm(&counters), 500000);
	assert_int_equal(lull_idle_empty_ppm(&counters), 250000);
}
