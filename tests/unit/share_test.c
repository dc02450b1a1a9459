/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "idle/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct lull_share *
share_of(uint32_t queues, uint32_t threads)
{
	struct lull_share *share = aligned_alloc(LULL_CACHE_LINE, lull_share_size(threads));

	assert_non_null(share);
	memset(share, 0xa5, lull_share_size(threads));
	lull_share_init(share, queues, threads, 1);
	for (uint32_t i = 0; i < threads; i++)
		lull_share_join(&share->members[i]);
	return share;
}

TEST(share_take__one_holds_it_the_other_does_not_wait)
{
	struct lull_share *share = share_of(1, 2);
	struct lull_share_member *first = &share->members[0], *second = &share->members[1];

	assert_true(lull_share_take(first, 1000));
	assert_true(lull_share_take(first, 1100)); /* still, which is no try */
	assert_false(lull_share_take(second, 1100));
	assert_int_equal(first->counters.tries, 1);
	assert_int_equal(first->counters.tries_failed, 0);
	assert_int_equal(second->counters.tries, 1);
	assert_int_equal(second->counters.tries_failed, 1);
	lull_share_release(first, 1200);
	assert_true(lull_share_take(second, 1250));
	assert_false(lull_share_take(first, 1260));
	free(share);
}

/* From the last look of whoever held it to the next take, whoever takes it. */
TEST(share_take__knows_when_the_queue_was_empty)
{
	struct lull_share *share = share_of(1, 2);
	struct lull_share_member *first = &share->members[0], *second = &share->members[1];

	/* nobody has looked: that is no vacation, and nothing is known of before */
	lull_share_take(first, 1000);
	assert_int_equal(first->vacation_ns, 0);
	assert_int_equal(first->empty_ns, 1000);
	assert_int_equal(first->vacations.count, 0);
	lull_share_release(first, 5000);
	lull_share_take(second, 5700);
	assert_int_equal(second->empty_ns, 5000);
	assert_int_equal(second->vacation_ns, 700);
	assert_int_equal(lull_share_vacation_ns(second), 700);
	assert_int_equal(lull_share_vacation_ns(first), 0);
	lull_share_release(second, 6000);
	/* a clock that was read before the other one released */
	lull_share_take(first, 5900);
	assert_int_equal(first->vacation_ns, 0);
	assert_int_equal(first->empty_ns, 6000);
	free(share);
}

/* A thread that ends with a queue gives it back, and it was empty when it was so last. */
TEST(share_leave__gives_back_what_it_holds)
{
	struct lull_share *share = share_of(1, 2);

	lull_share_take(&share->members[0], 1000);
	lull_share_release(&share->members[0], 2000);
	lull_share_take(&share->members[0], 3000);
	lull_share_leave(&share->members[0]);
	assert_int_equal(lull_share_queue_threads(&share->queues[0]), 1);
	assert_true(lull_share_take(&share->members[1], 4000));
	assert_int_equal(share->members[1].vacation_ns, 2000);
	free(share);
}

TEST(share_turn__comes_to_each_queue_and_leaves_none_without_a_thread)
{
	struct lull_share *share = share_of(4, 6);
	uint32_t seen[4] = { 0 };

	assert_int_equal(lull_share_queue_threads(&share->queues[0]), 2);
	assert_int_equal(lull_share_queue_threads(&share->queues[3]), 1);
	for (uint32_t i = 0; i < 20000; i++) {
		struct lull_share_member *member = &share->members[i * 7 % 6];
		uint32_t sum = 0;

		/* as governors do: hold it for a while, or turn to another one */
		if (member->held)
			lull_share_release(member, i + 1);
		else if (!lull_share_take(member, i + 1))
			lull_share_turn(member);
		seen[member->queue]++;
		for (uint32_t q = 0; q < 4; q++) {
			assert_true(lull_share_queue_threads(&share->queues[q]) > 0);
			sum += lull_share_queue_threads(&share->queues[q]);
		}
		assert_int_equal(sum, 6);
	}
	for (uint32_t q = 0; q < 4; q++)
		assert_true(seen[q] > 1000);
	free(share);
}

