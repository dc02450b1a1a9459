/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Piece: a part of a value, read; and values put together piece by piece.
 */
#ifndef LULL_SIM_PIECE_H
#define LULL_SIM_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/error.h"

/** A part of a text, not ended by a zero. */
struct piece {
	const char *text;
	size_t length;
};

/** The next piece up to one of the separators; false at the end. */
bool piece_next(const char **rest, const char *separators, struct piece *piece);
/** -EINVAL and the sentence: @p text is not of this form. */
int piece_refuse(struct lull_error *error, const char *text, const char *form);
bool piece_time(struct piece piece, uint64_t *ns);
bool piece_count(struct piece piece, uint64_t *count);
/** "99.99" or "99.99%" in parts of @p whole for 100. */
bool piece_percent(struct piece piece, uint64_t whole, uint64_t *parts);

char *text_end(char *text);
size_t text_room(const char *text, size_t size);
void text_time(char *text, size_t size, const char *before, uint64_t ns);
void text_real(char *text, size_t size, const char *before, double value);

#endif
