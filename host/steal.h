/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Steal: the reader of /proc/stat behind lull_steal_ns().
 */
#ifndef LULL_STEAL_H
#define LULL_STEAL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Read one line of /proc/stat.
 *
 * @param ticks  out: the eighth column, "steal"
 * @return false when the line is not about @p cpu or has no such column
 */
bool lull_steal_parse(const char *line, int cpu, uint64_t *ticks);

#endif
