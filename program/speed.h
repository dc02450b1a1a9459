/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Speed: how fast a capture is played, as the value of an option.
 *
 * Threads: plain data. Memory: the caller's double: 1 is the original timing, 2 is twice as fast,
 * 0 is as fast as possible.
 */
#ifndef LULL_CLI_SPEED_H
#define LULL_CLI_SPEED_H

#include <stddef.h>

#include <lull/base.h>

/** "original" or a factor in 0.001..1000000; 0, or -EINVAL and the sentence. */
int lull_speed_parse(const char *text, void *member, struct lull_error *error);
/** The same, or "max". */
int lull_speed_max_parse(const char *text, void *member, struct lull_error *error);
/** The reverse of both; returns @p text. */
char *lull_speed_print(const void *member, char *text, size_t size);
#define lull_speed_max_print lull_speed_print

#endif
