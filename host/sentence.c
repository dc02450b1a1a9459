/* SPDX-License-Identifier: BSD-3-Clause */
#include "sentence.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void
lull_sentence_add(struct lull_sentence *text, const char *format, ...)
{
	va_list args;
	int length;

	if (text->used >= text->size)
		return;
	va_start(args, format);
	length = vsnprintf(text->bytes + text->used, text->size - text->used, format, args);
	va_end(args);
	if (length > 0)
		text->used += (size_t)length;
}

/* Three digits at most; integers, so that no locale puts a comma into it. */
static void
sentence_add_scaled(struct lull_sentence *text, uint64_t value, const char *const units[4])
{
	uint64_t tenths;
	int unit = 0;

	if (value < 1000) {
		lull_sentence_add(text, "%" PRIu64 " %s", value, units[0]);
		return;
	}
	while (unit < 2 && value >= 999950) {
		value /= 1000;
		unit++;
	}
	tenths = (value + 50) / 100;
	if (tenths < 1000 && tenths % 10 != 0)
		lull_sentence_add(text, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
				  units[unit + 1]);
	else
		lull_sentence_add(text, "%" PRIu64 " %s", (tenths + 5) / 10, units[unit + 1]);
}

void
lull_sentence_add_time(struct lull_sentence *text, uint64_t ns)
{
	static const char *const units[4] = { "ns", "us", "ms", "s" };

	sentence_add_scaled(text, ns, units);
}

void
lull_sentence_add_rate(struct lull_sentence *text, uint64_t pps)
{
	static const char *const units[4] = { "pps", "kpps", "Mpps", "Gpps" };

	sentence_add_scaled(text, pps, units);
}
