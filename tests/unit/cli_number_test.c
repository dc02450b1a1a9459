/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "case.h"
#include "host/error.h"
#include "program/number.h"
#include "program/speed.h"

static int
count(const char *text, uint64_t *value)
{
	return lull_number_parse(text, strlen(text), lull_count_units, 1, value);
}

TEST(number_parse__counts)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{ "0", 0 },
		{ "7", 7 },
		{ "007", 7 },
		{ "300k", 300000 },
		{ "300K", 300000 },
		{ "14.88M", 14880000 },
		{ "1.5 k", 1500 },
		{ "0.001k", 1 },
		{ "1.000000000000000000000000", 1 },
		{ "18446744073709551615", UINT64_MAX },
		{ "18446744073.709551615G", UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		uint64_t value = 99;

		assert_int_equal(count(good[i].text, &value), 0);
		assert_int_equal(value, good[i].value);
	}
}

TEST(number_parse__refuses)
{
	static const struct {
		const char *text;
		int result;
	} bad[] = {
		{ "", -EINVAL },
		{ "-1", -EINVAL },
		{ "+1", -EINVAL },
		{ " 1", -EINVAL },
		{ "1k ", -EINVAL },
		{ ".5", -EINVAL },
		{ "5.", -EINVAL },
		{ "1e3", -EINVAL },
		{ "0x10", -EINVAL },
		{ "1,000", -EINVAL },
		{ "k", -EINVAL },
		{ "1m", -EINVAL },
		{ "1kk", -EINVAL },
		{ "1.5", -EDOM },
		{ "1.2345k", -EDOM },
		{ "18446744073709551616", -ERANGE },
		{ "18446744073.709551616G", -ERANGE },
		{ "99999999999G", -ERANGE },
		{ "99999999999999999999999999", -ERANGE },
	};
	uint64_t value = 42;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(count(bad[i].text, &value), bad[i].result);
		assert_int_equal(value, 42);
	}
}

TEST(number_parse__times)
{
	uint64_t ns = 0;

	assert_int_equal(lull_number_parse("200", 3, lull_time_units, 1000, &ns), 0);
	assert_int_equal(ns, 200000);
	assert_int_equal(lull_number_parse("1.5ms", 5, lull_time_units, 1000, &ns), 0);
	assert_int_equal(ns, 1500000);
	assert_int_equal(lull_number_parse("2min", 4, lull_time_units, 1000, &ns), 0);
	assert_int_equal(ns, 120000000000);
	assert_int_equal(lull_number_parse("0.5h", 4, lull_time_units, 1000, &ns), 0);
	assert_int_equal(ns, 1800000000000);
	assert_int_equal(lull_number_parse("1.5ns", 5, lull_time_units, 1000, &ns), -EDOM);
	assert_int_equal(lull_number_parse("1us", 2, lull_time_units, 1000, &ns), -EINVAL);
	/* No unit to fall back on. */
	assert_int_equal(lull_number_parse("5", 1, lull_time_units, 0, &ns), -EINVAL);
	assert_int_equal(lull_number_parse("0", 1, lull_time_units, 0, &ns), 0);
	assert_int_equal(ns, 0);
}

TEST(number_parse_real__exact)
{
	double value = 0;

	assert_int_equal(lull_number_parse_real("99.9999", 7, &value), 0);
	assert_true(value == 99.9999);
	assert_int_equal(lull_number_parse_real("14.88M", 6, &value), 0);
	assert_true(value == 14.88e6);
	assert_int_equal(lull_number_parse_real("0.1k", 4, &value), 0);
	assert_true(value == 100.0);
	assert_int_equal(lull_number_parse_real("0.123456789012345", 17, &value), 0);
	assert_int_equal(lull_number_parse_real("0.1234567890123456", 18, &value), -EDOM);
	assert_int_equal(lull_number_parse_real("1234567890123456", 16, &value), -EDOM);
	assert_int_equal(lull_number_parse_real("nan", 3, &value), -EINVAL);
	assert_int_equal(lull_number_parse_real("inf", 3, &value), -EINVAL);
	assert_int_equal(lull_number_parse_real("1.5x", 4, &value), -EINVAL);
}

