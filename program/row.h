/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Row: how a row of an option table is written, by the type of its value.
 *
 * Each takes the key, the placeholder in --help, the member of the settings and the help. What
 * else a row has follows by name, as struct lull_option has it: .value = "1024", .low = 32.
 * A file with a table defines LULL_SETTINGS, the struct that the members lie in.
 */
#ifndef LULL_CLI_ROW_H
#define LULL_CLI_ROW_H

#include "options.h"

/* The help is the first of the variable arguments, for there must be one. */
#define LULL_ROW(kind, name, place, where, ...)                                                    \
	{                                                                                          \
		.type = LULL_OPTION_##kind, .key = name, .argument = place,                        \
		LULL_OPTION_MEMBER(LULL_SETTINGS, where), .help = __VA_ARGS__                      \
	}
#define LULL_ROW_BOOL(name, where, ...) LULL_ROW(BOOL, name, NULL, where, __VA_ARGS__)
#define LULL_ROW_COUNT(name, place, where, ...) LULL_ROW(COUNT, name, place, where, __VA_ARGS__)
#define LULL_ROW_TIME(name, where, ...) LULL_ROW(DURATION, name, "TIME", where, __VA_ARGS__)
#define LULL_ROW_REAL(name, place, where, ...) LULL_ROW(REAL, name, place, where, __VA_ARGS__)
#define LULL_ROW_TEXT(name, place, where, ...) LULL_ROW(TEXT, name, place, where, __VA_ARGS__)
#define LULL_ROW_FILE(name, place, where, ...)                                                     \
	LULL_ROW(TEXT, name, place, where, __VA_ARGS__, .file = true)
#define LULL_ROW_LIST(name, place, where, ...) LULL_ROW(LIST, name, place, where, __VA_ARGS__)
#define LULL_ROW_CHOICE(name, where, ...) LULL_ROW(CHOICE, name, NULL, where, __VA_ARGS__)
/** @p noun_parse and @p noun_print read and write the value. */
#define LULL_ROW_CUSTOM(name, place, where, noun, ...)                                             \
	LULL_ROW(CUSTOM, name, place, where, __VA_ARGS__, .parse = noun##_parse,                   \
		 .print = noun##_print)

#endif
