/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/reader.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

static void
big__most_significant_first(void **state)
{
	struct lull_reader reader = lull_reader_over(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(lull_reader_u64be(&reader), 0x0102030405060708);
	assert_int_equal(lull_reader_u8(&reader), 9);
	assert_int_equal(lull_reader_left(&reader), 0);
	assert_false(reader.failed);
	reader = lull_reader_over(bytes, sizeof(bytes));
	assert_int_equal(lull_reader_u16be(&reader), 0x0102);
	assert_int_equal(lull_reader_u32be(&reader), 0x03040506);
}

static void
little__least_significant_first(void **state)
{
	struct lull_reader reader = lull_reader_over(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(lull_reader_u64le(&reader), 0x0807060504030201);
	reader = lull_reader_over(bytes, sizeof(bytes));
	assert_int_equal(lull_reader_u16le(&reader), 0x0201);
	assert_int_equal(lull_reader_u32le(&reader), 0x06050403);
}

static void
bytes__past_the_end_moves_nothing_and_fails_for_good(void **state)
{
	struct lull_reader reader = lull_reader_over(bytes, 3);

	(void)state;
	assert_int_equal(lull_reader_u16be(&reader), 0x0102);
	assert_int_equal(lull_reader_u16be(&reader), 0);
	assert_true(reader.failed);
	assert_int_equal(lull_reader_left(&reader), 1);
	assert_null(lull_reader_bytes(&reader, SIZE_MAX));
	assert_int_equal(lull_reader_u8(&reader), 3);
	assert_true(reader.failed);
}

static void
bytes__nothing_at_all(void **state)
{
	struct lull_reader reader = lull_reader_over(NULL, 0);

	(void)state;
	assert_int_equal(lull_reader_u64le(&reader), 0);
	assert_true(reader.failed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(big__most_significant_first),
		cmocka_unit_test(little__least_significant_first),
		cmocka_unit_test(bytes__past_the_end_moves_nothing_and_fails_for_good),
		cmocka_unit_test(bytes__nothing_at_all),
	};

	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
