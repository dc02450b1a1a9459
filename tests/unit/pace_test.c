/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "case.h"

#include "idle/governor.h"
#include "idle/pace.h"

#define US LULL_NS_PER_US

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

/*
 * 16 queues at 100 ns, bursts of 960 ns: a full one alone takes 2.56 us, in which 10 Gbit/s bring
 * 38 packets; 16 full ones take no longer than 253 packets do and are 512. The one is outrun,
 * however often the other is seen.
 */
TEST(outrun__judges_dear_iterations_by_themselves)
{
	for (uint32_t even = 0; even < 4; even++) {
		struct lull_pace pace = { .queue_count = QUEUES };

		for (uint32_t i = 0; i < 200; i++) {
			lull_pace_empty(&pace, 1600);
			for (uint32_t k = 0; k < even; k++)
				lull_pace_busy(&pace, 1600 + 16 * 960, 512, true);
			lull_pace_busy(&pace, 1600 + 960, 32, true);
		}
		assert_true(lull_pace_outrun(&pace, 32, 14880952));
		assert_false(lull_pace_outrun(&pace, 32, 12000000));
	}
}

/* What 4 queues took is no line for 64: their empty iteration alone took a fraction. */
TEST(polls__another_number_of_queues_is_another_loop)
{
	struct lull_pace pace = { 0 };

	lull_pace_polls(&pace, 4);
	for (uint32_t i = 0; i < 200; i++) {
		lull_pace_empty(&pace, 4 * 40);
		lull_pace_busy(&pace, 4 * 960, 128, true);
	}
	lull_pace_polls(&pace, 4);
	assert_in_range(lull_pace_full_ns(&pace, 32), 3700, 4000);
	assert_true(lull_pace_outrun(&pace, 32, 40000000));
	lull_pace_polls(&pace, 64);
	assert_int_equal(lull_pace_full_ns(&pace, 32), 0);
	assert_false(lull_pace_outrun(&pace, 32, 40000000));
	for (uint32_t i = 0; i < 200; i++)
		lull_pace_empty(&pace, 64 * 40);
	lull_pace_busy(&pace, 64 * 40 + 920, 32, true);
	assert_true(lull_pace_full_ns(&pace, 32) > 58000);
}

/* A packet that took a millisecond before others that take one or two us: a flow was set up. */
TEST(busy__the_first_of_a_kind_may_have_been_held_up)
{
	struct lull_pace pace = { .queue_count = 3 };

	lull_pace_empty(&pace, 300);
	lull_pace_busy(&pace, LULL_NS_PER_MS, 1, false);
	lull_pace_after_rest(&pace, LULL_NS_PER_MS, 1);
	assert_true(lull_pace_full_ns(&pace, 32) < 96 * 15000);
	for (uint32_t i = 0; i < 100; i++) {
		lull_pace_busy(&pace, 2000, 1, false);
		lull_pace_after_rest(&pace, 2500, 1);
	}
	/* at most what one first packet may count as, and soon what packets take */
	assert_in_range(pace.cold[0].long_x256 >> LULL_PACE_SHIFT, 2500, 14000);
	assert_in_range(pace.scales[0].mean_x256 >> LULL_PACE_SHIFT, 2000, 2100);
	assert_in_range(pace.cold[0].mean_x256 >> LULL_PACE_SHIFT, 2500, 2800);
	/* but one that takes as long each time is believed */
	for (uint32_t i = 0; i < 100; i++)
		lull_pace_after_rest(&pace, LULL_NS_PER_MS, 1);
	assert_true(lull_pace_full_ns(&pace, 32) > LULL_NS_PER_MS);
}

/* What has not been seen for a minute is of another time; what is seen stays. */
TEST(fade__forgets_what_is_not_seen_any_more)
{
	struct lull_pace pace = seen(512, 300, 100);
	uint64_t now_ns = 0;

	assert_true(lull_pace_outrun(&pace, 32, 5000000));
	for (; now_ns < 60 * LULL_NS_PER_S; now_ns += LULL_NS_PER_MS) {
		lull_pace_busy(&pace, EMPTY_NS + 32 * 30, 32, true);
		lull_pace_fade(&pace, now_ns);
	}
	assert_false(lull_pace_outrun(&pace, 32, 5000000));
	assert_true(lull_pace_outrun(&pace, 32, 25000000));
	assert_in_range(lull_pace_full_ns(&pace, 32), 15000, 17000);
	/* and it is learned anew */
	for (uint32_t i = 0; i < 8; i++)
		lull_pace_busy(&pace, EMPTY_NS + 512 * 300, 512, true);
	assert_true(lull_pace_outrun(&pace, 32, 5000000));
	assert_true(lull_pace_full_ns(&pace, 32) > 150000);
}

