/* SPDX-License-Identifier: BSD-3-Clause */
#include "number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Doubles hold any integer of 15 digits and any power of ten up to 10^22 exactly. */
#define REAL_DIGITS 15

const struct lull_unit lull_count_units[] = {
	{ "k", 1000 }, { "K", 1000 }, { "M", 1000000 }, { "G", 1000000000 }, { NULL, 0 },
};

const struct lull_unit lull_time_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "min", 60000000000 },
	{ "m", 60000000000 },
	{ "h", 3600000000000 },
	{ NULL, 0 },
};

/* "14.880 M" taken apart; views into the text. */
struct decimal {
	const char *whole;
	size_t whole_length;
	const char *fraction; /* without trailing zeros */
	size_t fraction_length;
	const char *unit;
	size_t unit_length;
};

static size_t
count_digits(const char *text, size_t length)
{
	size_t count = 0;

	while (count < length && text[count] >= '0' && text[count] <= '9')
		count++;
	return count;
}

static int
decimal_split(const char *text, size_t length, struct decimal *decimal)
{
	const char *end = text + length;

	decimal->whole = text;
	decimal->whole_length = count_digits(text, length);
	decimal->fraction = text;
	decimal->fraction_length = 0;
	text += decimal->whole_length;
	if (decimal->whole_length == 0)
		return -EINVAL;
	if (text < end && *text == '.') {
		decimal->fraction = ++text;
		decimal->fraction_length = count_digits(text, (size_t)(end - text));
		text += decimal->fraction_length;
		if (decimal->fraction_length == 0)
			return -EINVAL;
		while (decimal->fraction_length > 0 &&
		       decimal->fraction[decimal->fraction_length - 1] == '0')
			decimal->fraction_length--;
	}
	while (text < end && *text == ' ')
		text++;
	decimal->unit = text;
	decimal->unit_length = (size_t)(end - text);
	return 0;
}

uint64_t
lull_unit_factor(const struct lull_unit *units, const char *name, size_t length)
{
	for (; units->name != NULL; units++) {
		if (strlen(units->name) == length && memcmp(units->name, name, length) == 0)
			return units->factor;
	}
	return 0;
}

/* digits * factor, beginning with the digit worth @p factor / 10 when fraction is set. */
static int
add_digits(const char *digits, size_t count, bool fraction, uint64_t factor, uint64_t *sum)
{
	uint64_t part = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t digit = (uint64_t)(digits[i] - '0');

		if (fraction) {
			factor = factor % 10 == 0 ? factor / 10 : 0;
			if (factor == 0 && digit != 0)
				return -EDOM;
			digit *= factor; /* below 10 * 3.6e12 */
		} else if (__builtin_mul_overflow(part, 10, &part)) {
			return -ERANGE;
		}
		if (__builtin_add_overflow(part, digit, &part))
			return -ERANGE;
	}
	if (!fraction && __builtin_mul_overflow(part, factor, &part))
		return -ERANGE;
	return __builtin_add_overflow(*sum, part, sum) ? -ERANGE : 0;
}

int
lull_number_parse(const char *text, size_t length, const struct lull_unit *units, uint64_t bare,
		  uint64_t *value)
{
	struct decimal decimal;
	uint64_t factor = bare, sum = 0;
	int error = decimal_split(text, length, &decimal);

	if (error != 0)
		return error;
	if (decimal.unit_length > 0)
		factor = lull_unit_factor(units, decimal.unit, decimal.unit_length);
	else if (bare == 0 && length == 1 && text[0] == '0')
		factor = 1;
	if (factor == 0)
		return -EINVAL;
	error = add_digits(decimal.whole, decimal.whole_length, false, factor, &sum);
	if (error == 0)
		error = add_digits(decimal.fraction, decimal.fraction_length, true, factor, &sum);
	if (error == 0)
		*value = sum;
	return error;
}

int
lull_number_parse_real(const char *text, size_t length, double *value)
{
	struct decimal decimal;
	uint64_t mantissa = 0, factor = 1, divisor = 1;
	int error = decimal_split(text, length, &decimal);

	if (error != 0)
		return error;
	if (decimal.unit_length > 0)
		factor = lull_unit_factor(lull_count_units, decimal.unit, decimal.unit_length);
	if (factor == 0)
		return -EINVAL;
	if (decimal.fraction_length > REAL_DIGITS)
		return -EDOM;
	for (size_t i = 0; i < decimal.whole_length + decimal.fraction_length; i++) {
		bool whole = i < decimal.whole_length;
		char digit = whole ? decimal.whole[i] : decimal.fraction[i - decimal.whole_length];

		mantissa = 10 * mantissa + (uint64_t)(digit - '0');
		divisor *= whole ? 1 : 10;
		if (mantissa >= 1000000000000000)
			return -EDOM;
	}
	/* One rounding at most, so that what was printed reads back as it was. */
	if (factor >= divisor)
		*value = (double)mantissa * (double)(factor / divisor);
	else
		*value = (double)mantissa / (double)(divisor / factor);
	return 0;
}

char *
lull_time_print(uint64_t ns, char *text, size_t size)
{
	const struct lull_unit *best = &lull_time_units[0];

	for (const struct lull_unit *unit = best; unit->name != NULL; unit++) {
		if (ns % unit->factor == 0)
			best = unit;
	}
	snprintf(text, size, "%" PRIu64 "%s", ns == 0 ? 0 : ns / best->factor,
		 ns == 0 ? "" : best->name);
	return text;
}

char *
lull_real_print(double value, char *text, size_t size)
{
	const char *suffix = "";
	double scale = 1;

	if (value >= 1e9) {
		suffix = "G";
		scale = 1e9;
	} else if (value >= 1e6) {
		suffix = "M";
		scale = 1e6;
	} else if (value >= 1e3) {
		suffix = "k";
		scale = 1e3;
	}
	snprintf(text, size, "%.*g%s", REAL_DIGITS, value / scale, suffix);
	return text;
}
