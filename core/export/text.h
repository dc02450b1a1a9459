/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Text: put words and numbers behind each other, without stdio.
 *
 * The caller knows that there is room; nothing here ends a text with a zero.
 */
#ifndef LULL_EXPORT_TEXT_H
#define LULL_EXPORT_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** Most bytes of a number. */
#define LULL_EXPORT_NUMBER_MAX 20

struct lull_export_text {
	char *at; /**< the next byte to write */
};

void lull_export_text_word(struct lull_export_text *text, const char *word);
void lull_export_text_number(struct lull_export_text *text, uint64_t value);
/** Two lower-case digits per byte. */
void lull_export_text_hex(struct lull_export_text *text, const uint8_t *bytes, size_t count);
/** A JSON string with its quotes, at most 2 * strlen(word) + 2 bytes: not ASCII becomes '?'. */
void lull_export_text_quoted(struct lull_export_text *text, const char *word);

#endif
