/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "base/prng.h"
#include "sim/queue.h"

/* A list kept in order by insertion: slow and plainly right. */
struct list {
	uint32_t count;
	struct lull_sim_event events[LULL_SIM_QUEUE_MAX];
};

static void
list_push(struct list *list, struct lull_sim_event event)
{
	uint32_t i = list->count++;

	for (; i > 0 && lull_sim_event_before(event, list->events[i - 1]); i--)
		list->events[i] = list->events[i - 1];
	list->events[i] = event;
}

static struct lull_sim_event
list_pop(struct list *list)
{
	struct lull_sim_event first = list->events[0];

	list->count--;
	for (uint32_t i = 0; i < list->count; i++)
		list->events[i] = list->events[i + 1];
	return first;
}

/* Pushes and pops at random, few different times so that many are equal. */
TEST(queue__agrees_with_a_sorted_list)
{
	const uint64_t seed = 16;
	struct lull_sim_queue queue = { .count = 0 };
	struct list list = { .count = 0 };
	struct lull_sim_event event, expected;
	struct lull_prng prng;
	uint32_t number = 0;

	print_message("seed %llu\n", (unsigned long long)seed);
	lull_prng_init(&prng, seed, 0);
	for (uint32_t i = 0; i < 200000; i++) {
		/* now mostly filling, now mostly emptying */
		bool push = lull_prng_below(&prng, 100) < (i / 1000 % 2 == 0 ? 70u : 30u);

		if (list.count == 0 || (push && list.count < LULL_SIM_QUEUE_MAX)) {
			event = (struct lull_sim_event){ lull_prng_below(&prng, 50), number++ };
			lull_sim_queue_push(&queue, event);
			list_push(&list, event);
		} else {
			event = lull_sim_queue_pop(&queue);
			expected = list_pop(&list);
			assert_int_equal(event.at_ns, expected.at_ns);
			assert_int_equal(event.number, expected.number);
		}
		assert_int_equal(queue.count, list.count);
	}
}

TEST(queue__orders_equal_times_by_number)
{
	struct lull_sim_queue queue = { .count = 0 };

	for (uint32_t i = LULL_SIM_QUEUE_MAX; i > 0; i--)
		lull_sim_queue_push(&queue, (struct lull_sim_event){ UINT64_MAX, i - 1 });
	for (uint32_t i = 0; i < LULL_SIM_QUEUE_MAX; i++)
		assert_int_equal(lull_sim_queue_pop(&queue).number, i);
	assert_int_equal(queue.count, 0);
}
