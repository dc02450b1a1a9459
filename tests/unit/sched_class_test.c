/* SPDX-License-Identifier: BSD-3-Clause */
/* host/sched_class.c with system calls that refuse, and a clock that the test moves on. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lull/rest.h>

#include "case.h"
#include "sched_class.h"
#include "sched_kernel.h"

#define MS LULL_NS_PER_MS

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

static uint64_t clock_ns;

static int
scene_set_up(void **state)
{
	(void)state;
	sched_kernel_init();
	sched_class_use(&sched_kernel_calls);
	clock_ns = lull_clock_ns() + 1;
	return 0;
}

static int
scene_tear_down(void **state)
{
	(void)state;
	sched_class_use(NULL);
	return 0;
}

static uint32_t
now_class(int i)
{
	return kernel.threads[i].attributes.policy;
}

static struct lull_rest_thread *
scene_enter(int i, enum lull_sched_policy policy, uint64_t latency_us)
{
	const struct lull_rest_thread_config config = { .policy = policy,
							.latency_ns = latency_us * 1000,
							.rests = &kernel.threads[i].rests };
	struct lull_rest_thread *thread;

	assert_int_equal(lull_rest_thread_create(NULL, &config, &thread), 0);
	assert_int_equal(lull_rest_thread_enter(thread, TID + i), 0);
	return thread;
}

/* Looks of 4 ms in which thread @p i rests, or spins. */
static void
scene_pass(int i, uint64_t ms, bool rests)
{
	for (uint64_t end_ns = clock_ns + ms * MS; clock_ns < end_ns;) {
		clock_ns += 4 * MS;
		for (int other = 0; other < THREADS; other++) {
			kernel.threads[other].rests += other != i || rests ? 10 : 0;
			kernel.threads[other].cpu_ns += other != i || rests ? MS / 4 : 4 * MS;
		}
		sched_class_sample(clock_ns);
	}
}

static struct lull_rest_thread_info
info_of(const struct lull_rest_thread *thread)
{
	struct lull_rest_thread_info info;

	lull_rest_thread_info(thread, &info);
	return info;
}

TEST_WITH(create__refuses_nonsense, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread_config config = { .policy = LULL_SCHED_AUTO };
	struct lull_rest_thread *thread;

	assert_int_equal(lull_rest_thread_create(NULL, &config, &thread), -EINVAL);
	config.rests = &kernel.threads[0].rests;
	config.policy = LULL_SCHED_POLICY_COUNT;
	assert_int_equal(lull_rest_thread_create(NULL, &config, &thread), -EINVAL);
}

TEST_WITH(enter__rests_and_gets_the_class_and_gives_it_back, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread = scene_enter(0, LULL_SCHED_AUTO, 200);

	assert_int_equal(now_class(0), SCHED_OTHER);
	assert_int_equal(kernel.watch_priority, SCHED_WATCH_PRIORITY);
	scene_pass(0, 20, true);
	assert_int_equal(now_class(0), SCHED_FIFO);
	assert_int_equal(kernel.threads[0].attributes.flags & 1, 1);
	assert_int_equal(info_of(thread).changes, 1);
	assert_string_equal(info_of(thread).class_name, "fifo");
	assert_int_equal(lull_rest_thread_enter(thread, TID), -EALREADY);
	lull_rest_thread_leave(thread);
	assert_int_equal(now_class(0), SCHED_OTHER);
	assert_int_equal(kernel.threads[0].attributes.nice, 5);
	assert_int_equal(kernel.threads[0].attributes.flags, 0);
	assert_int_equal(kernel.watch_priority, 0);
	assert_string_equal(info_of(thread).class_name, "fifo");
	lull_rest_thread_destroy(thread);
}

TEST_WITH(enter__nobody_watches_who_is_left_as_it_is, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread = scene_enter(0, LULL_SCHED_OTHER, 200);

	scene_pass(0, 100, true);
	assert_int_equal(kernel.starts, 0);
	assert_int_equal(kernel.sets, 0);
	lull_rest_thread_destroy(thread);
	assert_int_equal(kernel.sets, 0);
}

