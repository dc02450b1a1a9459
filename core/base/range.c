/* SPDX-License-Identifier: BSD-3-Clause */
#include "range.h"

#include <errno.h>

int
lull_range_refuse(const char *field, uint64_t value, uint64_t low, uint64_t high,
		  struct lull_range *wrong)
{
	if (wrong != NULL)
		*wrong = (struct lull_range){ field, value, low, high };
	return -EINVAL;
}

int
lull_range_check(const char *field, uint64_t value, uint64_t low, uint64_t high,
		 struct lull_range *wrong)
{
	return value >= low && value <= high ? 0 :
					       lull_range_refuse(field, value, low, high, wrong);
}

int
lull_ranges_check(const struct lull_range *ranges, size_t count, struct lull_range *wrong)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = lull_range_check(ranges[i].field, ranges[i].value, ranges[i].low,
				      ranges[i].high, wrong);
	return rc;
}

/* ---- the sentence ---- */

struct writer {
	char *at, *end; /* the last byte is the terminator's */
};

static void
write_text(struct writer *writer, const char *text)
{
	while (*text != '\0' && writer->at < writer->end)
		*writer->at++ = *text++;
}

static void
write_number(struct writer *writer, uint64_t number)
{
	char digits[21];
	char *digit = &digits[sizeof(digits) - 1];

	*digit = '\0';
	do {
		*--digit = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	write_text(writer, digit);
}

char *
lull_range_print(const struct lull_range *range, char *text, size_t size)
{
	struct writer writer = { text, text + size - 1 };

	write_text(&writer, range->field);
	write_text(&writer, ": ");
	write_number(&writer, range->value);
	write_text(&writer, " is not in ");
	write_number(&writer, range->low);
	write_text(&writer, "..");
	write_number(&writer, range->high);
	*writer.at = '\0';
	return text;
}
