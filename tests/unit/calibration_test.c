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

/* Every 64 rests, and when it is ready first. */
TEST(add__figures_are_those_of_the_rests)
{
	struct lull_calibration calibration;

	lull_calibration_init(&calibration);
	assert_int_equal(calibration.p50_ns, 40000);
	assert_int_equal(calibration.usual_p99_ns, 40000);
	assert_int_equal(calibration.cost_ns, 20000);
	for (uint64_t i = 1; i <= 5000; i++) {
		uint64_t over_ns = i % 1500 == 0 ? 2000000 : i % 97 == 0 ? 90000 : i * 7919 % 5000;
		uint64_t p50_ns = calibration.p50_ns;

		lull_calibration_add(&calibration, over_ns, 0);
		if (i != LULL_CALIBRATION_READY && i % 64 != 0) {
			assert_int_equal(calibration.p50_ns, p50_ns);
			continue;
		}
		assert_int_equal(calibration.p50_ns,
				 lull_calibration_quantile(&calibration, 500000));
		assert_int_equal(calibration.p99_ns,
				 lull_calibration_quantile(&calibration, 990000));
		assert_int_equal(calibration.p999_ns,
				 lull_calibration_quantile(&calibration, 999000));
		assert_int_equal(calibration.p9999_ns,
				 lull_calibration_quantile(&calibration, 999900));
		assert_int_equal(calibration.usual_p99_ns,
				 lull_calibration_usual(&calibration, 990000));
	}
	/* rests that a stall met are told elsewhere */
	assert_in_range(calibration.p9999_ns, 2000000, 2200000);
	assert_in_range(lull_calibration_usual(&calibration, 999999), 90000, 98303);
	assert_in_range(lull_calibration_quantile(&calibration, 999999), 2000000, 2200000);
	assert_int_equal(calibration.cost_ns, 20000);
	assert_false(calibration.cost_measured);
}

TEST(usual__counts_none_but_stalls_as_nothing)
{
	struct lull_calibration calibration;

	lull_calibration_init(&calibration);
	for (uint32_t i = 0; i < LULL_CALIBRATION_READY - 1; i++)
		lull_calibration_add(&calibration, 1000000, 0);
	assert_int_equal(lull_calibration_usual(&calibration, 990000), 40000);
	lull_calibration_add(&calibration, 1000000, 0);
	assert_int_equal(lull_calibration_usual(&calibration, 990000), 0);
	/* the last that is no stall, and the first that is */
	lull_calibration_add(&calibration, LULL_STALL_NS - 1, 0);
	assert_int_equal(lull_calibration_usual(&calibration, 500000), LULL_STALL_NS - 1);
	lull_calibration_init(&calibration);
	for (uint32_t i = 0; i < LULL_CALIBRATION_READY; i++)
		lull_calibration_add(&calibration, LULL_STALL_NS, 0);
	assert_int_equal(lull_calibration_usual(&calibration, 500000), 0);
}

/* 200 late ones of 2200: out of date in the first multiple of 256 at which the habit is good. */
TEST(add__what_hundreds_of_rests_contradict_fades_faster)
{
	struct lull_calibration calibration;
	double late = 0;
	uint32_t i = 0, faded_at = 0;

	lull_calibration_init(&calibration);
	for (; i < 2000; i++)
		assert_false(lull_calibration_add(&calibration, 6000, 0));
	for (; i < 2200; i++)
		assert_true(lull_calibration_add(&calibration, 1000000, 0));
	late = calibration.late_ppm;
	assert_in_range(calibration.late_ppm, 540000, 546000);
	for (; faded_at == 0 && i < 5000; i++) {
		uint32_t weight = calibration.weight;

		lull_calibration_add(&calibration, 6000, 0);
		if (calibration.weight != weight + 1)
			faded_at = i + 1;
		else
			late = late * 255 / 256;
	}
	assert_int_equal(faded_at % 256, 0);
	/* 8 times the habit and 0.1 % are less than what is remembered; 256 rests before not */
	assert_true(8 * late + 1000 < 200e6 / faded_at);
	assert_true(8 * late * 2.72 + 1000 > 200e6 / (faded_at - 256));
	assert_in_range(calibration.weight, faded_at / 2 - 2, faded_at / 2);
}

