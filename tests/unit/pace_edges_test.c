/* SPDX-License-Identifier: BSD-3-Clause */
/* What iterations take by hand: each mean and bound to the part of a nanosecond. */
#include "case.h"
#include "idle/pace.h"

/* A true mean at first, then a moving one; what was held up counts little in the mean. */
TEST(after_rest__moves_by_parts)
{
	struct lull_pace pace = { .queue_count = 1 };
	struct lull_pace_cold *cold = &pace.cold[3];

	lull_pace_after_rest(&pace, 1000, 10);
	assert_int_equal(cold->mean_x256, 256000);
	assert_int_equal(cold->pkts_x256, 2560);
	assert_int_equal(cold->long_x256, 256000);
	assert_int_equal(cold->count, 1);
	lull_pace_after_rest(&pace, 3000, 12);
	assert_int_equal(cold->mean_x256, 512000);
	assert_int_equal(cold->pkts_x256, 2816);
	assert_int_equal(cold->long_x256, 768000);
	lull_pace_after_rest(&pace, 1000000, 12);
	assert_int_equal(cold->long_x256, 8 * 512000 + 2560000);
	assert_int_equal(cold->mean_x256, 512000 + 7 * 512000 / 2);
	assert_int_equal(cold->pkts_x256, 2944);
	lull_pace_after_rest(&pace, 9000, 12);
	assert_int_equal(cold->mean_x256, 2304000);
	assert_int_equal(cold->pkts_x256, 2976);
	assert_int_equal(cold->count, 4);
	/* of 64 and more a 64th */
	*cold = (struct lull_pace_cold){ .mean_x256 = 256000, .pkts_x256 = 2560, .count = 63 };
	lull_pace_after_rest(&pace, 1640, 10);
	assert_int_equal(cold->count, 64);
	assert_int_equal(cold->mean_x256, 256000 + 2560);
	lull_pace_after_rest(&pace, 1010, 10);
	assert_int_equal(cold->count, 64);
	/* the largest scale takes what is more, one packet the smallest */
	lull_pace_after_rest(&pace, 5, 1u << 20);
	assert_int_equal(pace.cold[LULL_PACE_SCALES - 1].count, 1);
	lull_pace_after_rest(&pace, 5, 1);
	assert_int_equal(pace.cold[0].mean_x256, 1280);
}

TEST(fade__halves_when_it_is_time)
{
	struct lull_pace pace = { .queue_count = 1, .fade_ns = 5 };

	pace.scales[2] = (struct lull_pace_scale){ 7, 8, 9, 3 };
	pace.scales[3] = (struct lull_pace_scale){ 7, 8, 9, 1 };
	pace.full[2] = pace.scales[2];
	pace.full[15] = pace.scales[3];
	pace.cold[15] = (struct lull_pace_cold){ 1, 2, 9, 4, 5 };
	lull_pace_fade(&pace, 5 + LULL_PACE_FADE_NS - 1);
	assert_int_equal(pace.scales[2].count, 3);
	assert_int_equal(pace.fade_ns, 5);
	lull_pace_fade(&pace, 5 + LULL_PACE_FADE_NS);
	assert_int_equal(pace.fade_ns, 5 + LULL_PACE_FADE_NS);
	assert_int_equal(pace.scales[2].count, 1);
	assert_int_equal(pace.scales[2].long_x256, 7);
	assert_int_equal(pace.full[2].count, 1);
	assert_int_equal(pace.scales[3].long_x256, 0);
	assert_int_equal(pace.full[15].mean_x256, 0);
	assert_int_equal(pace.cold[15].count, 4);
	assert_int_equal(pace.cold[15].old_x256, 4);
	assert_int_equal(pace.cold[15].long_x256, 0);
	assert_int_equal(pace.cold[15].mean_x256, 1);
}

/* 10 packets in 1 us, and in two of them after a rest. */
static struct lull_pace
twice_as_dear(void)
{
	struct lull_pace pace = { .queue_count = 1 };

	pace.scales[3] = (struct lull_pace_scale){ 256000, 256000, 2560, 8 };
	pace.cold[3] = (struct lull_pace_cold){
		.mean_x256 = 512000, .pkts_x256 = 2560, .count = 8, .long_x256 = 1
	};
	return pace;
}

