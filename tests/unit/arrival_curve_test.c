/* SPDX-License-Identifier: BSD-3-Clause */
/* What is learned of arrivals by polling is compared with the true curve of the same packets. */
#include <stdio.h>
#include <stdlib.h>

#include <lull/base.h>
#include <lull/traffic.h>

#include "case.h"
#include "idle/arrival_curve.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define PKTS_MAX 2000000

static uint64_t *times_ns;

static int
group_setup(void **state)
{
	(void)state;
	times_ns = calloc(PKTS_MAX, sizeof(*times_ns));
	return times_ns == NULL ? -1 : 0;
}

static int
group_teardown(void **state)
{
	(void)state;
	free(times_ns);
	return 0;
}

/* Arrival times of a kind of traffic up to end_ns; returns how many. */
static size_t
arrive(const struct lull_arrival_config *config, uint64_t end_ns)
{
	struct lull_arrival *arrival = calloc(1, lull_arrival_size());
	size_t count = 0;

	assert_non_null(arrival);
	lull_arrival_init(arrival, config, 0);
	while (count < PKTS_MAX && lull_arrival_next_ns(arrival) < end_ns) {
		times_ns[count++] = lull_arrival_next_ns(arrival);
		lull_arrival_take(arrival);
	}
	free(arrival);
	return count;
}

/* Most packets in any window of this length, exactly. */
static uint64_t
true_curve(size_t count, uint64_t window_ns)
{
	uint64_t most = 0;
	size_t first = 0;

	for (size_t last = 0; last < count; last++) {
		while (times_ns[last] - times_ns[first] >= window_ns)
			first++;
		most = LULL_MAX(most, (uint64_t)(last - first + 1));
	}
	return most;
}

/* Poll every rest_ns and tell the curve what each look brought. */
static void
learn(struct lull_arrival_curve *curve, size_t count, uint64_t rest_ns, uint64_t end_ns)
{
	struct lull_arrival_windows windows = { 0 };
	size_t next = 0;

	lull_arrival_curve_init(curve, 0);
	for (uint64_t now_ns = rest_ns; now_ns <= end_ns; now_ns += rest_ns) {
		uint64_t pkts = 0;

		while (next < count && times_ns[next] <= now_ns) {
			next++;
			pkts++;
		}
		if (pkts > 0)
			lull_arrival_curve_add(curve, &windows, now_ns - rest_ns, now_ns, pkts);
	}
}

static void
compare(const char *name, const struct lull_arrival_config *config)
{
	static const uint64_t rests_ns[] = { 1 * US, 17 * US, 200 * US, 900 * US };
	const uint64_t end_ns = 400 * MS;
	size_t count = arrive(config, end_ns);
	struct lull_arrival_curve curve;

	assert_true(count > 100);
	for (size_t r = 0; r < sizeof(rests_ns) / sizeof(rests_ns[0]); r++) {
		learn(&curve, count, rests_ns[r], end_ns);
		for (uint32_t scale = 0; scale < LULL_ARRIVAL_SCALES; scale++) {
			uint64_t window_ns = US << scale;
			uint64_t truth = true_curve(count, window_ns);
			uint64_t wider = true_curve(count, window_ns + 2 * rests_ns[r]);
			uint64_t learned = lull_arrival_curve_pkts(&curve, scale);

			if (window_ns < rests_ns[r])
				continue; /* nothing shorter than a rest can be seen */
			/* with the margin a bound, and without it no more than really came */
			if (LULL_ARRIVAL_MARGIN * learned < truth || learned > wider)
				fail_msg("%s, rests of %llu ns: %llu learned, %llu true in %llu ns",
					 name, (unsigned long long)rests_ns[r],
					 (unsigned long long)learned, (unsigned long long)truth,
					 (unsigned long long)window_ns);
		}
	}
}

