/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "assembler_stand.h"

#define WIDTH 100

static void
stand_whole(struct stand *stand, uint64_t key)
{
	stand_fragment(stand, key, 0, WIDTH, 0);
}

/* To the nanosecond, and complete ones behind it go with it. */
TEST(expire__ends_at_the_deadline)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	config.deadline_ns = 5000;
	stand_init(&stand, &config, 8);
	assert_true(lull_assembler_deadline_ns(stand.assembler) == UINT64_MAX);
	stand_fragment(&stand, 1, 0, 40, 0);
	stand.now_ns += 3000;
	stand_fragment(&stand, 1, 40, 10, 0);
	stand_whole(&stand, 2);
	assert_true(lull_assembler_deadline_ns(stand.assembler) == 6000);
	lull_assembler_expire(stand.assembler, 5999);
	stand.now_ns = 5999;
	assert_false(stand_next(&stand));
	stand.now_ns = 6000;
	lull_assembler_expire(stand.assembler, 6000);
	stand_expect(&stand, 1, LULL_FRAME_DEADLINE);
	assert_int_equal(stand.frame.stamps.first_ns, 1000);
	assert_int_equal(stand.frame.stamps.last_ns, 4000);
	assert_int_equal(stand.frame.stamps.done_ns, 6000);
	assert_int_equal(stand.frame.missing_count, 1);
	assert_int_equal(stand.frame.missing[0].offset, 50);
	assert_int_equal(stand.frame.missing[0].bytes, 50);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	assert_true(lull_assembler_deadline_ns(stand.assembler) == UINT64_MAX);
	stand_end(&stand);
}

/* A fragment at the very time of the end is late, whoever called first. */
TEST(add__expires_first)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	config.deadline_ns = 5000;
	stand_init(&stand, &config, 8);
	stand_fragment(&stand, 1, 0, 40, 0);
	stand.now_ns = 6000;
	stand_fragment(&stand, 1, 40, 60, 0);
	assert_int_equal(stand.counters->late, 1);
	stand_expect(&stand, 1, LULL_FRAME_DEADLINE);
	assert_false(stand_next(&stand));
	stand_end(&stand);
}

/* Only new packets put it off, and one that is complete is not silent. */
TEST(expire__ends_silent_frames)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	config.silence_ns = 100;
	config.deadline_ns = 1000;
	stand_init(&stand, &config, 8);
	stand_fragment(&stand, 1, 0, 10, 0);
	stand.now_ns = 1090;
	stand_fragment(&stand, 1, 10, 10, 0);
	stand.now_ns = 1180;
	stand_fragment(&stand, 1, 10, 10, 0);
	stand_whole(&stand, 2);
	assert_true(lull_assembler_deadline_ns(stand.assembler) == 1190);
	lull_assembler_expire(stand.assembler, 1189);
	stand.now_ns = 1189;
	assert_false(stand_next(&stand));
	stand.now_ns = 1190;
	stand_expect(&stand, 1, LULL_FRAME_DEADLINE);
	assert_int_equal(stand.frame.stamps.done_ns, 1190);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	stand_end(&stand);
}

/* Frame 4 came first and has to go; 3 would be out of order later. */
TEST(expire__takes_older_ones_along)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	for (uint32_t arrival = 0; arrival < 2; arrival++) {
		config.order = arrival ? LULL_FRAME_ORDER_ARRIVAL : LULL_FRAME_ORDER_FRAME;
		config.deadline_ns = 1000;
		stand_init(&stand, &config, 8);
		stand_fragment(&stand, 4, 0, 10, 0);
		stand.now_ns = 1500;
		stand_fragment(&stand, 3, 0, 10, 0);
		stand.now_ns = 2000;
		if (!arrival)
			stand_expect(&stand, 3, LULL_FRAME_SUPERSEDED);
		stand_expect(&stand, 4, LULL_FRAME_DEADLINE);
		stand.now_ns = 2500;
		if (arrival)
			stand_expect(&stand, 3, LULL_FRAME_DEADLINE);
		assert_false(stand_next(&stand));
		stand_end(&stand);
	}
}

TEST(order__frame_or_arrival)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	stand_init(&stand, &config, 8);
	stand_fragment(&stand, 1, 0, 40, 0);
	stand_whole(&stand, 2);
	assert_false(stand_next(&stand));
	stand_fragment(&stand, 1, 40, 60, 0);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	stand_end(&stand);
	config.order = LULL_FRAME_ORDER_ARRIVAL;
	stand_init(&stand, &config, 8);
	stand_fragment(&stand, 1, 0, 40, 0);
	stand_whole(&stand, 2);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	stand_fragment(&stand, 1, 40, 60, 0);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.frame.number, 1);
	stand_end(&stand);
}

