/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Error: the one sentence a program shows its user when something is wrong.
 *
 * Functions of this folder return 0 or a negative errno and leave the sentence
 * here; nothing below main() prints or exits. A sentence is one line of clean
 * UTF-8 whatever the user typed, so it can go to a terminal or into JSON.
 * Threads: plain data, one caller at a time.
 * Memory:  the caller's struct, nothing allocated.
 */
#ifndef LULL_CLI_ERROR_H
#define LULL_CLI_ERROR_H

#include <lull/base.h>

struct lull_error {
	char text[768]; /**< no full stop, no line feed; cut when longer */
};

/** Write the sentence; returns @p code, a negative errno, for `return lull_error_set(...)`. */
int lull_error_set(struct lull_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/** Put words in front of the sentence: where it went wrong. */
void lull_error_prefix(struct lull_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** The sentence about a range that does not hold; returns -EINVAL. */
int lull_error_range(struct lull_error *error, const struct lull_range *wrong);

/** Replace control characters and bytes that are not UTF-8 by '?'; returns @p text. */
char *lull_text_clean(char *text);

/** Most bytes of a user's value that a sentence repeats: "%.*s", LULL_ERROR_SHOWN, value. */
#define LULL_ERROR_SHOWN 80

#endif
