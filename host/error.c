/* SPDX-License-Identifier: BSD-3-Clause */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <lull/base.h>

/* Length of the UTF-8 sequence at the start of text; 0: none (overlong and surrogates too). */
static size_t
utf8_length(const unsigned char *text)
{
	size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;

	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f))
		return 0;
	if ((text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return length;
}

static bool
is_control(const unsigned char *text)
{
	/* U+0080..U+009F are control characters as well: terminals obey them. */
	return text[0] < 0x20 || text[0] == 0x7f || (text[0] == 0xc2 && text[1] < 0xa0);
}

char *
lull_text_clean(char *text)
{
	unsigned char *at = (unsigned char *)text;

	while (*at != '\0') {
		size_t length = utf8_length(at);

		if (length == 0 || is_control(at)) {
			memset(at, '?', length == 0 ? 1 : length);
			length = length == 0 ? 1 : length;
		}
		at += length;
	}
	return text;
}

int
lull_error_set(struct lull_error *error, int code, const char *format, ...)
{
	va_list arguments;

	if (error == NULL)
		return code;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	lull_text_clean(error->text);
	return code;
}

void
lull_error_prefix(struct lull_error *error, const char *format, ...)
{
	struct lull_error whole;
	va_list arguments;
	size_t used;

	if (error == NULL)
		return;
	va_start(arguments, format);
	vsnprintf(whole.text, sizeof(whole.text), format, arguments);
	va_end(arguments);
	used = strlen(whole.text);
	snprintf(whole.text + used, sizeof(whole.text) - used, "%s", error->text);
	lull_text_clean(whole.text);
	*error = whole;
}

void
lull_error_suffix(struct lull_error *error, const char *format, ...)
{
	va_list arguments;
	size_t used;

	if (error == NULL)
		return;
	used = strlen(error->text);
	va_start(arguments, format);
	vsnprintf(error->text + used, sizeof(error->text) - used, format, arguments);
	va_end(arguments);
	lull_text_clean(error->text);
}

int
lull_error_range(struct lull_error *error, const struct lull_range *wrong)
{
	if (error != NULL)
		lull_range_print(wrong, error->text, sizeof(error->text));
	return -EINVAL;
}
