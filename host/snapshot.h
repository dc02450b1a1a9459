/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Snapshot: a struct that one thread publishes and others copy whole.
 *
 * A sequence lock over relaxed words: the writer never waits, a reader tries
 * again when it met a write.
 * Threads: one writer, any number of readers.
 */
#ifndef LULL_SNAPSHOT_H
#define LULL_SNAPSHOT_H

#include <stdalign.h>

#include <lull/loop.h>

#include "idle/remedy.h"

#define LULL_SNAPSHOT_WORDS ((sizeof(struct lull_loop_snapshot) + 7) / 8)
#define LULL_SNAPSHOT_BASIS_WORDS ((sizeof(struct lull_remedy_basis) + 7) / 8)

struct lull_snapshot_cell {
	alignas(LULL_CACHE_LINE) uint32_t sequence; /* odd while it is written */
	bool basis_known;                           /* atomic */
	uint64_t words[LULL_SNAPSHOT_WORDS], basis[LULL_SNAPSHOT_BASIS_WORDS];
};

/**
 * Publish. Where the verdict may have remedies, what they are reckoned from is copied from @p idle
 * (NULL: there are none), and readers reckon.
 */
void lull_snapshot_write(struct lull_snapshot_cell *cell, const struct lull_loop_snapshot *snapshot,
			 const struct lull_idle *idle);
/** Copy, with the remedies of the verdict. */
void lull_snapshot_read(const struct lull_snapshot_cell *cell, struct lull_loop_snapshot *snapshot);

#endif
