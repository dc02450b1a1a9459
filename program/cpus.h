/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * CPUs: a list like "1,3-5", in the order given.
 *
 * Fits a custom row of an option table.
 * Threads: any. Memory: the caller's struct.
 */
#ifndef LULL_CLI_CPUS_H
#define LULL_CLI_CPUS_H

#include <stddef.h>
#include <stdint.h>

#include "host/error.h"

#define LULL_CPU_LIST_MAX 64
#define LULL_CPU_MAX 1023 /* what the kernel's affinity masks hold by default */

struct lull_cpu_list {
	uint32_t count;                   /**< 0: none named */
	uint16_t cpus[LULL_CPU_LIST_MAX]; /**< each at most once */
};

/** Read a list into a struct lull_cpu_list; 0 or -errno, the sentence and no change. */
int lull_cpus_parse(const char *text, void *list, struct lull_error *error);
/** The reverse, neighbours in a row as a range; returns @p text. */
char *lull_cpus_print(const void *list, char *text, size_t size);

/** CPUs this process may use, in order, at most LULL_CPU_MAX + 1; returns how many: at least 1. */
int lull_cpus_allowed(int *cpus);

#endif
