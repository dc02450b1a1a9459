/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Cell: counters of one thread that others read all of one moment.
 *
 * A sequence lock in place: the writer changes what belongs together between begin and end, a few
 * stores each time; a reader copies the words and tries again when it met a change. So identities
 * between the words of a cell hold exactly in every copy, while the writer runs.
 *
 * Threads: one writer, which never waits, any number of readers.
 */
#ifndef LULL_CELL_H
#define LULL_CELL_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Between begin and end change words with LULL_COUNTER_ADD() and lull_cell_set() only. */
static inline void
lull_cell_begin(uint32_t *sequence)
{
	__atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void
lull_cell_end(uint32_t *sequence)
{
	__atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELEASE);
}

static inline void
lull_cell_set(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/** Copy @p count words; they are of one moment when this returns true. */
static inline bool
lull_cell_try(const uint32_t *sequence, const uint64_t *words, uint64_t *copy, size_t count)
{
	uint32_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < count; i++)
		copy[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return before % 2 == 0 && __atomic_load_n(sequence, __ATOMIC_RELAXED) == before;
}

/** Copy a struct of nothing but words, @p size bytes. */
static inline void
lull_cell_read(const uint32_t *sequence, const void *words, void *copy, size_t size)
{
	while (!lull_cell_try(sequence, words, copy, size / sizeof(uint64_t)))
		sched_yield(); /* the writer may be off its CPU, perhaps this one */
}

#endif
