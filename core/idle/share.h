/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Share: queues that several threads poll, one thread at a time.
 *
 * A thread tries a queue and never waits for it. Who gets it *holds* it: it alone polls it, and
 * writes what is known of it, until it leaves it empty and releases it. Each thread has one queue
 * that it tries next. A governor decides when to release, and when to try another one.
 *
 * No queue is left without a thread: one turns to another queue only while a third one holds its
 * own, and that one stays. For this there are at least as many threads as queues.
 *
 * Threads: each thread has a member, which it alone uses; others read its counters and histogram.
 *          What the last holder of a queue wrote, the next one sees: release and acquire.
 * Memory:  one block of the caller, lull_share_size() bytes.
 */
#ifndef LULL_SHARE_H
#define LULL_SHARE_H

#include <stdalign.h>

#include <lull/idle.h>

#include "base/prng.h"

#define LULL_SHARE_QUEUES_MAX LULL_IDLE_QUEUES_MAX
#define LULL_SHARE_THREADS_MAX 64

struct lull_share_queue {
	alignas(LULL_CACHE_LINE) uint32_t held; /* 1: a thread polls it */
	uint32_t thread_count;                  /* that try it next, or hold it */
	/* Of who holds it. */
	uint64_t empty_ns; /* whoever looked last found it empty then; 0: nobody has looked */
	uint32_t rho_ppm;  /* metronome: share of the time in which it is held */
};

struct lull_share_counters {
	uint64_t tries;        /**< to get a queue */
	uint64_t tries_failed; /**< another thread held it */
};
/** Name, unit and meaning of each member, ended by a NULL name. */
extern const struct lull_counter_info lull_share_counter_table[];

struct lull_share;

/** What one thread has and knows. */
struct lull_share_member {
	alignas(LULL_CACHE_LINE) struct lull_share *share;
	uint32_t number; /* of the thread */
	uint32_t queue;  /* that it tries next, or holds */
	bool held;
	uint64_t taken_ns;
	uint64_t empty_ns;    /* the queue was empty then, before it was taken */
	uint64_t vacation_ns; /* from then until it was taken; 0: nobody had looked before */
	struct lull_prng prng;
	struct lull_share_counters counters;
	struct lull_histogram vacations; /* of queues that it took, in this window */
};

struct lull_share {
	uint32_t queue_count, thread_count;
	struct lull_share_queue queues[LULL_SHARE_QUEUES_MAX];
	struct lull_share_member members[];
};

/** Bytes for so many threads, a multiple of LULL_CACHE_LINE, to which they are to be aligned. */
size_t lull_share_size(uint32_t thread_count);
/**
 * Set it up in memory of any content: 1..LULL_SHARE_QUEUES_MAX queues, at least as many threads and
 * at most LULL_SHARE_THREADS_MAX. @p seed is for the queues that threads turn to.
 */
void lull_share_init(struct lull_share *share, uint32_t queue_count, uint32_t thread_count,
		     uint64_t seed);

/** The thread of this member begins; it tries queue number % queue_count first. */
void lull_share_join(struct lull_share_member *member);
/** It ends, and gives back what it holds. */
void lull_share_leave(struct lull_share_member *member);
/** Try the queue. True: this thread holds it, from now on or already. */
bool lull_share_take(struct lull_share_member *member, uint64_t now_ns);
/** Give the queue back, which was found empty at @p empty_ns. The member holds it. */
void lull_share_release(struct lull_share_member *member, uint64_t empty_ns);
/** Try any queue next, by chance. The member holds none. */
void lull_share_turn(struct lull_share_member *member);
/** The queue that it tries next, or holds. */
static inline struct lull_share_queue *
lull_share_queue(struct lull_share_member *member)
{
	return &member->share->queues[member->queue];
}
/** Threads that try it next, the caller among them. */
static inline uint32_t
lull_share_queue_threads(const struct lull_share_queue *queue)
{
	return __atomic_load_n(&queue->thread_count, __ATOMIC_RELAXED);
}

/** Mean of the vacations so far, in ns; 0: there was none. Any thread. */
uint64_t lull_share_vacation_ns(const struct lull_share_member *member);

/*
 * For a loop whose queues are shared. Its idle object looks at one queue, number 0 of its
 * iterations: the one that its thread holds. In idle.c.
 */

/** Right after lull_idle_init(); its governor shares queues. @p member is borrowed. */
void lull_idle_join(struct lull_idle *idle, struct lull_share_member *member);
/**
 * Before the receive of an iteration: may this thread poll a queue? False: it holds none, and the
 * iteration receives nothing.
 *
 * @param queue  out: which one
 */
bool lull_idle_take(struct lull_idle *idle, uint64_t now_ns, uint32_t *queue);

#endif