/* 8 packets after a rest take four times as long: then so do those of all queues. */
TEST(after_rest__makes_a_full_iteration_dearer)
{
	struct lull_pace pace = seen(512, 30, 500);
	uint64_t usual_ns = lull_pace_full_ns(&pace, 32), longest_ns;

	for (uint32_t i = 0; i < 100; i++)
		lull_pace_busy(&pace, EMPTY_NS + 8 * 60, 8, false);
	for (uint32_t i = 0; i < 7; i++)
		lull_pace_after_rest(&pace, EMPTY_NS + 8 * 240, 8);
	assert_int_equal(lull_pace_full_ns(&pace, 32), usual_ns); /* too few */
	lull_pace_after_rest(&pace, EMPTY_NS + 8 * 240, 8);
	assert_in_range(lull_pace_full_ns(&pace, 32), usual_ns * 39 / 10, usual_ns * 42 / 10);
	for (uint32_t i = 0; i < 64; i++)
		lull_pace_after_rest(&pace, EMPTY_NS + 8 * 240, 8);
	/* one that was held up is no ratio, and counts as itself for a while */
	lull_pace_after_rest(&pace, LULL_NS_PER_S, 8);
	longest_ns = lull_pace_full_ns(&pace, 32);
	assert_in_range(longest_ns, usual_ns * 39 / 10, usual_ns * 60 / 10);
	for (uint32_t i = 0; i < 400; i++)
		lull_pace_after_rest(&pace, EMPTY_NS + 8 * 60, 8);
	assert_in_range(lull_pace_full_ns(&pace, 32), usual_ns, usual_ns * 2);
}

/* Where packets only come in rests there is nothing to compare them with. */
TEST(after_rest__alone_is_a_line)
{
	struct lull_pace pace = { .queue_count = QUEUES };

	for (uint32_t i = 0; i < 100; i++) {
		lull_pace_empty(&pace, EMPTY_NS);
		lull_pace_after_rest(&pace, EMPTY_NS + 100 * 50, 100);
	}
	assert_in_range(lull_pace_full_ns(&pace, 32), EMPTY_NS + 25000, EMPTY_NS + 26500);
	assert_int_equal(lull_pace_behind_pkts(&pace, 32, 14880952), 0);
	lull_pace_after_rest(&pace, EMPTY_NS + 40000, 100);
	/* the longest for two fadings, and no more */
	assert_true(lull_pace_full_ns(&pace, 32) >= EMPTY_NS + 40000);
	lull_pace_halve(&pace, 1);
	assert_true(lull_pace_full_ns(&pace, 32) >= EMPTY_NS + 40000);
	lull_pace_halve(&pace, 2);
	assert_true(lull_pace_full_ns(&pace, 32) < EMPTY_NS + 40000);
}

/* ---- of an idle object ---- */

static struct lull_idle *
idle_begin(void *memory)
{
	const struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED };
	struct lull_idle *idle;

	assert_int_equal(lull_idle_init(memory, &lull_idle_spin, &limits, 1000 * US, &idle), 0);
	return idle;
}

static void
iteration(struct lull_idle *idle, uint64_t now_ns, uint16_t pkts, uint32_t queue_count)
{
	const uint16_t queue_pkts[2] = { pkts };
	const struct lull_iteration iteration = { .now_ns = now_ns,
						  .queue_pkts = queue_pkts,
						  .queue_count = queue_count };

	lull_idle_plan(idle, &iteration);
}

static uint64_t
known_ns(const struct lull_idle *idle)
{
	struct lull_verdict verdict;

	lull_idle_verdict(idle, &verdict);
	return verdict.iteration_ns;
}

/* Two packets after a rest, and another rest, of eight seconds. */
static void
iteration_and_rest(struct lull_idle *idle, uint64_t now_ns)
{
	const struct lull_wake wake = {
		.rest = { .idle_state = LULL_IDLE_SLEEP, .limit_ns = US },
		.begin_ns = now_ns + 200,
		.end_ns = now_ns + 8 * LULL_NS_PER_S,
		.reason = LULL_WAKE_TIMER,
	};

	iteration(idle, now_ns, 1, 1);
	iteration(idle, now_ns + 50, 1, 1);
	iteration(idle, now_ns + 150, 0, 1);
	lull_idle_wake(idle, &wake);
}

/*
 * What an iteration takes is learned anew after a change, after a minute without any, and with
 * another number of queues.
 */
TEST(idle__learns_anew)
{
	const struct lull_idle_limits limits = { .envelope = LULL_ENVELOPE_LEARNED };
	void *memory = aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + 63) / 64 * 64);
	struct lull_idle *idle = idle_begin(memory);
	uint64_t now_ns = 1000 * US;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++, now_ns += US)
			iteration(idle, now_ns, 8, 1);
		assert_in_range(known_ns(idle), 3500, 4500);
		if (round == 0)
			assert_int_equal(lull_idle_change(idle, NULL, &limits), 0);
		if (round == 1)
			lull_idle_forget(idle);
		if (round < 2)
			assert_int_equal(known_ns(idle), 0);
	}
	/* single packets, faster than the line through what came in bursts */
	for (int i = 0; i < 9; i++, now_ns += 8 * LULL_NS_PER_S)
		iteration_and_rest(idle, now_ns);
	assert_in_range(known_ns(idle), 1, 3400);
	iteration(idle, now_ns, 0, 2);
	assert_int_equal(known_ns(idle), 0);
	free(memory);
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
	assert_int_equal(pace.full[LULL_PACE_SCALES - 1].count, 1);
	assert_int_equal(pace.full[LULL_PACE_SCALES - 1].pkts_x256, 256u << 20);
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