TEST(full_ns__exactly)
{
	struct lull_pace pace = twice_as_dear();

	/* the ratio is a little less than two: no iteration costs nothing */
	assert_int_equal(lull_pace_full_ns(&pace, 32), 6399);
	pace.queue_count = 2;
	assert_int_equal(lull_pace_full_ns(&pace, 32), 12799);
	pace.queue_count = 1;
	pace.cold[0].long_x256 = 7000 * 256;
	assert_int_equal(lull_pace_full_ns(&pace, 32), 7000);
	pace.cold[15].old_x256 = 7001 * 256;
	assert_int_equal(lull_pace_full_ns(&pace, 32), 7001);
	pace = twice_as_dear();
	pace.cold[3].count = 7;
	assert_int_equal(lull_pace_full_ns(&pace, 32), 3200);
	pace.cold[3].count = 8;
	pace.scales[3].count = 7;
	assert_int_equal(lull_pace_full_ns(&pace, 32), 3200);
	/* cheaper after a rest: no cheaper for that */
	pace = twice_as_dear();
	pace.cold[3].mean_x256 = 100;
	assert_int_equal(lull_pace_full_ns(&pace, 32), 3200);
	/* a smaller one that took longer than the line says */
	pace.scales[0] = (struct lull_pace_scale){ 5000 * 256, 256, 256, 1 };
	assert_int_equal(lull_pace_full_ns(&pace, 32), 5000);
	/* an empty one that takes longer than a full one adds nothing */
	pace = (struct lull_pace){ .queue_count = 1, .empty_x256 = 200 * 256 };
	pace.scales[0] = (struct lull_pace_scale){ 100 * 256, 100 * 256, 256, 1 };
	assert_int_equal(lull_pace_full_ns(&pace, 32), 100);
	/* none but after rests: 700 ns and 50 per packet */
	pace = (struct lull_pace){ .queue_count = 1, .empty_x256 = 700 * 256 };
	pace.cold[0] =
		(struct lull_pace_cold){ .mean_x256 = 800 * 256, .pkts_x256 = 256, .count = 1 };
	assert_int_equal(lull_pace_full_ns(&pace, 32), 700 + 3200);
	pace.cold[6] =
		(struct lull_pace_cold){ .mean_x256 = 5700 * 256, .pkts_x256 = 25600, .count = 1 };
	assert_int_equal(lull_pace_full_ns(&pace, 32), 700 + 1600);
}

TEST(behind_pkts__exactly)
{
	struct lull_pace pace = twice_as_dear();

	/* 6.4 us bring 128 at 20 Mpps, of which it takes 32 */
	assert_int_equal(lull_pace_behind_pkts(&pace, 32, 20000000), 96);
	assert_int_equal(lull_pace_behind_pkts(&pace, 32, 20001000), 97);
	assert_int_equal(lull_pace_behind_pkts(&pace, 32, 5000000), 0);
	/* a full burst in one queue: 20 us bring 400, less 32 */
	pace.full[5] = (struct lull_pace_scale){ 0, 2560000, 8192, 1 };
	assert_int_equal(lull_pace_behind_pkts(&pace, 32, 20000000), 368);
	/* one packet more, or a part of it */
	assert_int_equal(lull_pace_behind_pkts(&pace, 32, 1650000), 1);
	/* no dearer, or nobody knows */
	pace.cold[3].mean_x256 = 256000;
	assert_int_equal(lull_pace_behind_pkts(&pace, 32, 20000000), 0);
	pace.cold[3].mean_x256 = 512000;
	pace.scales[3].count = 0;
	assert_int_equal(lull_pace_behind_pkts(&pace, 32, 20000000), 0);
}

TEST(outrun__at_the_edge)
{
	struct lull_pace pace = { .queue_count = 1, .empty_x256 = 25600 };

	/* 100 ns bring a packet at 10 Mpps, which a burst of one takes */
	assert_false(lull_pace_outrun(&pace, 1, 10000000));
	assert_true(lull_pace_outrun(&pace, 1, 10040000));
	/* a sixteenth more than 16 packets is borne, of eight iterations */
	pace.empty_x256 = 0;
	pace.full[0] = (struct lull_pace_scale){ 0, 4352000, 4096, 8 };
	assert_false(lull_pace_outrun(&pace, 32, 1000000));
	pace.full[0].mean_x256 = 4353000;
	assert_true(lull_pace_outrun(&pace, 32, 1000000));
	pace.full[0].count = 7;
	assert_false(lull_pace_outrun(&pace, 32, 1000000));
	pace.full[15] = (struct lull_pace_scale){ 0, 4353000, 4096, 8 };
	assert_true(lull_pace_outrun(&pace, 32, 1000000));
}
