/* SPDX-License-Identifier: BSD-3-Clause */
/* host/work: what a thread says of its other work, and who asks. */
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <lull/rest.h>

#include "case.h"

#define LONG_NS (20 * LULL_NS_PER_S) /* a test that sleeps so long hangs */

struct work {
	uint32_t waiting;
	uint64_t due_ns;
	int event;
	uint32_t arms, disarms;
	uint32_t when_armed; /* comes with the arming */
};

static uint32_t
work_waiting(void *arg)
{
	return ((struct work *)arg)->waiting;
}

static uint64_t
work_due(void *arg)
{
	return ((struct work *)arg)->due_ns;
}

static int
work_arm(void *arg)
{
	struct work *work = arg;

	work->arms++;
	work->waiting += work->when_armed;
	return work->event;
}

static void
work_disarm(void *arg)
{
	((struct work *)arg)->disarms++;
}

static struct lull_queue_source
source_of(struct work *work)
{
	return (struct lull_queue_source){
		.name = "work",
		.arg = work,
		.waiting = work_waiting,
		.due_ns = work_due,
		.arm = work_arm,
		.disarm = work_disarm,
	};
}

TEST(busy__holds_for_one_question)
{
	uint64_t due_ns = 1;

	assert_int_equal(lull_queue_sources_ask(&due_ns), 0);
	assert_int_equal(due_ns, 0);
	lull_busy();
	lull_busy();
	assert_int_equal(lull_queue_sources_ask(&due_ns), 1);
	assert_int_equal(lull_queue_sources_ask(&due_ns), 0);
}

TEST(sources__add_up_and_the_first_is_due)
{
	struct work works[] = { { .waiting = 3, .due_ns = 70 },
				{ .waiting = 4, .due_ns = 0 },
				{ .waiting = 0, .due_ns = 50 } };
	struct lull_queue_source sources[3];
	uint64_t due_ns;

	for (int i = 0; i < 3; i++) {
		sources[i] = source_of(&works[i]);
		assert_int_equal(lull_queue_source_add(&sources[i]), 0);
	}
	assert_int_equal(lull_queue_sources_ask(&due_ns), 7);
	assert_int_equal(due_ns, 50);
	lull_busy();
	works[0].waiting = UINT32_MAX;
	assert_int_equal(lull_queue_sources_ask(&due_ns), UINT32_MAX); /* and not 0 */
	lull_queue_source_remove(&sources[0]);
	lull_queue_source_remove(&sources[0]);
	lull_queue_source_remove(&sources[2]);
	assert_int_equal(lull_queue_sources_ask(&due_ns), 4);
	assert_int_equal(due_ns, 0);
	lull_queue_source_remove(&sources[1]);
	assert_int_equal(lull_queue_sources_ask(&due_ns), 0);
}

TEST(sources__refuses_what_cannot_be)
{
	struct lull_queue_source sources[LULL_QUEUE_SOURCES_MAX + 1];
	struct lull_queue_source none = { .name = "none", .arm = work_arm };
	struct work work = { .waiting = 1 };
	uint64_t due_ns;
	int i;

	assert_int_equal(lull_queue_source_add(NULL), -EINVAL);
	assert_int_equal(lull_queue_source_add(&none), -EINVAL);
	for (i = 0; i < LULL_QUEUE_SOURCES_MAX; i++) {
		sources[i] = source_of(&work);
		assert_int_equal(lull_queue_source_add(&sources[i]), 0);
	}
	sources[i] = source_of(&work);
	assert_int_equal(lull_queue_source_add(&sources[i]), -ENOSPC);
	assert_int_equal(lull_queue_source_add(&sources[0]), -EEXIST);
	assert_int_equal(lull_queue_sources_ask(&due_ns), LULL_QUEUE_SOURCES_MAX);
	for (i = 0; i < LULL_QUEUE_SOURCES_MAX; i++)
		lull_queue_source_remove(&sources[i]);
}

static void *
ask_elsewhere(void *waiting)
{
	uint64_t due_ns;

	*(uint32_t *)waiting = lull_queue_sources_ask(&due_ns);
	return NULL;
}

