/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Seen: which packet numbers of a path have come.
 *
 * Memory: one fixed struct, all zero when nothing has come.
 */
#ifndef LULL_BUNDLE_SEEN_H
#define LULL_BUNDLE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#define BUNDLE_SEEN_WINDOW 1024 /* numbers up to the largest that are remembered */

struct bundle_seen {
	uint64_t largest;                       /* 0: none yet; numbers begin at 1 */
	uint64_t bits[BUNDLE_SEEN_WINDOW / 64]; /* number n at bit n % 1024 */
};

/** @p psn has not come yet, and is not older than the window. 0 is refused. */
bool bundle_seen_is_new(const struct bundle_seen *seen, uint64_t psn);
/** Remember @p psn, which is new. */
void bundle_seen_add(struct bundle_seen *seen, uint64_t psn);
/** The last 128 up to the largest: bit i of bits[i / 64] is largest - i. */
void bundle_seen_last(const struct bundle_seen *seen, uint64_t bits[2]);

#endif
