/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges: which number is wrong, and the one sentence about it. */
#include <errno.h>
#include <string.h>

#include "case.h"
#include "base/range.h"

TEST(check__finds_the_first_that_is_wrong)
{
	const struct lull_range fine[] = {
		{ "least", 1, 1, 9 },
		{ "most", 9, 1, 9 },
		{ "huge", UINT64_MAX, 0, UINT64_MAX },
	};
	const struct lull_range bad[] = {
		{ "fine", 5, 1, 9 },
		{ "low", 0, 1, 9 },
		{ "high", 10, 1, 9 },
	};
	struct lull_range wrong = { "untouched", 0, 0, 0 };

	assert_int_equal(LULL_RANGES_CHECK(fine, &wrong), 0);
	assert_string_equal(wrong.field, "untouched");
	assert_int_equal(LULL_RANGES_CHECK(bad, NULL), -EINVAL);
	assert_int_equal(LULL_RANGES_CHECK(bad, &wrong), -EINVAL);
	assert_string_equal(wrong.field, "low");
	assert_int_equal(wrong.value, 0);
	assert_int_equal(wrong.low, 1);
	assert_int_equal(wrong.high, 9);
	assert_int_equal(lull_range_check("high", 10, 1, 9, &wrong), -EINVAL);
	assert_string_equal(wrong.field, "high");
	assert_int_equal(lull_range_check("fine", 9, 1, 9, &wrong), 0);
}

TEST(print__is_one_sentence)
{
	const struct lull_range range = { "burst_pkts", 0, 1, UINT64_MAX };
	char text[LULL_RANGE_TEXT], small[12];

	assert_string_equal(lull_range_print(&range, text, sizeof(text)),
			    "burst_pkts: 0 is not in 1..18446744073709551615");
	assert_string_equal(lull_range_print(&range, small, sizeof(small)), "burst_pkts:");
	assert_string_equal(lull_range_print(&range, small, 1), "");
}
