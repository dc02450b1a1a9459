/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * CPU latency: words for the limit on C-states: auto, off or a time.
 *
 * The functions fit a custom row of an option table. Threads: any. Memory: the caller's uint64_t,
 * as struct lull_rest_thread_config has it.
 */
#ifndef LULL_CLI_CPU_LATENCY_OPTION_H
#define LULL_CLI_CPU_LATENCY_OPTION_H

#include <stddef.h>

#include "host/error.h"

/** @return 0, or -EINVAL, the sentence and no change. */
int lull_cpu_latency_parse(const char *text, void *member, struct lull_error *error);
/** The reverse. Returns @p text. */
char *lull_cpu_latency_print(const void *member, char *text, size_t size);

#endif
