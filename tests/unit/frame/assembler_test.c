/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "assembler_stand.h"

TEST(add__completes_by_bytes)
{
	struct lull_assembler_config config = stand_config(100, 10);
	struct stand stand;

	stand_init(&stand, &config, 4);
	stand_fragment(&stand, 7, 600, 400, LULL_FRAME_END);
	assert_false(stand_next(&stand));
	stand_fragment(&stand, 7, 0, 300, 0);
	stand_fragment(&stand, 7, 300, 300, 0);
	stand_expect(&stand, 7, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.frame.bytes_there, 1000);
	assert_int_equal(stand.frame.counts.pkts, 3);
	assert_int_equal(stand.counters->bytes, 1000);
	stand_end(&stand);
}

TEST(add__counts_overlap_once)
{
	struct lull_assembler_config config = stand_config(100, 1);
	struct stand stand;

	stand_init(&stand, &config, 4);
	stand_fragment(&stand, 1, 20, 20, 0);
	stand_fragment(&stand, 1, 60, 20, 0);
	stand_fragment(&stand, 1, 20, 20, 0);
	assert_int_equal(stand.counters->duplicates, 1);
	stand_fragment(&stand, 1, 10, 80, 0);
	assert_int_equal(stand.counters->bytes, 80);
	stand_fragment(&stand, 1, 0, 10, 0);
	assert_false(stand_next(&stand));
	stand_fragment(&stand, 1, 85, 15, 0);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.counters->bytes, 100);
	assert_int_equal(stand.frame.counts.duplicates, 1);
	stand_end(&stand);
}

/* What is there is not written again, whatever a later packet says. */
TEST(add__keeps_first_content)
{
	struct lull_assembler_config config = stand_config(10, 1);
	struct lull_frame_fragment fragment = {
		.key = 1, .range_count = 1, .ranges[0] = { 0, (const uint8_t *)"##########", 8 }
	};
	struct stand stand;

	stand_init(&stand, &config, 2);
	stand_fragment(&stand, 1, 0, 5, 0);
	stand_add(&stand, &fragment);
	stand_fragment(&stand, 1, 8, 2, 0);
	assert_true(stand_next(&stand));
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(stand.frame.data[i],
				 i < 5 || i >= 8 ? stand_byte(1, i) : (uint8_t)'#');
	stand_end(&stand);
}

TEST(add__refuses_what_lies_outside)
{
	const struct lull_frame_range ranges[] = { { 100, (const uint8_t *)"x", 1 },
						   { 99, (const uint8_t *)"xy", 2 },
						   { UINT64_MAX, (const uint8_t *)"xy", 2 },
						   { UINT64_MAX - 1, (const uint8_t *)"xy", 2 } };
	struct lull_assembler_config config = stand_config(100, 1);
	struct stand stand;

	stand_init(&stand, &config, 2);
	for (uint32_t i = 0; i < 2 * COUNT(ranges); i++) {
		struct lull_frame_fragment fragment = { .key = 1, .range_count = 2 };

		if (i == COUNT(ranges))
			stand_fragment(&stand, 1, 50, 10, 0);
		fragment.ranges[0] = (struct lull_frame_range){ 0, (const uint8_t *)"x", 1 };
		fragment.ranges[1] = ranges[i % COUNT(ranges)];
		stand_add(&stand, &fragment);
		assert_int_equal(stand.counters->outside, i + 1);
	}
	assert_int_equal(stand.counters->bytes, 10);
	stand_end(&stand);
}

TEST(add__learns_geometry)
{
	struct lull_assembler_config config = { .buffer_bytes = STAND_BYTES };
	struct lull_frame_fragment leader = { .key = 2,
					      .flags = LULL_FRAME_START | LULL_FRAME_GEOMETRY |
						       LULL_FRAME_TIMED,
					      .device_time = 77,
					      .geometry = stand_picture(50, 2) };
	struct stand stand;

	stand_init(&stand, &config, 4);
	stand_fragment(&stand, 1, 0, 10, 0);
	assert_int_equal(stand.counters->unsized, 1);
	stand_add(&stand, &leader);
	stand_add(&stand, &leader);
	assert_int_equal(stand.counters->duplicates, 1);
	stand_fragment(&stand, 2, 0, 100, 0);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.frame.stamps.device_time, 77);
	/* a trailer that comes behind the last byte is no late packet */
	stand_fragment(&stand, 2, 0, 0, LULL_FRAME_END);
	assert_int_equal(stand.counters->used, 3);
	stand_fragment(&stand, 2, 0, 0, LULL_FRAME_END);
	assert_int_equal(stand.counters->late, 1);
	/* leader lost: what was known last */
	stand_fragment(&stand, 3, 0, 100, 0);
	stand_expect(&stand, 3, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.frame.geometry.width, 50);
	stand_end(&stand);
}