TEST(learned__is_the_true_curve_of_every_kind)
{
	static const struct {
		const char *name;
		struct lull_arrival_config config;
	} kinds[] = {
		{ "constant", { .kind = LULL_ARRIVAL_CONSTANT, .pps = 300000 } },
		{ "poisson", { .kind = LULL_ARRIVAL_POISSON, .pps = 50000 } },
		{ "on/off",
		  { .kind = LULL_ARRIVAL_ONOFF,
		    .pps = 500000,
		    .on_ns = 5 * MS,
		    .off_ns = 20 * MS } },
		{ "tidal",
		  { .kind = LULL_ARRIVAL_TIDAL, .pps_high = 600000, .period_ns = 200 * MS } },
		{ "ramp",
		  { .kind = LULL_ARRIVAL_RAMP, .pps_high = 400000, .period_ns = 300 * MS } },
		{ "step",
		  { .kind = LULL_ARRIVAL_STEP, .pps_high = 400000, .period_ns = 200 * MS } },
		{ "self-similar",
		  { .kind = LULL_ARRIVAL_SELFSIMILAR,
		    .pps = 200000,
		    .hurst = 0.8,
		    .source_count = 16 } },
		{ "incast",
		  { .kind = LULL_ARRIVAL_INCAST,
		    .sender_count = 8,
		    .sender_pkts = 16,
		    .period_ns = 10 * MS,
		    .jitter_ns = 100 * US } },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct lull_arrival_config config = kinds[i].config;

		config.size_count = 1;
		config.size_bytes[0] = 60;
		config.size_weight[0] = 1;
		config.seed = 11 + i;
		assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
		compare(kinds[i].name, &config);
	}
}

TEST(add__a_burst_is_one_at_every_scale)
{
	struct lull_arrival_windows windows = { 0 };
	struct lull_arrival_curve curve;

	lull_arrival_curve_init(&curve, 0);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 14), 0);
	assert_true(lull_arrival_curve_window_ns(&curve, 1, 1) == UINT64_MAX);
	lull_arrival_curve_add(&curve, &windows, 1000 * US, 1000 * US + 300, 7);
	for (uint32_t scale = 0; scale < LULL_ARRIVAL_SCALES; scale++)
		assert_int_equal(lull_arrival_curve_pkts(&curve, scale), 7);
	/* a second one, 3 us later, is in windows of 4 us and more */
	lull_arrival_curve_add(&curve, &windows, 1003 * US, 1003 * US + 300, 7);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 1), 7);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 2), 14);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 14), 14);
}

/* What a rest of 200 us brought may have come within 100 us, but half of it must have. */
TEST(add__long_batches_tell_nothing_of_short_windows)
{
	struct lull_arrival_windows windows = { 0 };
	struct lull_arrival_curve curve;

	lull_arrival_curve_init(&curve, 0);
	lull_arrival_curve_add(&curve, &windows, 0, 200 * US, 600);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 8), 600);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 7), 300);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 0), 3);
	/* longer than the widest window: the part of it that fits */
	lull_arrival_curve_init(&curve, 0);
	lull_arrival_curve_add(&curve, &windows, 300 * MS, 300 * MS + 32768 * US, 2000);
	assert_in_range(lull_arrival_curve_pkts(&curve, 14), 1000, 1001);
}

/* A window that the next batch overflows: what was in it, and that batch alone, count in full. */
TEST(add__neither_part_of_an_overflowing_window_is_averaged_away)
{
	struct lull_arrival_windows windows = { 0 };
	struct lull_arrival_curve curve;

	lull_arrival_curve_init(&curve, 0);
	lull_arrival_curve_add(&curve, &windows, 0, 100 * US, 1);
	lull_arrival_curve_add(&curve, &windows, 100 * US, 200 * US, 100);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 7), 100);
}

TEST(window_ns__is_the_inverse)
{
	struct lull_arrival_windows windows = { 0 };
	struct lull_arrival_curve curve;
	uint64_t last_ns = 0;

	lull_arrival_curve_init(&curve, 0);
	for (uint64_t us = 0; us < 50000; us += 10)
		lull_arrival_curve_add(&curve, &windows, us * US, (us + 10) * US, 10);
	/* 1 packet/us: n packets in about n us, half of that with the margin */
	for (uint64_t pkts = 16; pkts < 100000; pkts *= 2) {
		uint64_t once_ns = lull_arrival_curve_window_ns(&curve, pkts, 1);

		assert_in_range(once_ns, pkts * 1000 * 6 / 10, pkts * 1001);
		assert_in_range(lull_arrival_curve_window_ns(&curve, 2 * pkts, 2), once_ns,
				once_ns);
		assert_true(once_ns > last_ns);
		last_ns = once_ns;
	}
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 0, 1), 0);
}

