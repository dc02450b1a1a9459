/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"

#include "idle/pace.h"

#define QUEUES 16
#define EMPTY_NS 700

/* Iterations of QUEUES queues: so much each, and so much per packet. */
static struct lull_pace
seen(uint64_t pkts, uint64_t pkt_ns, uint32_t count)
{
	struct lull_pace pace = { .queue_count = QUEUES };

	for (uint32_t i = 0; i < count; i++) {
		lull_pace_empty(&pace, EMPTY_NS);
		lull_pace_busy(&pace, EMPTY_NS + pkts * pkt_ns, pkts, pkts >= 32);
	}
	return pace;
}

TEST(full_ns__is_not_known_without_packets)
{
	struct lull_pace pace = { .queue_count = QUEUES };

	lull_pace_empty(&pace, EMPTY_NS);
	assert_int_equal(lull_pace_full_ns(&pace, 32), 0);
	assert_false(lull_pace_outrun(&pace, 32, 14880952));
}

/* From one packet, from a burst, from more than all bursts: the same line. */
TEST(full_ns__is_a_burst_of_each_queue)
{
	static const uint64_t pkts[] = { 1, 3, 32, 200, 512, 1500 };

	for (size_t i = 0; i < COUNT(pkts); i++) {
		struct lull_pace pace = seen(pkts[i], 30, 500);
		uint64_t want_ns = EMPTY_NS + (pkts[i] > 512 ? pkts[i] : 512) * 30;

		assert_in_range(lull_pace_full_ns(&pace, 32), want_ns * 95 / 100,
				want_ns * 105 / 100);
		pace.queue_count = 1;
		if (pkts[i] <= 32)
			assert_in_range(lull_pace_full_ns(&pace, 32), EMPTY_NS + 900,
					EMPTY_NS + 1020);
	}
}

/* One that took longer counts for a while, one that was held up for milliseconds not in full. */
TEST(full_ns__remembers_long_ones)
{
	struct lull_pace pace = seen(512, 30, 500);
	uint64_t usual_ns = lull_pace_full_ns(&pace, 32), long_ns;

	for (uint32_t i = 0; i < 8; i++)
		lull_pace_busy(&pace, 2 * usual_ns, 512, true);
	long_ns = lull_pace_full_ns(&pace, 32);
	assert_in_range(long_ns, usual_ns * 18 / 10, usual_ns * 21 / 10);
	for (uint32_t i = 0; i < 20; i++)
		lull_pace_busy(&pace, usual_ns, 512, true);
	assert_true(lull_pace_full_ns(&pace, 32) > usual_ns * 17 / 10);
	for (uint32_t i = 0; i < 2000; i++)
		lull_pace_busy(&pace, usual_ns, 512, true);
	assert_true(lull_pace_full_ns(&pace, 32) < usual_ns * 11 / 10);
	lull_pace_busy(&pace, LULL_NS_PER_S, 512, true);
	assert_true(lull_pace_full_ns(&pace, 32) < 5 * usual_ns);
}

/* A burst of 32 takes 700 + 32 x 30 ns: 19.3 Mpps. */
TEST(outrun__is_measured)
{
	struct lull_pace pace = seen(32, 30, 20);

	assert_false(lull_pace_outrun(&pace, 32, 19000000));
	assert_true(lull_pace_outrun(&pace, 32, 21500000));
	/* packets of many queues, none of which had a backlog, tell nothing, and neither do few */
	pace = seen(31, 300, 20);
	assert_false(lull_pace_outrun(&pace, 32, 21500000));
	pace = seen(32, 300, 7);
	assert_false(lull_pace_outrun(&pace, 32, 21500000));
	pace = seen(32, 300, 8);
	assert_true(lull_pace_outrun(&pace, 32, 21500000));
	/* what others give besides counts: 700 + 96 x 30 ns for 96 */
	pace = seen(96, 30, 20);
	assert_false(lull_pace_outrun(&pace, 32, 27000000));
}

/* Polled for nothing, a queue costs time as well: 64 of them make a loop too slow for a burst. */
TEST(outrun__counts_queues_that_give_nothing)
{
	struct lull_pace pace = { .queue_count = 64 };

	for (uint32_t i = 0; i < 20; i++) {
		lull_pace_empty(&pace, 2600);
		lull_pace_busy(&pace, 2600 + 32 * 30, 32, true);
	}
	assert_true(lull_pace_outrun(&pace, 32, 14880952));
	assert_false(lull_pace_outrun(&pace, 32, 7440476));
	/* and so much that nobody has to see a burst */
	pace = (struct lull_pace){ .queue_count = 64 };
	for (uint32_t i = 0; i < 100; i++)
		lull_pace_empty(&pace, 2600);
	assert_true(lull_pace_outrun(&pace, 32, 14880952));
	assert_false(lull_pace_outrun(&pace, 32, 11000000));
}

/* Means move by a sixteenth; the long one up by a quarter and down by a 256th. */
TEST(busy__moves_by_parts)
{
	struct lull_pace pace = { .queue_count = 1 };
	struct lull_pace_scale *scale = &pace.scales[3];

	lull_pace_busy(&pace, 1000, 10, false);
	assert_int_equal(scale->mean_x256, 256000);
	assert_int_equal(scale->long_x256, 256000);
	assert_int_equal(scale->pkts_x256, 2560);
	assert_int_equal(scale->count, 1);
	lull_pace_busy(&pace, 1160, 12, false);
	assert_int_equal(scale->mean_x256, 256000 + 2560);
	assert_int_equal(scale->pkts_x256, 2560 + 32);
	assert_int_equal(scale->long_x256, 256000 + 10240);
	lull_pace_busy(&pace, 1000, 12, false);
	assert_int_equal(scale->mean_x256, 258560 - 160);
	assert_int_equal(scale->long_x256, 266240 - 40);
	assert_int_equal(scale->count, 3);
	/* one that was held up counts as 8 times the usual and 10 us */
	lull_pace_busy(&pace, 1000000, 12, false);
	assert_int_equal(scale->mean_x256, 258400 + (7 * 258400 + 2560000) / 16);
	/* of no time at all it is known all the same */
	lull_pace_busy(&pace, 0, 1, false);
	assert_int_equal(pace.scales[0].long_x256, 1);
	assert_int_equal(pace.scales[0].mean_x256, 0);
	/* the last scale takes all that is more */
	lull_pace_busy(&pace, 5, 1u << 20, true);
	assert_int_equal(pace.scales[LULL_PACE_SCALES - 1].count, 1);
	assert_int_equal(pace.full.count, 1);
	assert_int_equal(pace.full.pkts_x256, 256u << 20);
}

TEST(empty__moves_by_parts)
{
	struct lull_pace pace = { .queue_count = 1 };

	/* from nothing: 10 us at most */
	lull_pace_empty(&pace, 1600);
	assert_int_equal(pace.empty_x256, 25600);
	lull_pace_empty(&pace, 1000000);
	assert_int_equal(pace.empty_x256, 25600 + (7 * 25600 + 2560000) / 16);
	pace.empty_x256 = 256000;
	lull_pace_empty(&pace, 840);
	assert_int_equal(pace.empty_x256, 256000 - 2560);
}