/* A leader that comes behind some payload and brings another geometry: all is missing again. */
TEST(add__starts_over_with_another_geometry)
{
	struct lull_assembler_config config = stand_config(100, 1);
	struct lull_frame_fragment leader = { .key = 1,
					      .flags = LULL_FRAME_START | LULL_FRAME_GEOMETRY,
					      .geometry = stand_picture(200, 1) };
	struct stand stand;

	config.silence_ns = 500;
	stand_init(&stand, &config, 4);
	stand_fragment(&stand, 1, 0, 60, 0);
	stand_add(&stand, &leader);
	stand_fragment(&stand, 1, 60, 140, 0);
	assert_false(stand_next(&stand));
	stand_fragment(&stand, 1, 0, 60, 0);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.frame.bytes, 200);
	leader.key = 2;
	leader.geometry = stand_picture(STAND_BYTES + 1, 1);
	stand_fragment(&stand, 2, 0, 60, 0);
	stand_add(&stand, &leader);
	stand_fragment(&stand, 2, 60, 60, 0);
	assert_int_equal(stand.counters->oversize, 2);
	leader.key = 3;
	stand_add(&stand, &leader);
	stand_fragment(&stand, 3, 0, 10, 0);
	assert_int_equal(stand.counters->oversize, 4);
	leader.key = 4;
	leader.geometry = stand_picture(0, 1);
	stand_add(&stand, &leader);
	assert_int_equal(stand.counters->outside, 1);
	assert_false(stand_next(&stand));
	stand_end(&stand);
}

/* Rows of 10 bytes in 16: padding is neither waited for nor named. */
TEST(add__waits_for_no_padding)
{
	struct lull_assembler_config config = stand_config(10, 4);
	struct stand stand;

	config.geometry.row_bytes = 16;
	stand_init(&stand, &config, 4);
	for (uint32_t row = 0; row < 4; row++)
		stand_fragment(&stand, 1, 16 * row, 10, 0);
	assert_true(stand_next(&stand));
	assert_int_equal(stand.frame.reason, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.frame.bytes_there, 64);
	assert_int_equal(stand.counters->bytes, 40);
	stand_fragment(&stand, 2, 0, 5, 0);
	stand_fragment(&stand, 2, 40, 9, 0); /* the end of row 2, its padding, the first of row 3 */
	stand_fragment(&stand, 2, 10, 6, 0);
	assert_int_equal(stand.counters->duplicates, 1);
	lull_assembler_flush(stand.assembler, stand.now_ns);
	assert_true(stand_next(&stand));
	assert_int_equal(stand.frame.missing_count, 4);
	assert_int_equal(stand.frame.missing[0].offset, 5);
	assert_int_equal(stand.frame.missing[0].bytes, 5);
	assert_int_equal(stand.frame.missing[1].offset, 16);
	assert_int_equal(stand.frame.missing[1].bytes, 10);
	assert_int_equal(stand.frame.missing[2].offset, 32);
	assert_int_equal(stand.frame.missing[2].bytes, 8);
	assert_int_equal(stand.frame.missing[3].offset, 49);
	assert_int_equal(stand.frame.missing[3].bytes, 9);
	assert_int_equal(stand.frame.bytes_there, 64 - 5 - 10 - 8 - 9);
	stand_end(&stand);
}