TEST(fade__by_half_in_nine_seconds)
{
	struct lull_arrival_windows windows = { 0 };
	struct lull_arrival_curve curve;

	lull_arrival_curve_init(&curve, 0);
	lull_arrival_curve_add(&curve, &windows, 0, 100, 1000);
	lull_arrival_curve_fade(&curve, 9 * LULL_NS_PER_S);
	assert_in_range(lull_arrival_curve_pkts(&curve, 14), 450, 550);
	/* a jump of hours costs a bounded number of steps, and a few packets go as well */
	lull_arrival_curve_fade(&curve, 36000 * LULL_NS_PER_S);
	lull_arrival_curve_fade(&curve, 36103 * LULL_NS_PER_S);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 14), 0);
}

/* Between two scales it is a straight line, and through nothing at its beginning. */
TEST(window_ns__lies_on_a_line_between_scales)
{
	struct lull_arrival_curve curve;

	lull_arrival_curve_init(&curve, 0);
	for (uint32_t i = 0; i < LULL_ARRIVAL_SCALES; i++)
		curve.pkts_x256[i] = 256 * (100 + 50 * i); /* 100 in 1 us, 150 in 2, 200 in 4 ... */
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 0, 1), 0);
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 50, 1), 500);
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 100, 1), 1000);
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 125, 1), 1500);
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 150, 1), 2000);
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 160, 1), 2400);
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 320, 2), 2400);
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 775, 1), (8192 + 4096) * US);
	/* beyond the last at the rate of the whole */
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 800, 1), 16384 * US);
	assert_int_equal(lull_arrival_curve_window_ns(&curve, 1200, 1), 24576 * US);
}

/* Of twice as long, half; and a longer window holds no fewer. */
TEST(pkts__scales_tell_of_each_other)
{
	struct lull_arrival_curve curve;

	lull_arrival_curve_init(&curve, 0);
	curve.pkts_x256[5] = 256 * 640;
	curve.pkts_x256[3] = 256 * 100 + 1;
	for (uint32_t i = 0; i <= 5; i++)
		assert_int_equal(lull_arrival_curve_pkts(&curve, i), 640 >> (5 - i));
	for (uint32_t i = 5; i < LULL_ARRIVAL_SCALES; i++)
		assert_int_equal(lull_arrival_curve_pkts(&curve, i), 640);
	/* of the shortest, too */
	lull_arrival_curve_init(&curve, 0);
	curve.pkts_x256[0] = 256 * 7;
	for (uint32_t i = 0; i < LULL_ARRIVAL_SCALES; i++)
		assert_int_equal(lull_arrival_curve_pkts(&curve, i), 7);
	lull_arrival_curve_init(&curve, 0);
	curve.pkts_x256[5] = 256 * 640;
	curve.pkts_x256[3] = 256 * 200 + 1; /* parts count as a whole packet */
	assert_int_equal(lull_arrival_curve_pkts(&curve, 3), 201);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 4), 320);
	assert_int_equal(lull_arrival_curve_pkts(&curve, 2), 100);
}

TEST(fade__step_by_step)
{
	struct lull_arrival_curve curve;

	lull_arrival_curve_init(&curve, 7);
	for (uint32_t i = 0; i < LULL_ARRIVAL_SCALES; i++)
		curve.pkts_x256[i] = 128 * 1000 + 1;
	lull_arrival_curve_fade(&curve, 100 * MS + 6);
	assert_int_equal(curve.pkts_x256[0], 128001);
	lull_arrival_curve_fade(&curve, 100 * MS + 7);
	for (uint32_t i = 0; i < LULL_ARRIVAL_SCALES; i++)
		assert_int_equal(curve.pkts_x256[i], 128001 - 1001);
	assert_int_equal(curve.fade_ns, 100 * MS + 7);
	lull_arrival_curve_fade(&curve, 350 * MS + 7);
	assert_int_equal(curve.fade_ns, 300 * MS + 7);
	/* 1024 steps are made, of more only the time is taken */
	lull_arrival_curve_init(&curve, 0);
	lull_arrival_curve_fade(&curve, 102400 * MS + 3);
	assert_int_equal(curve.fade_ns, 102400 * MS);
	lull_arrival_curve_init(&curve, 0);
	lull_arrival_curve_fade(&curve, 103400 * MS + 3);
	assert_int_equal(curve.fade_ns, 103400 * MS + 3);
}