/* Without a deadline open_max newer frames end one, in either order. */
TEST(supersede__bounds_the_wait)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	for (uint32_t arrival = 0; arrival < 2; arrival++) {
		config.order = arrival ? LULL_FRAME_ORDER_ARRIVAL : LULL_FRAME_ORDER_FRAME;
		config.open_max = 3;
		stand_init(&stand, &config, 8);
		stand_fragment(&stand, 1, 0, 40, 0);
		for (uint64_t key = 2; key <= 4; key++) {
			stand_whole(&stand, key);
			if (arrival && key == 4)
				stand_expect(&stand, 1, LULL_FRAME_SUPERSEDED);
			if (arrival)
				stand_expect(&stand, key, LULL_FRAME_COMPLETE);
			else if (key < 4)
				assert_false(stand_next(&stand));
		}
		for (uint64_t key = 1; !arrival && key <= 4; key++)
			stand_expect(&stand, key,
				     key == 1 ? LULL_FRAME_SUPERSEDED : LULL_FRAME_COMPLETE);
		assert_false(stand_next(&stand));
		stand_end(&stand);
	}
}

/* Frames that find no buffer count, too: else those that wait would wait for ever. */
TEST(supersede__counts_dropped_frames)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	stand_init(&stand, &config, 2);
	stand_fragment(&stand, 1, 0, 40, 0);
	for (uint64_t key = 2; key <= 5; key++)
		stand_whole(&stand, key);
	stand_expect(&stand, 1, LULL_FRAME_SUPERSEDED);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.counters->frames_dropped, 3);
	stand_end(&stand);
}

TEST(late__opens_nothing)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	config.deadline_ns = 1000;
	stand_init(&stand, &config, 8);
	stand_fragment(&stand, 1, 0, 40, 0);
	stand_whole(&stand, 2);
	stand.now_ns += 1000;
	stand_fragment(&stand, 1, 40, 30, 0);
	stand_fragment(&stand, 1, 70, 30, 0);
	stand_expect(&stand, 1, LULL_FRAME_DEADLINE);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	for (uint32_t i = 0; i < 20; i++)
		stand_whole(&stand, 2); /* a path that doubles */
	assert_int_equal(stand.counters->late, 22);
	assert_int_equal(stand.counters->restarts, 0);
	assert_false(stand_next(&stand));
	stand_end(&stand);
}

TEST(flush__ends_all)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	stand_init(&stand, &config, 8);
	stand_fragment(&stand, 1, 0, 40, 0);
	stand_whole(&stand, 2);
	stand_fragment(&stand, 3, 0, 40, 0);
	lull_assembler_flush(stand.assembler, 1234);
	stand_expect(&stand, 1, LULL_FRAME_FLUSH);
	assert_int_equal(stand.frame.stamps.done_ns, 1234);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	stand_expect(&stand, 3, LULL_FRAME_FLUSH);
	assert_false(stand_next(&stand));
	stand_end(&stand);
}

/* Keys from @p first on after a sender that was at 100: at most two frames are lost. */
static void
check_restart(enum lull_frame_order order, uint64_t first, uint64_t step, uint32_t lost_max)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;
	uint64_t key, lost = 0;

	config.order = order;
	stand_init(&stand, &config, 8);
	for (key = 91; key < 100; key++) {
		for (uint32_t i = 0; i < 10; i++)
			stand_fragment(&stand, key, 10 * i, 10, 0);
		stand_expect(&stand, key, LULL_FRAME_COMPLETE);
	}
	stand_fragment(&stand, 100, 0, 40, 0);
	for (uint64_t frame = 0; frame < 5; frame++) {
		for (uint32_t i = 0; i < 10; i++)
			stand_fragment(&stand, first + frame * step, 10 * i, 10, 0);
		if (stand.counters->restarts == 0)
			lost++;
	}
	assert_int_equal(stand.counters->restarts, 1);
	assert_in_range(lost, 0, lost_max);
	stand_expect(&stand, 100, LULL_FRAME_RESTART);
	for (uint64_t frame = lost; frame < 5; frame++)
		stand_expect(&stand, first + frame * step, LULL_FRAME_COMPLETE);
	assert_false(stand_next(&stand));
	stand_end(&stand);
}