/* Holes that do not fit: the map names more than is missing, never less. */
TEST(add__never_forgets_holes)
{
	struct lull_assembler_config config = stand_config(200, 1);
	struct stand stand;
	uint64_t named = 0;

	config.spans_max = 16;
	stand_init(&stand, &config, 4);
	for (uint32_t i = 0; i < 40; i++)
		stand_fragment(&stand, 1, 4 * i + 1, 2, 0);
	lull_assembler_flush(stand.assembler, stand.now_ns);
	assert_true(stand_next(&stand));
	assert_true(stand.frame.missing_more);
	assert_int_equal(stand.frame.missing_count, 16);
	assert_int_equal(stand.counters->spans_full, 1);
	assert_int_equal(stand.counters->bytes, 30);
	for (uint32_t i = 0; i < 16; i++)
		named += stand.frame.missing[i].bytes;
	assert_int_equal(named, 170);
	assert_int_equal(stand.frame.bytes_there, 30);
	assert_int_equal(stand.frame.data[158], stand_byte(1, 158));
	stand_end(&stand);
}

TEST(add__counts_reordered_and_resent)
{
	struct lull_assembler_config config = stand_config(100, 1);
	struct lull_frame_fragment fragment = { .key = 1, .range_count = 1 };
	struct stand stand;

	stand_init(&stand, &config, 2);
	for (uint64_t i = 0; i < 4; i++) {
		static const uint64_t packets[] = { 5, 9, 7, 2 };
		static const uint8_t data[25];

		fragment.packet = packets[i];
		fragment.flags = i == 3 ? LULL_FRAME_RESENT : 0;
		fragment.ranges[0] = (struct lull_frame_range){ 25 * i, data, 25 };
		stand_add(&stand, &fragment);
	}
	fragment.flags = LULL_FRAME_RESENT;
	stand_add(&stand, &fragment);
	assert_true(stand_next(&stand));
	assert_int_equal(stand.frame.counts.reordered, 1);
	assert_int_equal(stand.frame.counts.resent, 1);
	assert_int_equal(stand.counters->late, 1);
	fragment.key = 9;
	stand_add(&stand, &fragment); /* an answer opens nothing */
	fragment.flags = LULL_FRAME_GONE;
	fragment.range_count = 0;
	stand_add(&stand, &fragment);
	assert_int_equal(stand.counters->late, 3);
	assert_int_equal(stand.counters->gone, 1);
	stand_end(&stand);
}

TEST(add__marks_damaged)
{
	struct lull_assembler_config config = stand_config(100, 1);
	struct stand stand;

	stand_init(&stand, &config, 2);
	stand_fragment(&stand, 1, 0, 50, LULL_FRAME_DAMAGED);
	stand_fragment(&stand, 1, 0, 0, LULL_FRAME_GONE);
	stand_fragment(&stand, 1, 50, 50, 0);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	assert_true(stand.frame.damaged);
	assert_int_equal(stand.frame.counts.pkts, 2);
	stand_end(&stand);
}

TEST(drop_newest__counts_frames_and_fragments)
{
	struct lull_assembler_config config = stand_config(100, 1);
	struct stand stand;

	stand_init(&stand, &config, 2);
	stand_fragment(&stand, 1, 0, 100, 0);
	stand_fragment(&stand, 2, 0, 100, 0);
	stand_fragment(&stand, 3, 0, 50, 0);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	stand_fragment(&stand, 3, 50, 50, 0); /* begun without a buffer: stays without */
	assert_int_equal(stand.counters->no_buffer, 2);
	assert_int_equal(stand.counters->frames_dropped, 1);
	stand_fragment(&stand, 4, 0, 100, 0);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	stand_expect(&stand, 4, LULL_FRAME_COMPLETE);
	assert_false(stand_next(&stand));
	stand_end(&stand);
}

TEST(newest_wins__takes_back_the_oldest)
{
	struct lull_assembler_config config = stand_config(100, 1);
	struct stand stand;

	config.policy = LULL_FRAME_NEWEST_WINS;
	stand_init(&stand, &config, 2);
	for (uint64_t key = 1; key <= 5; key++)
		stand_fragment(&stand, key, 0, 100, 0);
	assert_int_equal(stand.counters->frames_replaced, 3);
	stand_expect(&stand, 4, LULL_FRAME_COMPLETE);
	assert_int_equal(stand.frame.number, 3);
	stand_expect(&stand, 5, LULL_FRAME_COMPLETE);
	assert_false(stand_next(&stand));
	stand_end(&stand);
}