/* Half of each bin, and the edges of what is left. */
TEST(add__the_full_memory_is_halved)
{
	struct lull_calibration calibration;

	lull_calibration_init(&calibration);
	lull_calibration_add(&calibration, 3, 0);
	for (uint32_t i = 0; i < LULL_CALIBRATION_WEIGHT - 3; i++)
		lull_calibration_add(&calibration, 8 + i % 2, 0);
	assert_int_equal(calibration.weight, LULL_CALIBRATION_WEIGHT - 2);
	assert_int_equal(calibration.bin_first, 3);
	lull_calibration_add(&calibration, 12, 0);
	assert_int_equal(calibration.bin_last, 12);
	lull_calibration_add(&calibration, 9, 0);
	assert_int_equal(calibration.bin_first, 8);
	assert_int_equal(calibration.bin_last, 9);
	assert_int_equal(calibration.bins[3], 0);
	assert_int_equal(calibration.bins[12], 0);
	assert_int_equal(calibration.weight, calibration.bins[8] + calibration.bins[9]);
	assert_in_range(calibration.weight, LULL_CALIBRATION_WEIGHT / 2 - 2,
			LULL_CALIBRATION_WEIGHT / 2);
	assert_int_equal(calibration.count, LULL_CALIBRATION_WEIGHT);
}

TEST(add__costs_begin_with_the_first_that_was_measured)
{
	struct lull_calibration calibration;

	lull_calibration_init(&calibration);
	lull_calibration_add(&calibration, 5, 0);
	assert_int_equal(calibration.cost_ns, 20000);
	lull_calibration_add(&calibration, 5, 1);
	assert_true(calibration.cost_measured);
	assert_int_equal(calibration.cost_ns, 1);
	lull_calibration_init(&calibration);
	lull_calibration_add(&calibration, 5, 8000);
	lull_calibration_add(&calibration, 5, 0);
	assert_int_equal(calibration.cost_ns, 8000);
	lull_calibration_add(&calibration, 5, 16000);
	assert_int_equal(calibration.cost_ns, 9000);
	lull_calibration_add(&calibration, 5, 1000000);
	assert_int_equal(calibration.cost_ns, (7 * 9000 + 36000) / 8);
}

/* 8000 rests: 8 of 400 us, 72 of 100 us, 3920 of 7 us, 4000 of 5 us. So many lie above exactly. */
TEST(add__figures_count_to_the_rest)
{
	struct lull_calibration calibration;
	uint64_t others = 0, low;

	lull_calibration_init(&calibration);
	for (uint64_t i = 1; i <= 8000; i++) {
		uint64_t over_ns = i % 1000 == 0 ? 400000 : 100000;

		if (i % 100 != 0) {
			others++;
			low = others * 4000 / 7920 - (others - 1) * 4000 / 7920;
			over_ns = low == 1 ? 5000 : 7000;
		}
		lull_calibration_add(&calibration, over_ns, 0);
	}
	assert_int_equal(calibration.weight, 8000);
	assert_in_range(calibration.p50_ns, 5000, 5400);
	assert_in_range(calibration.p99_ns, 7000, 7500);
	assert_in_range(calibration.p999_ns, 100000, 107000);
	assert_in_range(calibration.p9999_ns, 400000, 430000);
	assert_in_range(calibration.usual_p99_ns, 7000, 7500);
	/* nothing lies below the shortest */
	assert_int_equal(lull_calibration_quantile(&calibration, 0), 0);
}

/* Exactly four times the usual and 50 us are not late. */
TEST(add__late_at_the_edge)
{
	struct lull_calibration calibration;
	uint64_t edge_ns;

	lull_calibration_init(&calibration);
	for (uint32_t i = 0; i < LULL_CALIBRATION_READY - 1; i++)
		assert_false(lull_calibration_add(&calibration, 10, 0));
	/* nothing is usual before it is ready */
	assert_false(lull_calibration_add(&calibration, LULL_NS_PER_S, 0));
	assert_int_equal(calibration.p50_ns, 10);
	edge_ns = 4 * 10 + 50000;
	assert_false(lull_calibration_add(&calibration, edge_ns, 0));
	assert_int_equal(calibration.late_ppm, 0);
	assert_true(lull_calibration_add(&calibration, edge_ns + 1, 0));
	assert_int_equal(calibration.late_ppm, 1000000 / 256);
	assert_false(lull_calibration_add(&calibration, 10, 0));
	assert_int_equal(calibration.late_ppm, 3906 * 255 / 256);
}

/* Bins of one nanosecond below 32, then sixteen per octave. */
TEST(high__by_hand)
{
	assert_int_equal(lull_calibration_high(0), 0);
	assert_int_equal(lull_calibration_high(15), 15);
	assert_int_equal(lull_calibration_high(16), 16);
	assert_int_equal(lull_calibration_high(31), 31);
	assert_int_equal(lull_calibration_high(32), 33);
	assert_int_equal(lull_calibration_high(33), 35);
	assert_int_equal(lull_calibration_high(47), 63);
	assert_int_equal(lull_calibration_high(48), 67);
	assert_int_equal(lull_calibration_high(LULL_CALIBRATION_BINS - 1), (1ULL << 32) - 1);
}