/* Which scale a batch begins at, and where a window ends. */
TEST(add__batches_at_the_edges_of_scales)
{
	for (uint32_t scale = 0; scale < LULL_ARRIVAL_SCALES; scale++) {
		uint64_t window_ns = US << scale;
		struct lull_arrival_windows windows = { 0 };
		struct lull_arrival_curve curve;

		lull_arrival_curve_init(&curve, 0);
		lull_arrival_curve_add(&curve, &windows, 50 * MS, 50 * MS + window_ns, 1000);
		assert_int_equal(curve.pkts_x256[scale], 256000);
		assert_true(scale == 0 || curve.pkts_x256[scale - 1] == 0);
		if (scale == LULL_ARRIVAL_SCALES - 1)
			continue;
		lull_arrival_curve_init(&curve, 0);
		windows = (struct lull_arrival_windows){ 0 };
		lull_arrival_curve_add(&curve, &windows, 50 * MS, 50 * MS + window_ns + 1, 1000);
		assert_int_equal(curve.pkts_x256[scale], 0);
		assert_int_equal(curve.pkts_x256[scale + 1], 256000);
	}
}

TEST(add__windows_end_where_they_are_full)
{
	struct lull_arrival_windows windows = { 0 };
	struct lull_arrival_curve curve;

	lull_arrival_curve_init(&curve, 0);
	/* in 8 us: 10, 20 and 40 packets */
	lull_arrival_curve_add(&curve, &windows, 100 * US, 102 * US, 10);
	lull_arrival_curve_add(&curve, &windows, 104 * US, 105 * US, 20);
	lull_arrival_curve_add(&curve, &windows, 107 * US, 108 * US, 40);
	assert_int_equal(curve.pkts_x256[3], 70 * 256);
	assert_int_equal(windows.scales[3].begin_ns, 100 * US);
	assert_int_equal(windows.scales[3].pkts, 70);
	/* one more is beyond it: 71 packets in 9 us are 63 in 8, fewer than 70; a new window */
	lull_arrival_curve_add(&curve, &windows, 107 * US, 109 * US, 1);
	assert_int_equal(curve.pkts_x256[3], 70 * 256);
	assert_int_equal(windows.scales[3].begin_ns, 107 * US);
	assert_int_equal(windows.scales[3].pkts, 1);
	/* by even spread more than in either part: 61 in 10 us are 48 in 8 */
	lull_arrival_curve_init(&curve, 0);
	windows = (struct lull_arrival_windows){ 0 };
	lull_arrival_curve_add(&curve, &windows, 100 * US, 106 * US, 30);
	lull_arrival_curve_add(&curve, &windows, 106 * US, 110 * US, 31);
	assert_int_equal(curve.pkts_x256[3], 48 * 256);
	/* what begins when the window is over begins the next */
	lull_arrival_curve_init(&curve, 0);
	windows = (struct lull_arrival_windows){ 0 };
	lull_arrival_curve_add(&curve, &windows, 100 * US, 104 * US, 30);
	lull_arrival_curve_add(&curve, &windows, 108 * US, 109 * US, 29);
	assert_int_equal(curve.pkts_x256[3], 30 * 256);
	assert_int_equal(windows.scales[3].begin_ns, 108 * US);
	/* a batch that ends before it begins is one moment */
	lull_arrival_curve_add(&curve, &windows, 300 * US, 200 * US, 50);
	assert_int_equal(curve.pkts_x256[0], 50 * 256);
}

/* Longer than the widest window: its last part, as if it had come evenly. */
TEST(add__the_end_of_a_long_batch_is_what_counts)
{
	struct lull_arrival_windows windows = { 0 };
	struct lull_arrival_curve curve;

	lull_arrival_curve_init(&curve, 0);
	lull_arrival_curve_add(&curve, &windows, 0, 65536 * US, 4000);
	assert_int_equal(curve.pkts_x256[14], 1001 * 256);
	assert_int_equal(curve.pkts_x256[13], 0);
	assert_int_equal(windows.scales[14].begin_ns, (65536 - 16384) * US);
}

TEST_GROUP(group_setup, group_teardown);
