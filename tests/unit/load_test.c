/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/base.h>

#include "case.h"
#include "idle/load.h"

TEST(iteration__rates_are_means_over_time)
{
	struct lull_load load;
	uint64_t now_ns;

	lull_load_init(&load, 0);
	/* every 10 us an iteration of 1 us with 3 packets */
	for (now_ns = 10000; now_ns < 100000000; now_ns += 10000)
		lull_load_iteration(&load, now_ns, 3, 1000);
	assert_in_range(load.arrival_pps, 299000, 301000);
	assert_in_range(load.busy_ppm, 99000, 101000);
	assert_in_range(load.serve_ns, 980, 1000);
	/* silence */
	for (; now_ns < 200000000; now_ns += 10000)
		lull_load_iteration(&load, now_ns, 0, 0);
	assert_in_range(load.arrival_pps, 0, 10);
}

TEST(share__follows_packets_not_time)
{
	struct lull_load load;
	uint32_t i;

	lull_load_init(&load, 0);
	assert_int_equal(load.resting_ppm, LULL_PPM);
	for (i = 0; i < 1000; i++)
		lull_load_share(&load, 32, 0);
	assert_in_range(load.resting_ppm, 0, 3000);
	lull_load_share(&load, 4096, 4096);
	assert_int_equal(load.resting_ppm, LULL_PPM);
	lull_load_share(&load, 0, 5);
	assert_int_equal(load.resting_ppm, LULL_PPM);
}

TEST(iteration__remembers_the_last_packet)
{
	struct lull_load load;

	lull_load_init(&load, 0);
	lull_load_iteration(&load, 5000, 1, 100);
	lull_load_iteration(&load, 9000, 0, 0);
	assert_int_equal(load.packet_ns, 5000);
}

/* An iteration of 5 ms among iterations of 2 us: somebody else had the CPU. */
TEST(iteration__what_was_held_up_is_no_load)
{
	struct lull_load load;
	uint64_t now_ns = 0;

	lull_load_init(&load, 0);
	for (int i = 0; i < 20000; i++)
		lull_load_iteration(&load, now_ns += 10000, 3, 2000);
	assert_in_range(load.busy_ppm, 190000, 210000);
	lull_load_iteration(&load, now_ns += 5000000, 3, 5000000);
	assert_in_range(load.serve_ns, 1900, 3000);
	assert_in_range(load.busy_ppm, 100000, 210000);
	/* where all are long, that is what serving takes */
	for (int i = 0; i < 200; i++)
		lull_load_iteration(&load, now_ns += 5000000, 3, 5000000);
	assert_in_range(load.serve_ns, 4900000, 5000000);
	assert_true(load.busy_ppm > 950000);
}

/* Windows of 2 ms weigh a quarter; an iteration a sixteenth, and one that was held up less. */
TEST(iteration__moves_by_parts)
{
	struct lull_load load;

	lull_load_init(&load, 1000);
	lull_load_iteration(&load, 1000, 4, 1600);
	assert_int_equal(load.serve_ns, 100);
	lull_load_iteration(&load, 1000, 0, 0);
	assert_int_equal(load.serve_ns, 100);
	/* twice the usual and 10 us at most */
	lull_load_iteration(&load, 1000, 4, 398400);
	assert_int_equal(load.serve_ns, (1500 + 10200) / 16);
	assert_int_equal(load.window_busy_ns, 400000);
	assert_int_equal(load.window_pkts, 8);
	lull_load_iteration(&load, 1000 + LULL_LOAD_WINDOW_NS - 1, 0, 0);
	assert_int_equal(load.arrival_pps, 0);
	lull_load_iteration(&load, 1000 + LULL_LOAD_WINDOW_NS, 0, 0);
	assert_int_equal(load.arrival_pps, 4000 / 4);
	assert_int_equal(load.busy_ppm, 200000 / 4);
	assert_int_equal(load.window_begin_ns, 1000 + LULL_LOAD_WINDOW_NS);
	assert_int_equal(load.window_pkts, 0);
	assert_int_equal(load.window_busy_ns, 0);
	/* as busy as the window is long */
	load.window_busy_ns = 3 * LULL_LOAD_WINDOW_NS;
	lull_load_iteration(&load, 1000 + 2 * LULL_LOAD_WINDOW_NS, 2, 0);
	assert_int_equal(load.busy_ppm, (150000 + 1000000) / 4);
	assert_int_equal(load.arrival_pps, (3000 + 1000) / 4);
}

/* One packet moves it by a 2048th, and no number of them beyond what it is. */
TEST(share__moves_by_parts)
{
	struct lull_load load;

	lull_load_init(&load, 0);
	lull_load_share(&load, 1, 0);
	assert_int_equal(load.resting_ppm, 1000000 - 488);
	lull_load_share(&load, 2047, 0);
	assert_int_equal(load.resting_ppm, 999512 - 999512ULL * 2047 / 2048);
	lull_load_share(&load, 2048, 1024);
	assert_int_equal(load.resting_ppm, 500000);
	lull_load_share(&load, 100000, 25000);
	assert_int_equal(load.resting_ppm, 250000);
	lull_load_share(&load, 4096, 5000);
	assert_int_equal(load.resting_ppm, 1000000);
}