TEST(sources__are_of_one_thread)
{
	struct work work = { .waiting = 5 };
	struct lull_queue_source source = source_of(&work);
	uint32_t waiting = 9;
	uint64_t due_ns;
	pthread_t thread;

	assert_int_equal(lull_queue_source_add(&source), 0);
	lull_busy();
	assert_int_equal(pthread_create(&thread, NULL, ask_elsewhere, &waiting), 0);
	pthread_join(thread, NULL);
	assert_int_equal(waiting, 0);
	assert_int_equal(lull_queue_sources_ask(&due_ns), 6);
	lull_queue_source_remove(&source);
}

static void *
write_soon(void *event)
{
	usleep(20000);
	eventfd_write(*(int *)event, 1);
	return NULL;
}

TEST(sleep__ends_by_an_armed_source)
{
	struct work work = { .event = eventfd(0, EFD_NONBLOCK) };
	struct lull_queue_source source = source_of(&work);
	pthread_t thread;

	assert_int_equal(lull_queue_source_add(&source), 0);
	assert_int_equal(pthread_create(&thread, NULL, write_soon, &work.event), 0);
	assert_int_equal(lull_queue_sources_sleep(LONG_NS), LULL_WAKE_PACKET);
	pthread_join(thread, NULL);
	assert_int_equal(work.arms, 1);
	assert_int_equal(work.disarms, 1);
	lull_queue_source_remove(&source);
	close(work.event);
}

TEST(sleep__does_not_begin_when_work_came_before_the_arming)
{
	struct work work = { .event = eventfd(0, EFD_NONBLOCK), .when_armed = 1 };
	struct lull_queue_source source = source_of(&work);

	assert_int_equal(lull_queue_source_add(&source), 0);
	assert_int_equal(lull_queue_sources_sleep(LONG_NS), LULL_WAKE_KICK);
	assert_int_equal(work.disarms, 1);
	lull_queue_source_remove(&source);
	close(work.event);
}

TEST(sleep__without_a_descriptor_ends_by_its_timer)
{
	struct work work = { .event = -1 };
	struct lull_queue_source source = source_of(&work);
	uint64_t begin_ns = lull_clock_ns();

	assert_int_equal(lull_queue_sources_sleep(LULL_NS_PER_MS), LULL_WAKE_TIMER);
	assert_int_equal(lull_queue_source_add(&source), 0);
	assert_int_equal(lull_queue_sources_sleep(LULL_NS_PER_MS), LULL_WAKE_TIMER);
	assert_true(lull_clock_ns() - begin_ns >= 2 * LULL_NS_PER_MS);
	assert_int_equal(work.arms, 1);
	assert_int_equal(work.disarms, 1);
	lull_queue_source_remove(&source);
}

static uint64_t
rests_of_iterations(struct lull_idle *idle, struct work *work, uint64_t due_in_ns)
{
	uint64_t before = lull_idle_counters(idle)->rests[LULL_IDLE_SLEEP];

	for (int i = 0; i < 10; i++) {
		if (due_in_ns > 0)
			work->due_ns = lull_clock_ns() + due_in_ns;
		lull_idle_iterate(idle, lull_clock_ns(), 0);
	}
	work->due_ns = 0;
	return lull_idle_counters(idle)->rests[LULL_IDLE_SLEEP] - before;
}

TEST(iteration__obeys_them)
{
	struct lull_idle_limits limits = { .rest_ns = 30 * LULL_NS_PER_MS,
					   .rest_ns_max = 30 * LULL_NS_PER_MS };
	struct work work = { .event = -1 };
	struct lull_queue_source source = source_of(&work);
	struct lull_idle *idle;
	uint64_t asked_ns;

	assert_int_equal(lull_idle_create("fixed", &limits, &idle), 0);
	assert_int_equal(lull_queue_source_add(&source), 0);
	work.waiting = 1;
	assert_int_equal(rests_of_iterations(idle, &work, 0), 0);
	work.waiting = 0;
	/* A duty in 5 s cuts no rest of 30 ms, one in 10 ms cuts it. */
	assert_int_equal(rests_of_iterations(idle, &work, 5 * LULL_NS_PER_S), 10);
	asked_ns = lull_idle_counters(idle)->rest_requested_ns;
	assert_int_equal(asked_ns, 300 * LULL_NS_PER_MS);
	rests_of_iterations(idle, &work, 10 * LULL_NS_PER_MS);
	assert_true(lull_idle_counters(idle)->rest_requested_ns - asked_ns <= 100 * LULL_NS_PER_MS);
	lull_busy();
	lull_idle_iterate(idle, lull_clock_ns(), 0);
	lull_queue_source_remove(&source);
	lull_idle_destroy(idle);
}