/* Members lie side by side, each on lines of its own. */
TEST(share_size__grows_by_a_member)
{
	assert_int_equal(lull_share_size(3) % LULL_CACHE_LINE, 0);
	assert_int_equal(lull_share_size(3) - lull_share_size(2), sizeof(struct lull_share_member));
}

/* ---- an idle object whose queue is shared ---- */

struct seat {
	void *memory;
	struct lull_idle *idle;
};

static struct seat
seat_at(struct lull_share *share, uint32_t number)
{
	const struct lull_idle_limits limits = { .rest_ns = 50000, .backup_ns = 400000 };
	struct seat seat;

	seat.memory = aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + 63) / 64 * 64);
	assert_non_null(seat.memory);
	assert_int_equal(lull_idle_init(seat.memory, lull_idle_governor_find("metronome"), &limits,
					0, &seat.idle),
			 0);
	lull_idle_join(seat.idle, &share->members[number]);
	return seat;
}

/* An iteration at @p now_ns: false, it did not have the queue. */
static bool
seat_iterate(struct seat *seat, uint64_t now_ns, uint16_t pkts, struct lull_rest *rest)
{
	struct lull_iteration iteration = { .now_ns = now_ns, .queue_count = 1 };
	uint32_t queue = UINT32_MAX;
	uint16_t none = 0;
	bool has = lull_idle_take(seat->idle, now_ns, &queue);

	assert_true(!has || queue == 0);
	iteration.queue_pkts = has ? &pkts : &none;
	*rest = lull_idle_plan(seat->idle, &iteration);
	return has;
}

static void
seat_wake(struct seat *seat, const struct lull_rest *rest, uint64_t begin_ns, uint64_t end_ns)
{
	struct lull_wake wake = {
		.rest = *rest, .begin_ns = begin_ns, .end_ns = end_ns, .reason = LULL_WAKE_TIMER
	};

	lull_idle_wake(seat->idle, &wake);
}

/*
 * A packet waited at most since the queue was known empty, whoever knew it: this thread slept for
 * 400 us, but another one looked 20 us ago.
 */
TEST(wait__counts_from_the_last_look_of_any_thread)
{
	struct lull_share *share = share_of(1, 2);
	struct seat first = seat_at(share, 0), second = seat_at(share, 1);
	const struct lull_histogram *wait = lull_idle_wait_histogram(second.idle);
	struct lull_rest rest, other;

	assert_true(seat_iterate(&first, 1000, 3, &rest));
	assert_int_equal(rest.idle_state, LULL_IDLE_NONE);
	/* held: the other thread is a backup, and has looked at nothing */
	assert_false(seat_iterate(&second, 2000, 0, &other));
	assert_int_equal(other.limit_ns, 400000);
	seat_iterate(&first, 383000, 0, &rest);
	seat_wake(&first, &rest, 383100, 483000);
	seat_wake(&second, &other, 2100, 403000);
	assert_true(seat_iterate(&second, 403000, 5, &other));
	assert_int_equal(other.idle_state, LULL_IDLE_NONE);
	assert_true(seat_iterate(&second, 403500, 0, &other));
	assert_int_equal(wait->count, 5);
	assert_int_equal(wait->max, 403500 - 383000);
	/* and when it had nobody to look for it, from its own last look on */
	seat_wake(&second, &other, 403600, 503600);
	seat_iterate(&second, 503600, 1, &other);
	seat_iterate(&second, 503700, 0, &other);
	assert_int_equal(wait->max, 503700 - 403500);
	free(first.memory);
	free(second.memory);
	free(share);
}

/* It found the queue with another thread: what was lost then that one has to answer for. */
TEST(loss__of_a_queue_that_others_held_is_not_this_threads)
{
	struct lull_share *share = share_of(1, 2);
	struct seat first = seat_at(share, 0), second = seat_at(share, 1);
	const struct lull_idle_counters *counters = lull_idle_counters(second.idle);
	struct lull_rest rest, other;

	seat_iterate(&first, 1000, 32, &rest);
	seat_iterate(&second, 2000, 0, &other);
	seat_wake(&second, &other, 2100, 403000);
	seat_iterate(&second, 403000, 0, &other);
	lull_idle_miss(second.idle, 404000, 7);
	assert_int_equal(counters->misses, 0);
	assert_int_equal(counters->misses_other, 7);
	free(first.memory);
	free(second.memory);
	free(share);
}

