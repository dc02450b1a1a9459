/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Error: the one sentence that goes with a negative errno.
 */
#ifndef LULL_ENGINE_ERROR_H
#define LULL_ENGINE_ERROR_H

#include <lull/engine.h>

/** Write the sentence into @p error (LULL_ERROR_SIZE bytes, may be NULL); returns @p code. */
int lull_engine_error(char *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** The sentence about a range that does not hold; returns -EINVAL. */
int lull_engine_error_range(char *error, const struct lull_range *wrong);

#endif
