/* SPDX-License-Identifier: BSD-3-Clause */
#include "assert.h"

/* The one file-level variable of core: a process has one way to die. */
static lull_assert_hook *assert_hook;

void
lull_assert_hook_set(lull_assert_hook *hook)
{
	__atomic_store_n(&assert_hook, hook, __ATOMIC_RELAXED);
}

void
lull_assert_fail(const char *expression, const char *file, int line)
{
	lull_assert_hook *hook = __atomic_load_n(&assert_hook, __ATOMIC_RELAXED);

	if (hook != NULL)
		hook(expression, file, line);
	__builtin_trap();
}
