/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Token: a part of a value, read; and values put together token by token.
 */
#ifndef LULL_SIM_TOKEN_H
#define LULL_SIM_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/error.h"

/** A part of a text, not ended by a zero. */
struct token {
	const char *text;
	size_t length;
};

/** The next token up to one of the separators; false at the end. */
bool token_next(const char **rest, const char *separators, struct token *token);
/** -EINVAL and the sentence: @p text is not of this form. */
int token_refuse(struct lull_error *error, const char *text, const char *form);
bool token_time(struct token token, uint64_t *ns);
bool token_count(struct token token, uint64_t *count);
/** "99.99" or "99.99%" in parts of @p whole for 100. */
bool token_percent(struct token token, uint64_t whole, uint64_t *parts);

char *text_end(char *text);
size_t text_room(const char *text, size_t size);
void text_time(char *text, size_t size, const char *before, uint64_t ns);
void text_real(char *text, size_t size, const char *before, double value);

#endif
