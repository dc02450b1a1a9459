/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "frame/past.h"

TEST(find__remembers_the_last)
{
	struct lull_past past = { .count = 0 };

	assert_true(lull_past_floor(&past) == UINT64_MAX);
	for (uint64_t key = 0; key < 3 * LULL_PAST_FRAMES; key++) {
		lull_past_add(&past, key, &(struct lull_past_frame){ .left = key + 1 });
		assert_int_equal(lull_past_find(&past, key)->left, key + 1);
		assert_null(lull_past_find(&past, key + 1));
		if (key < LULL_PAST_FRAMES)
			continue;
		assert_null(lull_past_find(&past, key - LULL_PAST_FRAMES));
		assert_non_null(lull_past_find(&past, key - LULL_PAST_FRAMES + 1));
		assert_true(lull_past_floor(&past) == key - LULL_PAST_FRAMES + 1);
	}
}

TEST(open__forgets_a_former_sender)
{
	struct lull_past past = { .count = 0 };

	lull_past_add(&past, 7, &(struct lull_past_frame){ .former = true });
	lull_past_open(&past);
	lull_past_add(&past, 8, &(struct lull_past_frame){ .left = 5 });
	assert_true(lull_past_floor(&past) == 8);
	lull_past_open(&past);
	assert_non_null(lull_past_find(&past, 7));
	lull_past_open(&past);
	assert_null(lull_past_find(&past, 7));
	assert_int_equal(lull_past_find(&past, 8)->left, 5);
	lull_past_add(&past, 9, &(struct lull_past_frame){ .left = 6 });
	assert_int_equal(lull_past_find(&past, 8)->left, 5);
	assert_int_equal(lull_past_find(&past, 9)->left, 6);
}

TEST(doubt__strange_pieces)
{
	struct lull_past past = { .count = 0 };

	for (uint32_t i = 1; i < LULL_PAST_STRANGE_FRAGMENTS; i++)
		assert_false(lull_past_doubt(&past, 5, 1, 1000, true));
	assert_false(lull_past_doubt(&past, 4, 1, 1000, true)); /* a lower key: from the start */
	assert_true(lull_past_doubt(&past, 5, 1, 1000, true));  /* a second, higher */
	past.doubt.on = false;
	for (uint32_t i = 1; i < LULL_PAST_STRANGE_FRAGMENTS; i++)
		assert_false(lull_past_doubt(&past, 5, 1, 1000, true));
	assert_true(lull_past_doubt(&past, 5, 1, 1000, true));
}

TEST(doubt__repeats)
{
	struct lull_past past = { .count = 0 };

	for (uint32_t i = 0; i < 100; i++) /* one frame once more, however often */
		assert_false(lull_past_doubt(&past, 5, 100, 1000, false));
	assert_true(lull_past_doubt(&past, 6, 100, 1000, false));
	past.doubt.on = false;
	for (uint32_t i = 0; i < 4; i++) /* too little of it */
		assert_false(lull_past_doubt(&past, 5, 100, 1000, false));
	assert_false(lull_past_doubt(&past, 6, 100, 1000, false));
	assert_true(lull_past_doubt(&past, 7, 100, 1000, false));
	past.doubt.on = false;
	assert_false(lull_past_doubt(&past, 5, 1000, 1000, false)); /* frames of one packet */
	assert_false(lull_past_doubt(&past, 6, 1000, 1000, false));
	assert_true(lull_past_doubt(&past, 7, 1000, 1000, false));
}
