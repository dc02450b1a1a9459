/* SPDX-License-Identifier: BSD-3-Clause */
#include "share.h"

#include <string.h>

#include "base/assert.h"

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_share_counters, member, unit_text, help_text)
const struct lull_counter_info lull_share_counter_table[] = {
	ROW(tries, "1", "tries to get a shared queue"),
	ROW(tries_failed, "1", "tries that found the queue with another thread"),
	{ .name = NULL },
};

size_t
lull_share_size(uint32_t thread_count)
{
	return sizeof(struct lull_share) + thread_count * sizeof(struct lull_share_member);
}

void
lull_share_init(struct lull_share *share, uint32_t queue_count, uint32_t thread_count,
		uint64_t seed)
{
	LULL_ASSERT(queue_count > 0 && queue_count <= LULL_SHARE_QUEUES_MAX);
	LULL_ASSERT(thread_count >= queue_count && thread_count <= LULL_SHARE_THREADS_MAX);
	memset(share, 0, lull_share_size(thread_count));
	share->queue_count = queue_count;
	share->thread_count = thread_count;
	for (uint32_t i = 0; i < thread_count; i++) {
		share->members[i].share = share;
		share->members[i].number = i;
		lull_prng_init(&share->members[i].prng, seed, i);
	}
}

static void
share_stand_at(struct lull_share_member *member, uint32_t queue)
{
	member->queue = queue;
	__atomic_fetch_add(&lull_share_queue(member)->thread_count, 1, __ATOMIC_RELAXED);
}

static void
share_go_away(struct lull_share_member *member)
{
	__atomic_fetch_sub(&lull_share_queue(member)->thread_count, 1, __ATOMIC_RELAXED);
}

void
lull_share_join(struct lull_share_member *member)
{
	LULL_ASSERT(!member->held);
	share_stand_at(member, member->number % member->share->queue_count);
}

void
lull_share_leave(struct lull_share_member *member)
{
	struct lull_share_queue *queue = lull_share_queue(member);

	share_go_away(member);
	/* What is in the queue is not known: it stays known as empty when it was so last. */
	if (member->held)
		__atomic_store_n(&queue->held, 0, __ATOMIC_RELEASE);
	member->held = false;
}

bool
lull_share_take(struct lull_share_member *member, uint64_t now_ns)
{
	struct lull_share_queue *queue = lull_share_queue(member);

	if (member->held)
		return true;
	LULL_COUNTER_ADD(member->counters.tries, 1);
	/* Read first: a try that is bound to fail takes the line from nobody. */
	if (__atomic_load_n(&queue->held, __ATOMIC_RELAXED) != 0 ||
	    __atomic_exchange_n(&queue->held, 1, __ATOMIC_ACQUIRE) != 0) {
		LULL_COUNTER_ADD(member->counters.tries_failed, 1);
		return false;
	}
	member->held = true;
	member->taken_ns = now_ns;
	member->empty_ns = queue->empty_ns != 0 ? queue->empty_ns : now_ns;
	/* Clocks of two CPUs, or a reading before the other's: never below nothing. */
	member->vacation_ns = now_ns - LULL_MIN(now_ns, member->empty_ns);
	if (queue->empty_ns != 0)
		lull_histogram_add(&member->vacations, member->vacation_ns, 1);
	return true;
}

void
lull_share_release(struct lull_share_member *member, uint64_t empty_ns)
{
	struct lull_share_queue *queue = lull_share_queue(member);

	LULL_ASSERT_HOT(member->held);
	queue->empty_ns = empty_ns;
	member->held = false;
	__atomic_store_n(&queue->held, 0, __ATOMIC_RELEASE);
}

void
lull_share_turn(struct lull_share_member *member)
{
	uint32_t next = (uint32_t)lull_prng_below(&member->prng, member->share->queue_count);

	LULL_ASSERT_HOT(!member->held);
	if (next == member->queue)
		return;
	share_go_away(member);
	share_stand_at(member, next);
}

uint64_t
lull_share_vacation_ns(const struct lull_share_member *member)
{
	uint64_t count = LULL_COUNTER_READ(member->vacations.count);

	return count > 0 ? LULL_COUNTER_READ(member->vacations.sum) / count : 0;
}
