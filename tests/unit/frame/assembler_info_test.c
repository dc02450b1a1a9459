/* SPDX-License-Identifier: BSD-3-Clause */
#include "assembler_stand.h"

/* Below the highest byte; everything once the end came; no more than asked for. */
TEST(holes__of_an_open_frame)
{
	struct lull_assembler_config config = stand_config(100, 1);
	struct lull_frame_span spans[4];
	struct stand stand;

	stand_init(&stand, &config, 2);
	assert_int_equal(lull_assembler_holes(stand.assembler, 1, spans, 4), 0);
	stand_fragment(&stand, 1, 0, 10, 0);
	assert_int_equal(lull_assembler_holes(stand.assembler, 1, spans, 4), 0);
	stand_fragment(&stand, 1, 20, 10, 0);
	stand_fragment(&stand, 1, 40, 10, 0);
	assert_int_equal(lull_assembler_holes(stand.assembler, 1, spans, 4), 2);
	assert_int_equal(spans[0].offset, 10);
	assert_int_equal(spans[1].offset, 30);
	assert_int_equal(spans[1].bytes, 10);
	assert_int_equal(lull_assembler_holes(stand.assembler, 1, spans, 1), 1);
	stand_fragment(&stand, 1, 0, 0, LULL_FRAME_END);
	assert_int_equal(lull_assembler_holes(stand.assembler, 1, spans, 4), 3);
	assert_int_equal(spans[2].offset, 50);
	assert_int_equal(spans[2].bytes, 50);
	assert_int_equal(lull_assembler_holes(stand.assembler, 2, spans, 4), 0);
	stand_end(&stand);
}

TEST(rows__from_the_top_of_the_newest)
{
	struct lull_assembler_config config = stand_config(10, 6);
	uint64_t key = 99;
	struct stand stand;

	config.geometry.row_bytes = 12;
	stand_init(&stand, &config, 4);
	assert_int_equal(lull_assembler_rows(stand.assembler, &key), 0);
	stand_fragment(&stand, 1, 24, 10, 0);
	assert_int_equal(lull_assembler_rows(stand.assembler, &key), 0);
	stand_fragment(&stand, 1, 0, 10, 0);
	assert_int_equal(lull_assembler_rows(stand.assembler, &key), 1);
	stand_fragment(&stand, 1, 12, 9, 0);
	assert_int_equal(lull_assembler_rows(stand.assembler, &key), 1);
	stand_fragment(&stand, 1, 21, 1, 0);
	assert_int_equal(lull_assembler_rows(stand.assembler, &key), 3);
	assert_int_equal(key, 1);
	stand_fragment(&stand, 2, 0, 70, 0);
	assert_int_equal(lull_assembler_rows(stand.assembler, &key), 6); /* waits for 1 */
	assert_int_equal(key, 2);
	stand_end(&stand);
}

/* Rows of groups of two: the last one of an odd picture is half one. */
TEST(rows__count_those_of_groups)
{
	struct lull_assembler_config config = stand_config(4, 5);
	struct stand stand;
	uint64_t key;

	config.geometry.pixel = LULL_PIXEL_YUV420_4175;
	stand_init(&stand, &config, 4);
	stand_fragment(&stand, 1, 30, 1, 0);
	stand_fragment(&stand, 1, 0, 24, 0);
	assert_int_equal(lull_assembler_rows(stand.assembler, &key), 4);
	stand_fragment(&stand, 2, 0, 36, 0);
	assert_int_equal(lull_assembler_rows(stand.assembler, &key), 5);
	stand_end(&stand);
}

TEST(reason_name__has_all)
{
	assert_string_equal(lull_frame_reason_name(LULL_FRAME_COMPLETE), "complete");
	assert_string_equal(lull_frame_reason_name(LULL_FRAME_FLUSH), "flush");
	assert_string_equal(lull_frame_reason_name(LULL_FRAME_REASON_COUNT), "unknown");
}

TEST(frames__of_all_reasons)
{
	struct lull_assembler_counters counters = { .frames_dropped = 1000 };
	uint64_t partial;

	for (uint32_t i = 0; i < LULL_FRAME_REASON_COUNT; i++)
		counters.frames[i] = 1ULL << i;
	assert_int_equal(lull_assembler_frames(&counters, &partial),
			 (1ULL << LULL_FRAME_REASON_COUNT) - 1);
	assert_int_equal(partial,
			 (1ULL << LULL_FRAME_REASON_COUNT) - 1 - (1ULL << LULL_FRAME_COMPLETE));
}

/* Each number of the struct has its row. */
TEST(counter_table__is_whole)
{
	bool seen[sizeof(struct lull_assembler_counters) / sizeof(uint64_t)] = { false };

	for (const struct lull_counter_info *row = lull_assembler_counter_table; row->name != NULL;
	     row++) {
		assert_int_equal(row->offset % sizeof(uint64_t), 0);
		assert_in_range(row->offset / sizeof(uint64_t), 0, COUNT(seen) - 1);
		assert_false(seen[row->offset / sizeof(uint64_t)]);
		seen[row->offset / sizeof(uint64_t)] = true;
	}
	for (uint32_t i = 0; i < COUNT(seen); i++)
		assert_true(seen[i]);
}