TEST_WITH(enter__no_such_thread, scene_set_up, scene_tear_down)
{
	const struct lull_rest_thread_config config = { .rests = &kernel.threads[0].rests };
	struct lull_rest_thread *thread;

	assert_int_equal(lull_rest_thread_create(NULL, &config, &thread), 0);
	assert_int_equal(lull_rest_thread_enter(thread, TID + THREADS), -ESRCH);
	assert_int_equal(kernel.starts, 0);
	lull_rest_thread_destroy(thread);
}

TEST_WITH(enter__without_rights_stays_ordinary_and_says_why, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread;
	char text[256];

	kernel.priority_max = 0;
	thread = scene_enter(0, LULL_SCHED_AUTO, 200);
	scene_pass(0, 100, true);
	assert_int_equal(now_class(0), SCHED_OTHER);
	assert_int_equal(kernel.sets, 0);
	assert_int_equal(info_of(thread).refused, EPERM);
	lull_rest_thread_explain(thread, text, sizeof(text));
	assert_non_null(strstr(text, "CAP_SYS_NICE or LimitRTPRIO=10"));
	assert_non_null(strstr(text, "ordinary class"));
	/* Rights that come later are found with the next change. */
	kernel.priority_max = 99;
	lull_rest_thread_change(thread,
				&(struct lull_rest_thread_config){ .policy = LULL_SCHED_AUTO });
	scene_pass(0, 20, true);
	assert_int_equal(now_class(0), SCHED_FIFO);
	assert_int_equal(info_of(thread).refused, 0);
	lull_rest_thread_destroy(thread);
}

TEST_WITH(enter__stays_below_the_watch_whatever_the_limit, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread;

	kernel.priority_max = kernel.limit = 3;
	thread = scene_enter(0, LULL_SCHED_FIFO, 50);
	scene_pass(0, 20, true);
	assert_int_equal(kernel.watch_priority, 3);
	assert_int_equal(now_class(0), SCHED_FIFO);
	assert_int_equal(kernel.threads[0].attributes.priority, 2);
	lull_rest_thread_destroy(thread);
	/* There is nothing below 1. */
	kernel.priority_max = kernel.limit = 1;
	thread = scene_enter(0, LULL_SCHED_FIFO, 50);
	assert_int_equal(info_of(thread).refused, EPERM);
	assert_int_equal(kernel.watch_priority, 0);
	lull_rest_thread_destroy(thread);
}

