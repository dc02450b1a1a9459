/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Assert: our own mistakes, checked in release builds too.
 */
#ifndef LULL_ASSERT_H
#define LULL_ASSERT_H

#include <lull/base.h>

void lull_assert_fail(const char *expression, const char *file, int line)
	__attribute__((noreturn, cold));

#define LULL_ASSERT(expression)                                                                    \
	((expression) ? (void)0 : lull_assert_fail(#expression, __FILE__, __LINE__))

#ifdef LULL_DEBUG
#define LULL_ASSERT_HOT(expression) LULL_ASSERT(expression)
#else
#define LULL_ASSERT_HOT(expression) ((void)sizeof(expression))
#endif

#endif