TEST(restart__is_followed)
{
	for (enum lull_frame_order order = 0; order <= LULL_FRAME_ORDER_ARRIVAL; order++) {
		check_restart(order, 1, 1, 1);              /* far below */
		check_restart(order, 91, 1, 1);             /* keys that were given lately */
		check_restart(order, 5000, 1, 0);           /* far above */
		check_restart(order, UINT64_MAX - 7, 1, 0); /* as far as keys go */
		check_restart(order, 2, 3, 1);
	}
}

/* A large frame is followed before it is over. */
TEST(restart__within_the_first_frame)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	stand_init(&stand, &config, 8);
	stand_whole(&stand, 100);
	for (uint32_t i = 0; i < 100; i++)
		stand_fragment(&stand, 5, i, 1, 0);
	stand_expect(&stand, 100, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.counters->late, 15);
	lull_assembler_flush(stand.assembler, stand.now_ns);
	stand_expect(&stand, 5, LULL_FRAME_FLUSH);
	assert_int_equal(stand.frame.bytes_there, 85);
	stand_end(&stand);
}

/* Strays of an old frame between packets of a sender that goes on are no restart. */
TEST(restart__is_not_seen_in_strays)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	stand_init(&stand, &config, 8);
	stand_whole(&stand, 99);
	stand_expect(&stand, 99, LULL_FRAME_COMPLETE);
	for (uint64_t key = 100; key < 180; key++) {
		stand_fragment(&stand, key, 0, 50, 0);
		stand_fragment(&stand, key - 90, 50, 50, 0);
		stand_fragment(&stand, key, 50, 50, 0);
		stand_expect(&stand, key, LULL_FRAME_COMPLETE);
	}
	assert_int_equal(stand.counters->restarts, 0);
	assert_int_equal(stand.counters->late, 80);
	stand_end(&stand);
}

/* What the old sender had on the way opens nothing and starts nothing. */
TEST(restart__leaves_the_former_late)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	stand_init(&stand, &config, 8);
	stand_whole(&stand, 99);
	stand_fragment(&stand, 100, 0, 40, 0);
	stand_fragment(&stand, 1, 0, WIDTH, 0);
	stand_fragment(&stand, 2, 0, 50, 0);
	assert_int_equal(stand.counters->restarts, 1);
	stand_fragment(&stand, 100, 40, 60, 0);
	stand_fragment(&stand, 2, 50, 50, 0);
	stand_expect(&stand, 99, LULL_FRAME_COMPLETE);
	stand_expect(&stand, 100, LULL_FRAME_RESTART);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	for (uint64_t key = 3; key < 110; key++) { /* until its keys come round */
		stand_whole(&stand, key);
		stand_expect(&stand, key, LULL_FRAME_COMPLETE);
	}
	assert_int_equal(stand.counters->restarts, 1);
	stand_end(&stand);
}

static void
check_leader(struct stand *stand, uint64_t key, uint64_t time)
{
	struct lull_frame_fragment leader = { .key = key,
					      .device_time = time,
					      .flags = LULL_FRAME_START | LULL_FRAME_TIMED };

	stand_add(stand, &leader);
}

/* Each acquisition begins with key 1 again: not one picture is lost. */
TEST(restart__single_frames_of_one_key)
{
	for (enum lull_frame_order order = 0; order <= LULL_FRAME_ORDER_ARRIVAL; order++) {
		struct lull_assembler_config config = stand_config(WIDTH, 1);
		struct stand stand;

		config.order = order;
		stand_init(&stand, &config, 8);
		for (uint64_t run = 0; run < 10; run++) {
			check_leader(&stand, 1, 1000 - run);
			check_leader(&stand, 1, 1000 - run); /* sent twice */
			stand_whole(&stand, 1);
			stand_fragment(&stand, 1, 0, 0, LULL_FRAME_END);
			stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
			check_leader(&stand, 1, 1000 - run); /* late, of this run */
			assert_false(stand_next(&stand));
			assert_int_equal(stand.counters->restarts, run);
		}
		stand_end(&stand);
	}
}

/* The clock goes on, keys go back to what nobody remembers: new from the leader on. */
TEST(restart__keys_go_back_while_the_clock_goes_on)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	stand_init(&stand, &config, 8);
	for (uint64_t run = 0; run < 3; run++)
		for (uint64_t key = 1; key <= 100; key++) {
			check_leader(&stand, key, 1000 * run + key);
			if (key > 1) /* the leader of an older one overtaken changes nothing */
				check_leader(&stand, key - 1, 1000 * run + key - 1);
			stand_whole(&stand, key);
			stand_expect(&stand, key, LULL_FRAME_COMPLETE);
			assert_int_equal(stand.counters->restarts, run);
		}
	stand_end(&stand);
}