TEST_WITH(enter__the_shorter_the_objective_the_higher, scene_set_up, scene_tear_down)
{
	static const struct {
		uint64_t latency_us;
		uint32_t priority;
	} rows[] = { { 0, 4 },   { 20, 6 },  { 50, 6 },   { 100, 5 },    { 200, 4 },
		     { 500, 3 }, { 999, 2 }, { 1001, 1 }, { 1000000, 1 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lull_rest_thread *thread =
			scene_enter(0, LULL_SCHED_FIFO, rows[i].latency_us);

		clock_ns = lull_clock_ns() + 1;
		scene_pass(0, 20, true);
		assert_int_equal(kernel.threads[0].attributes.priority, rows[i].priority);
		assert_true(rows[i].priority < SCHED_WATCH_PRIORITY);
		lull_rest_thread_destroy(thread);
	}
}

TEST_WITH(look__who_stops_resting_is_put_out_the_others_are_not, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *threads[THREADS];
	uint32_t looks = 0;

	for (int i = 0; i < THREADS; i++)
		threads[i] = scene_enter(i, LULL_SCHED_AUTO, 200);
	scene_pass(-1, 20, true);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(now_class(i), SCHED_FIFO);
	for (; now_class(1) == SCHED_FIFO; looks++)
		scene_pass(1, 4, false);
	assert_in_range(looks, 1, 2);
	assert_int_equal(now_class(0), SCHED_FIFO);
	assert_int_equal(now_class(2), SCHED_FIFO);
	assert_int_equal(info_of(threads[1]).forced, 1);
	assert_int_equal(info_of(threads[1]).changes, 2);
	assert_int_equal(info_of(threads[0]).forced, 0);
	/* And comes back. */
	scene_pass(-1, 300, true);
	assert_int_equal(now_class(1), SCHED_FIFO);
	for (int i = 0; i < THREADS; i++)
		lull_rest_thread_destroy(threads[i]);
	assert_int_equal(kernel.starts, 1);
	assert_int_equal(kernel.stops, 1);
}

TEST_WITH(look__comes_often_only_while_somebody_is_inside, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread = scene_enter(0, LULL_SCHED_AUTO, 200);

	scene_pass(0, 600, false);
	kernel.looks = 0;
	scene_pass(0, 1000, false);
	assert_in_range(kernel.looks, 18, 21);
	scene_pass(0, 200, true);
	assert_int_equal(now_class(0), SCHED_FIFO);
	kernel.looks = 0;
	scene_pass(0, 1000, true);
	assert_in_range(kernel.looks, 245, 255);
	lull_rest_thread_destroy(thread);
	assert_true(sched_class_sample(clock_ns) >= LULL_NS_PER_S / 2);
}

TEST_WITH(look__leaves_alone_what_has_ended, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread = scene_enter(0, LULL_SCHED_AUTO, 200);
	uint32_t sets;

	scene_pass(0, 20, true);
	/* Its number is another thread's now, which has used less. */
	kernel.threads[0].cpu_ns = 1000;
	sets = kernel.sets;
	sched_class_sample(clock_ns += 4 * MS);
	lull_rest_thread_change(thread,
				&(struct lull_rest_thread_config){ .policy = LULL_SCHED_OTHER });
	lull_rest_thread_leave(thread);
	assert_int_equal(kernel.sets, sets);
	assert_int_equal(kernel.watch_priority, 0);
	lull_rest_thread_destroy(thread);
}

TEST_WITH(leave__touches_no_thread_that_has_the_number_by_now, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread = scene_enter(0, LULL_SCHED_AUTO, 200);
	uint32_t sets;

	scene_pass(0, 20, true);
	kernel.threads[0].cpu_ns = 1000;
	sets = kernel.sets;
	lull_rest_thread_destroy(thread);
	assert_int_equal(kernel.sets, sets);
}

TEST_WITH(leave__who_may_not_undo_the_reset_keeps_it, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread;

	kernel.sticky = true;
	thread = scene_enter(0, LULL_SCHED_AUTO, 200);
	scene_pass(0, 20, true);
	assert_int_equal(now_class(0), SCHED_FIFO);
	lull_rest_thread_destroy(thread);
	assert_int_equal(now_class(0), SCHED_OTHER);
	assert_int_equal(kernel.threads[0].attributes.nice, 5);
}

TEST_WITH(enter__a_class_from_outside_is_watched_and_given_back, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread;

	kernel.threads[0].attributes.policy = SCHED_RR;
	kernel.threads[0].attributes.priority = 42;
	thread = scene_enter(0, LULL_SCHED_AUTO, 200);
	assert_int_equal(now_class(0), SCHED_FIFO);
	assert_int_equal(kernel.threads[0].attributes.priority, 4);
	scene_pass(0, 8, false);
	assert_int_equal(now_class(0), SCHED_OTHER);
	lull_rest_thread_destroy(thread);
	assert_int_equal(now_class(0), SCHED_RR);
	assert_int_equal(kernel.threads[0].attributes.priority, 42);
}

TEST_WITH(change__takes_effect_at_once, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread = scene_enter(0, LULL_SCHED_AUTO, 200);

	scene_pass(0, 20, true);
	lull_rest_thread_change(thread, &(struct lull_rest_thread_config){
						.policy = LULL_SCHED_AUTO, .latency_ns = 50000 });
	assert_int_equal(kernel.threads[0].attributes.priority, 6);
	lull_rest_thread_change(thread,
				&(struct lull_rest_thread_config){ .policy = LULL_SCHED_OTHER });
	assert_int_equal(now_class(0), SCHED_OTHER);
	assert_int_equal(kernel.threads[0].attributes.flags, 0);
	assert_int_equal(kernel.watch_priority, 0);
	assert_int_equal(info_of(thread).changes, 2);
	assert_int_equal(info_of(thread).policy, LULL_SCHED_OTHER);
	lull_rest_thread_change(thread,
				&(struct lull_rest_thread_config){ .policy = LULL_SCHED_DEADLINE });
	clock_ns = lull_clock_ns() + 1;
	scene_pass(0, 20, true);
	assert_int_equal(now_class(0), SCHED_DEADLINE);
	lull_rest_thread_destroy(thread);
	assert_int_equal(now_class(0), SCHED_OTHER);
}

TEST_WITH(deadline__half_the_objective_and_what_the_load_needs, scene_set_up, scene_tear_down)
{
	const struct sched_attributes *now = &kernel.threads[0].attributes;
	struct lull_rest_thread *thread = scene_enter(0, LULL_SCHED_DEADLINE, 1000);

	scene_pass(0, 20, true);
	assert_int_equal(now->policy, SCHED_DEADLINE);
	assert_int_equal(now->period_ns, 500000);
	assert_int_equal(now->deadline_ns, 500000);
	assert_int_equal(now->runtime_ns, 250000);
	/* A sixteenth of the CPU, and half as much again, is less than a tenth. */
	scene_pass(0, 200, true);
	assert_int_equal(now->runtime_ns, 50000);
	lull_rest_thread_destroy(thread);
	thread = scene_enter(0, LULL_SCHED_DEADLINE, 50);
	clock_ns = lull_clock_ns() + 1;
	scene_pass(0, 20, true);
	assert_int_equal(now->period_ns, 100000);
	lull_rest_thread_destroy(thread);
}

TEST_WITH(deadline__refused_to_a_pinned_thread_says_so, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread;
	char text[256];

	kernel.set_rc[SCHED_DEADLINE] = -EPERM;
	thread = scene_enter(0, LULL_SCHED_DEADLINE, 200);
	scene_pass(0, 20, true);
	assert_int_equal(now_class(0), SCHED_OTHER);
	assert_int_equal(kernel.watch_priority, 0);
	lull_rest_thread_explain(thread, text, sizeof(text));
	assert_non_null(strstr(text, "outside an exclusive"));
	lull_rest_thread_destroy(thread);
	kernel.set_rc[SCHED_DEADLINE] = -EBUSY;
	thread = scene_enter(0, LULL_SCHED_DEADLINE, 200);
	lull_rest_thread_explain(thread, text, sizeof(text));
	assert_non_null(strstr(text, "no bandwidth left"));
	lull_rest_thread_destroy(thread);
}

TEST_WITH(look__a_class_that_is_refused_later_is_not_tried_again_and_again, scene_set_up,
	  scene_tear_down)
{
	struct lull_rest_thread *thread = scene_enter(0, LULL_SCHED_AUTO, 200);
	uint32_t sets;

	kernel.set_rc[SCHED_FIFO] = -EPERM;
	scene_pass(0, 20, true);
	sets = kernel.sets;
	scene_pass(0, 500, true);
	assert_int_equal(kernel.sets, sets);
	assert_int_equal(info_of(thread).refused, EPERM);
	assert_int_equal(info_of(thread).changes, 0);
	lull_rest_thread_destroy(thread);
}

TEST_WITH(fork__the_child_begins_anew, scene_set_up, scene_tear_down)
{
	struct lull_rest_thread *thread = scene_enter(0, LULL_SCHED_AUTO, 200);
	int status;
	pid_t child;

	scene_pass(0, 20, true);
	child = fork();
	if (child == 0) {
		uint32_t sets = kernel.sets, starts = kernel.starts;
		struct lull_rest_thread *own;

		lull_rest_thread_leave(thread);
		if (kernel.sets != sets || kernel.stops != 0)
			_exit(1);
		if (lull_rest_thread_enter(thread, TID + 2) != 0)
			_exit(3);
		lull_rest_thread_leave(thread);
		starts = kernel.starts;
		own = scene_enter(1, LULL_SCHED_AUTO, 200);
		_exit(kernel.starts == starts + 1 && own != NULL ? 0 : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(now_class(0), SCHED_FIFO);
	lull_rest_thread_destroy(thread);
}