/* A governor that never releases would have the queue for ever. */
TEST(idle_change__refuses_governors_that_do_not_share)
{
	struct lull_share *share = share_of(1, 1);
	struct seat seat = seat_at(share, 0);
	const struct lull_idle_limits limits = { .rest_ns = 70000 };

	for (uint32_t i = 0; lull_idle_governors[i] != NULL; i++) {
		const char *name = lull_idle_governor_name(lull_idle_governors[i]);
		bool shares = strcmp(name, "metronome") == 0;

		assert_int_equal(lull_idle_change(seat.idle, lull_idle_governors[i], &limits),
				 shares ? 0 : -EINVAL);
	}
	assert_int_equal(lull_idle_change(seat.idle, NULL, &limits), 0);
	assert_int_equal(lull_idle_limits(seat.idle)->rest_ns, 70000);
	free(seat.memory);
	free(share);
}

/* A duty that comes before a sleep could end: the thread goes on with the queue in hand. */
TEST(idle_plan__a_duty_keeps_the_queue)
{
	struct lull_share *share = share_of(1, 2);
	struct seat seat = seat_at(share, 0);
	uint16_t none = 0;
	struct lull_iteration iteration = {
		.now_ns = 2000, .deadline_ns = 2000, .queue_pkts = &none, .queue_count = 1
	};
	struct lull_rest rest;
	uint32_t queue;

	assert_true(lull_idle_take(seat.idle, 1000, &queue));
	rest = lull_idle_plan(seat.idle, &iteration);
	assert_int_equal(rest.idle_state, LULL_IDLE_NONE);
	assert_false(lull_share_take(&share->members[1], 2100));
	/* one that leaves time for a rest does not */
	iteration.now_ns = 3000;
	iteration.deadline_ns = 3000 + LULL_NS_PER_MS;
	rest = lull_idle_plan(seat.idle, &iteration);
	assert_int_equal(rest.idle_state, LULL_IDLE_SLEEP);
	assert_true(lull_share_take(&share->members[1], 3100));
	free(seat.memory);
	free(share);
}

/* Each thread draws numbers of its own, of which the queue that it tries next is made. */
TEST(share_turn__goes_where_its_own_chance_says)
{
	struct lull_share *share = share_of(4, 6);

	for (uint32_t i = 0; i < 6; i++) {
		struct lull_share_member *member = &share->members[i];
		struct lull_prng prng;

		assert_int_equal(member->number, i);
		assert_int_equal(member->queue, i % 4);
		lull_prng_init(&prng, 1, i);
		for (uint32_t k = 0; k < 20; k++) {
			lull_share_turn(member);
			assert_int_equal(member->queue, lull_prng_below(&prng, 4));
		}
	}
	free(share);
}

/* One that leaves without a queue in hand takes nobody's. */
TEST(share_leave__takes_none_from_others)
{
	struct lull_share *share = share_of(1, 3);

	assert_true(lull_share_take(&share->members[0], 1000));
	lull_share_leave(&share->members[1]);
	assert_int_equal(lull_share_queue_threads(&share->queues[0]), 2);
	assert_int_equal(share->queues[0].held, 1);
	assert_false(lull_share_take(&share->members[2], 1000));
	lull_share_release(&share->members[0], 2000);
	/* a vacation of nothing is one, too */
	assert_true(lull_share_take(&share->members[2], 2000));
	assert_int_equal(share->members[2].vacations.count, 1);
	assert_int_equal(share->members[2].vacation_ns, 0);
	assert_int_equal(share->members[2].taken_ns, 2000);
	lull_share_release(&share->members[2], 2100);
	lull_share_take(&share->members[2], 2101);
	lull_share_release(&share->members[2], 2200);
	lull_share_take(&share->members[2], 2208);
	/* the mean of 0, 1 and 8 */
	assert_int_equal(lull_share_vacation_ns(&share->members[2]), 3);
	lull_share_leave(&share->members[2]);
	assert_false(share->members[2].held);
	free(share);
}