/* A leader's other time stamp tells another picture: no hole of the old one is filled. */
TEST(restart__does_not_fill_holes)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	stand_init(&stand, &config, 8);
	check_leader(&stand, 1, 500);
	stand_fragment(&stand, 1, 0, 40, 0);
	stand_fragment(&stand, 1, 60, 40, 0);
	check_leader(&stand, 1, 501);
	stand_fragment(&stand, 1, 40, 20, 0);
	stand_fragment(&stand, 1, 0, 40, 0);
	stand_fragment(&stand, 1, 60, 40, 0);
	stand_expect(&stand, 1, LULL_FRAME_RESTART);
	assert_int_equal(stand.frame.bytes_there, 80);
	assert_int_equal(stand.frame.stamps.device_time, 500);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.frame.stamps.device_time, 501);
	stand_end(&stand);
}

/* One that is sent again on request has its old time, and a forged one ends nothing. */
TEST(restart__not_by_what_was_asked_for)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct lull_frame_fragment leader = { .key = 1, .device_time = 9 };
	struct stand stand;

	stand_init(&stand, &config, 8);
	check_leader(&stand, 1, 500);
	stand_fragment(&stand, 1, 0, 40, 0);
	leader.flags = LULL_FRAME_START | LULL_FRAME_TIMED | LULL_FRAME_RESENT;
	stand_add(&stand, &leader);
	leader.flags = LULL_FRAME_START | LULL_FRAME_TIMED | LULL_FRAME_GEOMETRY; /* 0 x 0 */
	stand_add(&stand, &leader);
	assert_int_equal(stand.counters->outside, 1);
	stand_fragment(&stand, 1, 40, 60, 0);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.counters->restarts, 0);
	stand_end(&stand);
}

/* Senders without a clock: silence tells. */
TEST(quiet__keys_begin_again)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	stand_init(&stand, &config, 8);
	for (uint64_t run = 0; run < 6; run++) {
		if (run > 0)
			lull_assembler_quiet(stand.assembler);
		stand_whole(&stand, 1);
		stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
		stand_whole(&stand, 1); /* duplicates */
		assert_false(stand_next(&stand));
	}
	assert_int_equal(stand.counters->restarts, 5);
	/* One that goes on is the same sender. */
	lull_assembler_quiet(stand.assembler);
	stand_whole(&stand, 2);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.counters->restarts, 5);
	stand_end(&stand);
}

/* A pause within a frame is none between two: only a START tells that the old one is over. */
TEST(quiet__within_a_frame)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct stand stand;

	stand_init(&stand, &config, 8);
	stand_fragment(&stand, 1, 0, 40, LULL_FRAME_START);
	lull_assembler_quiet(stand.assembler);
	stand_fragment(&stand, 1, 40, 60, 0);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	stand_fragment(&stand, 2, 0, 40, LULL_FRAME_START);
	lull_assembler_quiet(stand.assembler);
	stand_fragment(&stand, 2, 0, 60, LULL_FRAME_START);
	stand_fragment(&stand, 2, 60, 40, 0);
	stand_expect(&stand, 2, LULL_FRAME_RESTART);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.counters->restarts, 1);
	stand_end(&stand);
}

/* Spans of a frame outlast what is supplied and given after it, until the next is fetched. */
TEST(next__keeps_spans)
{
	struct lull_assembler_config config = stand_config(WIDTH, 1);
	struct lull_frame frame;
	struct stand stand;

	config.buffer_max = 2;
	stand_init(&stand, &config, 2);
	assert_int_equal(lull_assembler_supply(stand.assembler, stand.buffers[2], NULL), -ENOSPC);
	stand_fragment(&stand, 1, 0, 40, 0);
	lull_assembler_flush(stand.assembler, stand.now_ns);
	stand_expect(&stand, 1, LULL_FRAME_FLUSH);
	frame = stand.frame;
	for (uint64_t key = 2; key < 4; key++)
		stand_fragment(&stand, key, 0, 70, 0);
	lull_assembler_flush(stand.assembler, stand.now_ns);
	assert_int_equal(frame.missing[0].offset, 40);
	stand_expect(&stand, 2, LULL_FRAME_FLUSH);
	stand_expect(&stand, 3, LULL_FRAME_FLUSH);
	stand_end(&stand);
}