/* Buffers that come back do not end it: only who says so knows that frames are lost. */
TEST(fail_stop__ends_when_told)
{
	struct lull_assembler_config config = stand_config(100, 1);
	struct stand stand;

	config.policy = LULL_FRAME_FAIL_STOP;
	stand_init(&stand, &config, 2);
	stand_fragment(&stand, 1, 0, 100, 0);
	stand_fragment(&stand, 2, 0, 40, 0);
	assert_false(lull_assembler_stopped(stand.assembler));
	stand_fragment(&stand, 3, 0, 40, 0);
	assert_true(lull_assembler_stopped(stand.assembler));
	stand_fragment(&stand, 2, 40, 60, 0);
	assert_int_equal(stand.counters->stopped, 2);
	assert_int_equal(stand.counters->frames_dropped, 1);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	stand_expect(&stand, 2, LULL_FRAME_SUPERSEDED);
	assert_true(lull_assembler_stopped(stand.assembler));
	stand_fragment(&stand, 4, 0, 100, 0);
	assert_int_equal(stand.counters->stopped, 3);
	lull_assembler_resume(stand.assembler);
	assert_false(lull_assembler_stopped(stand.assembler));
	stand_fragment(&stand, 4, 0, 100, 0);
	stand_expect(&stand, 4, LULL_FRAME_COMPLETE);
	stand_end(&stand);
}

/* Tell frame @p key its geometry, and fill it. */
static void
leader(struct stand *stand, uint64_t key, uint32_t width)
{
	struct lull_frame_fragment fragment = {
		.key = key,
		.packet = stand->counters->fragments,
		.flags = LULL_FRAME_GEOMETRY | LULL_FRAME_START,
		.geometry = stand_picture(width, 1),
	};

	stand_add(stand, &fragment);
}

/* Open frames stay, free buffers come back to be replaced, and so do those of the application. */
TEST(resize__replaces_small_buffers)
{
	struct lull_assembler_config config = stand_config(100, 1);
	struct stand stand;
	uint8_t *data;
	void *user;

	config.buffer_bytes = 100;
	config.open_max = 8;
	stand_init(&stand, &config, 3);
	stand_fragment(&stand, 1, 0, 100, 0);
	stand_fragment(&stand, 2, 0, 40, 0);
	leader(&stand, 3, 200);
	assert_int_equal(stand.counters->frames_oversize, 1);
	assert_int_equal(lull_assembler_resize(stand.assembler, 0), -EINVAL);
	assert_int_equal(lull_assembler_resize(stand.assembler, 200), 0);
	assert_true(lull_assembler_reclaim(stand.assembler, &data, &user));
	assert_ptr_equal(user, data);
	assert_false(lull_assembler_reclaim(stand.assembler, &data, &user));
	leader(&stand, 4, 200);
	assert_int_equal(stand.counters->frames_dropped, 1); /* the only free one is too small */
	assert_int_equal(lull_assembler_supply(stand.assembler, data, user), 0);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	leader(&stand, 5, 200);
	stand_fragment(&stand, 5, 0, 200, 0);
	leader(&stand, 6, 100);
	stand_fragment(&stand, 6, 0, 60, 0);
	leader(&stand, 6, 150); /* another picture after all, and it fits */
	stand_fragment(&stand, 6, 0, 150, 0);
	stand_fragment(&stand, 2, 40, 60, 0);
	stand_expect(&stand, 2, LULL_FRAME_COMPLETE);
	stand_expect(&stand, 5, LULL_FRAME_COMPLETE);
	stand_expect(&stand, 6, LULL_FRAME_COMPLETE);
	stand_end(&stand);
}

/* The geometry comes behind the first bytes: the frame moves to a buffer that is large enough. */
TEST(resize__moves_an_open_frame)
{
	struct lull_assembler_config config = stand_config(100, 1);
	struct stand stand;
	uint8_t *data;
	void *user;

	config.buffer_bytes = 100;
	stand_init(&stand, &config, 1);
	stand_fragment(&stand, 1, 50, 50, 0);
	lull_assembler_resize(stand.assembler, 200);
	stand_supply(&stand, 1);
	leader(&stand, 1, 200);
	assert_true(lull_assembler_reclaim(stand.assembler, &data, &user));
	assert_ptr_equal(data, stand.buffers[0]);
	stand_fragment(&stand, 1, 0, 200, 0);
	stand_expect(&stand, 1, LULL_FRAME_COMPLETE);
	assert_ptr_equal(stand.frame.data, stand.buffers[1]);
	stand_end(&stand);
}