TEST(number_print__shortest)
{
	char text[LULL_NUMBER_TEXT];

	assert_string_equal(lull_time_print(0, text, sizeof(text)), "0");
	assert_string_equal(lull_time_print(1, text, sizeof(text)), "1ns");
	assert_string_equal(lull_time_print(200000, text, sizeof(text)), "200us");
	assert_string_equal(lull_time_print(1500000, text, sizeof(text)), "1500us");
	assert_string_equal(lull_time_print(90000000000, text, sizeof(text)), "90s");
	assert_string_equal(lull_time_print(UINT64_MAX, text, sizeof(text)),
			    "18446744073709551615ns");
	assert_string_equal(lull_real_print(0, text, sizeof(text)), "0");
	assert_string_equal(lull_real_print(0.5, text, sizeof(text)), "0.5");
	assert_string_equal(lull_real_print(99.9999, text, sizeof(text)), "99.9999");
	assert_string_equal(lull_real_print(300e3, text, sizeof(text)), "300k");
	assert_string_equal(lull_real_print(14.88e6, text, sizeof(text)), "14.88M");
}

TEST(error_set__one_clean_line)
{
	struct lull_error error;
	char invalid[] = "a\xff\xc3(\xe2\x82\xac)\xed\xa0\x80\xf0\x9f\x98\x80\xc2\x9b\x7f";

	assert_int_equal(lull_error_set(&error, -EINVAL, "'%s'\n", "x\ty\033[1m"), -EINVAL);
	assert_string_equal(error.text, "'x?y?[1m'?");
	lull_error_prefix(&error, "%s: ", "file");
	assert_string_equal(error.text, "file: 'x?y?[1m'?");
	assert_string_equal(lull_text_clean(invalid), "a?"
						      "?(\xe2\x82\xac)?"
						      "??\xf0\x9f\x98\x80?"
						      "??");
}

TEST(error_set__cuts)
{
	struct lull_error error;
	char longer[2000];

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	lull_error_set(&error, -EINVAL, "%s", longer);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
	lull_error_prefix(&error, "%s", longer);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
	lull_error_suffix(&error, "%s", longer);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
}

TEST(error_suffix__adds_reason)
{
	struct lull_error error;

	lull_error_set(&error, -EIO, "port 0");
	lull_error_suffix(&error, ": %s", "no\tlink");
	assert_string_equal(error.text, "port 0: no?link");
}

TEST(error_set__null_gives_code_alone)
{
	const struct lull_range wrong = { "ring", 0, 1, 2 };

	assert_int_equal(lull_error_set(NULL, -EBUSY, "%s", "busy"), -EBUSY);
	assert_int_equal(lull_error_range(NULL, &wrong), -EINVAL);
	lull_error_prefix(NULL, "x");
	lull_error_suffix(NULL, "x");
}

TEST(speed_parse__original_factor_max)
{
	struct lull_error error;
	double speed = 7;
	char text[32];

	assert_int_equal(lull_speed_parse("original", &speed, &error), 0);
	assert_string_equal(lull_speed_print(&speed, text, sizeof(text)), "original");
	assert_int_equal(lull_speed_parse("2.5", &speed, &error), 0);
	assert_string_equal(lull_speed_print(&speed, text, sizeof(text)), "2.5");
	assert_int_equal(lull_speed_parse("max", &speed, &error), -EINVAL);
	assert_string_equal(error.text, "'max' is neither original nor a factor in 0.001..1000000");
	assert_int_equal(lull_speed_max_parse("0.0009", &speed, &error), -EINVAL);
	assert_string_equal(error.text,
			    "'0.0009' is neither original nor a factor in 0.001..1000000, nor max");
	assert_int_equal(lull_speed_max_parse("1000001", &speed, &error), -EINVAL);
	assert_string_equal(lull_speed_print(&speed, text, sizeof(text)), "2.5");
	assert_int_equal(lull_speed_max_parse("max", &speed, &error), 0);
	assert_string_equal(lull_speed_print(&speed, text, sizeof(text)), "max");
}
