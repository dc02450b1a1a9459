/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>

#include "../case.h"
#include "base/filter.h"

TEST(filter_weigh__equal_variances_meet_in_the_middle)
{
	double variance = 0.0;

	assert_true(lull_filter_weigh(&variance, 100.0, 4.0, 200.0, 4.0) == 150.0);
	assert_true(variance == 2.0);
}

TEST(filter_weigh__counts_the_deviation_before)
{
	double variance = 3.0;

	/* Predicted 4, gain 4 / 16. */
	assert_true(lull_filter_weigh(&variance, 100.0, 1.0, 200.0, 12.0) == 125.0);
	assert_true(variance == 3.0);
}

TEST(filter_weigh__takes_an_observation_without_variance)
{
	double variance = 3.0;

	assert_true(lull_filter_weigh(&variance, 100.0, 4.0, 200.0, 0.0) == 200.0);
	assert_true(variance == 0.0);
}

TEST(filter_weigh__stays_between_the_two)
{
	static const double values[] = { 0.1, 1.0, 3.3e9, 1e11 / 3.0 };
	double variance, value;

	for (size_t i = 0; i < COUNT(values); i++)
		for (size_t j = 0; j < COUNT(values); j++) {
			double low = values[i] < values[j] ? values[i] : values[j];
			double high = values[i] < values[j] ? values[j] : values[i];

			variance = 1e-9;
			value = lull_filter_weigh(&variance, values[i], 1e-3, values[j], 1e-12);
			assert_true(value >= low && value <= high);
			variance = 1e30;
			value = lull_filter_weigh(&variance, values[i], 1e30, values[j], 1e-12);
			assert_true(value >= low && value <= high);
		}
}
