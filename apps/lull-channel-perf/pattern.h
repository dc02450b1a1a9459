/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pattern: bytes that are a function of the message's number and of their offset.
 *
 * Threads: any. Memory: the caller's.
 */
#ifndef LULL_CHANNEL_PERF_PATTERN_H
#define LULL_CHANNEL_PERF_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

void perf_pattern_fill(uint8_t *bytes, uint64_t len, uint64_t message);
/** Are they as they were filled? */
bool perf_pattern_holds(const uint8_t *bytes, uint64_t len, uint64_t message);

#endif
