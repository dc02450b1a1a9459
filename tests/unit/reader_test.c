/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "base/reader.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

TEST(big__most_significant_first)
{
	struct lull_reader reader = lull_reader_over(bytes, sizeof(bytes));

	assert_int_equal(lull_reader_u64be(&reader), 0x0102030405060708);
	assert_int_equal(lull_reader_u8(&reader), 9);
	assert_int_equal(lull_reader_left(&reader), 0);
	assert_false(reader.failed);
	reader = lull_reader_over(bytes, sizeof(bytes));
	assert_int_equal(lull_reader_u16be(&reader), 0x0102);
	assert_int_equal(lull_reader_u32be(&reader), 0x03040506);
}

TEST(little__least_significant_first)
{
	struct lull_reader reader = lull_reader_over(bytes, sizeof(bytes));

	assert_int_equal(lull_reader_u64le(&reader), 0x0807060504030201);
	reader = lull_reader_over(bytes, sizeof(bytes));
	assert_int_equal(lull_reader_u16le(&reader), 0x0201);
	assert_int_equal(lull_reader_u32le(&reader), 0x06050403);
}

TEST(bytes__past_the_end_moves_nothing_and_fails_for_good)
{
	struct lull_reader reader = lull_reader_over(bytes, 3);

	assert_int_equal(lull_reader_u16be(&reader), 0x0102);
	assert_int_equal(lull_reader_u16be(&reader), 0);
	assert_true(reader.failed);
	assert_int_equal(lull_reader_left(&reader), 1);
	assert_null(lull_reader_bytes(&reader, SIZE_MAX));
	assert_int_equal(lull_reader_u8(&reader), 3);
	assert_true(reader.failed);
}

TEST(bytes__nothing_at_all)
{
	struct lull_reader reader = lull_reader_over(NULL, 0);

	assert_int_equal(lull_reader_u64le(&reader), 0);
	assert_true(reader.failed);
}
