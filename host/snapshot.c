/* SPDX-License-Identifier: BSD-3-Clause */
#include "snapshot.h"

#include <sched.h>
#include <string.h>

void
lull_snapshot_write(struct lull_snapshot_cell *cell, const struct lull_loop_snapshot *snapshot)
{
	uint64_t words[LULL_SNAPSHOT_WORDS] = { 0 };
	uint32_t sequence = cell->sequence;

	memcpy(words, snapshot, sizeof(*snapshot));
	__atomic_store_n(&cell->sequence, sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (size_t i = 0; i < LULL_SNAPSHOT_WORDS; i++)
		__atomic_store_n(&cell->words[i], words[i], __ATOMIC_RELAXED);
	__atomic_store_n(&cell->sequence, sequence + 2, __ATOMIC_RELEASE);
}

static bool
snapshot_try(const struct lull_snapshot_cell *cell, uint64_t *words)
{
	uint32_t sequence = __atomic_load_n(&cell->sequence, __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < LULL_SNAPSHOT_WORDS; i++)
		words[i] = __atomic_load_n(&cell->words[i], __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return sequence % 2 == 0 && __atomic_load_n(&cell->sequence, __ATOMIC_RELAXED) == sequence;
}

void
lull_snapshot_read(const struct lull_snapshot_cell *cell, struct lull_loop_snapshot *snapshot)
{
	uint64_t words[LULL_SNAPSHOT_WORDS];

	/* Each write takes well under a microsecond and there are 10 ms in between. */
	while (!snapshot_try(cell, words))
		sched_yield(); /* the writer may be off its CPU, perhaps this one */
	memcpy(snapshot, words, sizeof(*snapshot));
}
