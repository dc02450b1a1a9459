/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Error: how the sentence in a struct lull_error is written.
 *
 * Functions return 0 or a negative errno and leave the sentence in the caller's struct; nothing
 * below main() prints or exits. A sentence is one line of clean UTF-8 whatever the user typed,
 * so it can go to a terminal or into JSON. Whoever passes NULL for the struct gets no sentence.
 * Threads: plain data, one caller at a time.
 * Memory:  the caller's struct, nothing allocated.
 */
#ifndef LULL_ERROR_H
#define LULL_ERROR_H

#include <lull/base.h>

/**
 * Write the sentence; returns @p code, a negative errno, for `return lull_error_set(...)`.
 * No argument may be the text of @p error itself: use lull_error_prefix() for that.
 */
int lull_error_set(struct lull_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/** Put words in front of the sentence: where it went wrong. */
void lull_error_prefix(struct lull_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** Put words behind the sentence: the reason. */
void lull_error_suffix(struct lull_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** The sentence about a range that does not hold; returns -EINVAL. */
int lull_error_range(struct lull_error *error, const struct lull_range *wrong);

/** Replace control characters and bytes that are not UTF-8 by '?'; returns @p text. */
char *lull_text_clean(char *text);

/** Most bytes of a user's value that a sentence repeats: "%.*s", LULL_ERROR_SHOWN, value. */
#define LULL_ERROR_SHOWN 80

#endif
