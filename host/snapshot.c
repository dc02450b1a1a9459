/* SPDX-License-Identifier: BSD-3-Clause */
#include "snapshot.h"

#include <sched.h>
#include <string.h>

static void
snapshot_store(uint64_t *to, const uint64_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
}

static void
snapshot_load(uint64_t *to, const uint64_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

void
lull_snapshot_write(struct lull_snapshot_cell *cell, const struct lull_loop_snapshot *snapshot,
		    const struct lull_idle *idle)
{
	uint64_t words[LULL_SNAPSHOT_WORDS] = { 0 }, basis_words[LULL_SNAPSHOT_BASIS_WORDS] = { 0 };
	bool basis_known = idle != NULL && lull_remedies_wanted(&snapshot->verdict);
	uint32_t sequence = cell->sequence;
	struct lull_remedy_basis basis;

	memcpy(words, snapshot, sizeof(*snapshot));
	if (basis_known) {
		lull_idle_remedy_basis(idle, &basis);
		memcpy(basis_words, &basis, sizeof(basis));
	}
	__atomic_store_n(&cell->sequence, sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	snapshot_store(cell->words, words, LULL_SNAPSHOT_WORDS);
	__atomic_store_n(&cell->basis_known, basis_known, __ATOMIC_RELAXED);
	if (basis_known)
		snapshot_store(cell->basis, basis_words, LULL_SNAPSHOT_BASIS_WORDS);
	__atomic_store_n(&cell->sequence, sequence + 2, __ATOMIC_RELEASE);
}

static bool
snapshot_try(const struct lull_snapshot_cell *cell, uint64_t *words, uint64_t *basis_words,
	     bool *basis_known)
{
	uint32_t sequence = __atomic_load_n(&cell->sequence, __ATOMIC_ACQUIRE);

	snapshot_load(words, cell->words, LULL_SNAPSHOT_WORDS);
	*basis_known = __atomic_load_n(&cell->basis_known, __ATOMIC_RELAXED);
	if (*basis_known)
		snapshot_load(basis_words, cell->basis, LULL_SNAPSHOT_BASIS_WORDS);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return sequence % 2 == 0 && __atomic_load_n(&cell->sequence, __ATOMIC_RELAXED) == sequence;
}

void
lull_snapshot_read(const struct lull_snapshot_cell *cell, struct lull_loop_snapshot *snapshot)
{
	uint64_t words[LULL_SNAPSHOT_WORDS], basis_words[LULL_SNAPSHOT_BASIS_WORDS];
	struct lull_remedy_basis basis;
	bool basis_known;

	/* Each write takes well under a microsecond and there are 10 ms in between. */
	while (!snapshot_try(cell, words, basis_words, &basis_known))
		sched_yield(); /* the writer may be off its CPU, perhaps this one */
	memcpy(snapshot, words, sizeof(*snapshot));
	if (!basis_known)
		return;
	memcpy(&basis, basis_words, sizeof(basis));
	lull_remedies_find(&snapshot->verdict, &snapshot->limits, &basis);
}
