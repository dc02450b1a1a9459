/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/base.h>

#include "case.h"
#include "idle/calibration.h"

TEST(quantile__never_below_the_truth)
{
	struct lull_calibration calibration;
	uint32_t i;

	lull_calibration_init(&calibration);
	for (i = 1; i <= 10000; i++)
		lull_calibration_add(&calibration, i * 10, 0);
	assert_in_range(lull_calibration_quantile(&calibration, 500000), 50000, 50000 * 5 / 4);
	assert_in_range(lull_calibration_quantile(&calibration, 990000), 99000, 99000 * 4 / 3);
	assert_in_range(lull_calibration_quantile(&calibration, 999900), 99990, 99990 * 4 / 3);
}

TEST(quantile__is_a_guess_until_ready)
{
	struct lull_calibration calibration;
	uint32_t i;

	lull_calibration_init(&calibration);
	for (i = 0; i + 1 < LULL_CALIBRATION_READY; i++)
		lull_calibration_add(&calibration, 1000, 0);
	assert_int_equal(lull_calibration_quantile(&calibration, 990000), 40000);
	lull_calibration_add(&calibration, 1000, 0);
	assert_in_range(lull_calibration_quantile(&calibration, 990000), 1000, 1250);
}

TEST(high__edges_ascend_and_hold_their_values)
{
	uint32_t bin;

	for (bin = 1; bin < LULL_CALIBRATION_BINS; bin++)
		assert_true(lull_calibration_high(bin) > lull_calibration_high(bin - 1));
	assert_true(lull_calibration_high(LULL_CALIBRATION_BINS - 1) >= 1ULL << 28);
}

TEST(add__old_rests_fade)
{
	struct lull_calibration calibration;
	uint32_t i;

	lull_calibration_init(&calibration);
	for (i = 0; i < 1000; i++)
		lull_calibration_add(&calibration, 1000000, 0);
	for (i = 0; i < 20 * LULL_CALIBRATION_WEIGHT; i++)
		lull_calibration_add(&calibration, 5000, 0);
	assert_in_range(calibration.p9999_ns, 5000, 6250);
	assert_true(calibration.weight < LULL_CALIBRATION_WEIGHT);
}

TEST(add__late_share_follows_the_habit)
{
	struct lull_calibration calibration;
	uint32_t i, late = 0;

	lull_calibration_init(&calibration);
	for (i = 0; i < 4000; i++)
		late += lull_calibration_add(&calibration, i % 20 == 0 ? 1000000 : 6000, 0);
	/* the first ones come before anything is usual */
	assert_in_range(late, 195, 200);
	assert_in_range(calibration.late_ppm, 40000, 65000);
	for (i = 0; i < 2000; i++)
		lull_calibration_add(&calibration, 6000, 0);
	assert_in_range(calibration.late_ppm, 0, 1000);
}

TEST(add__cost_is_smoothed_and_outliers_are_capped)
{
	struct lull_calibration calibration;
	uint32_t i;

	lull_calibration_init(&calibration);
	lull_calibration_add(&calibration, 6000, 5000);
	assert_int_equal(calibration.cost_ns, 5000);
	lull_calibration_add(&calibration, 6000, 5000000);
	assert_in_range(calibration.cost_ns, 5000, 7500);
	for (i = 0; i < 100; i++)
		lull_calibration_add(&calibration, 6000, 8000);
	assert_in_range(calibration.cost_ns, 7900, 8100);
}

TEST(add__huge_overshoots_stay_in_the_last_bin)
{
	struct lull_calibration calibration;

	lull_calibration_init(&calibration);
	lull_calibration_add(&calibration, UINT64_MAX, 0);
	lull_calibration_add(&calibration, 0, 0);
	assert_int_equal(calibration.bins[LULL_CALIBRATION_BINS - 1], 1);
	assert_int_equal(calibration.bins[0], 1);
}
