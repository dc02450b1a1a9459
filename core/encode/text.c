/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <string.h>

static const char text_digits[] = "0123456789abcdef";

void
lull_encode_text_word(struct lull_encode_text *text, const char *word)
{
	size_t len = strlen(word);

	memcpy(text->at, word, len);
	text->at += len;
}

void
lull_encode_text_number(struct lull_encode_text *text, uint64_t value)
{
	char digits[LULL_ENCODE_NUMBER_MAX];
	size_t first = sizeof(digits);

	do {
		digits[--first] = text_digits[value % 10];
		value /= 10;
	} while (value > 0);
	memcpy(text->at, digits + first, sizeof(digits) - first);
	text->at += sizeof(digits) - first;
}

void
lull_encode_text_hex(struct lull_encode_text *text, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		*text->at++ = text_digits[bytes[i] >> 4];
		*text->at++ = text_digits[bytes[i] & 15];
	}
}

void
lull_encode_text_quoted(struct lull_encode_text *text, const char *word)
{
	*text->at++ = '"';
	for (; *word != '\0'; word++) {
		if (*word == '"' || *word == '\\')
			*text->at++ = '\\';
		*text->at++ = (char)(*word < ' ' || *word > '~' ? '?' : *word);
	}
	*text->at++ = '"';
}
