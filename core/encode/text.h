/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Text: put words and numbers behind each other, without stdio.
 *
 * The caller knows that there is room; nothing here ends a text with a zero.
 */
#ifndef LULL_ENCODE_TEXT_H
#define LULL_ENCODE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** Most bytes of a number. */
#define LULL_ENCODE_NUMBER_MAX 20

struct lull_encode_text {
	char *at; /**< the next byte to write */
};

void lull_encode_text_word(struct lull_encode_text *text, const char *word);
void lull_encode_text_number(struct lull_encode_text *text, uint64_t value);
/** Two lower-case digits per byte. */
void lull_encode_text_hex(struct lull_encode_text *text, const uint8_t *bytes, size_t count);
/** A JSON string with its quotes, at most 2 * strlen(word) + 2 bytes: not ASCII becomes '?'. */
void lull_encode_text_quoted(struct lull_encode_text *text, const char *word);

#endif
