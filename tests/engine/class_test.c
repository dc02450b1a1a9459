/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of this process in real-time classes of this machine: they get them, and whatever they do
 * then, everything else goes on. Only who may have such a class can be tested so; others skip.
 *
 * Times are those of a machine that others use too: what is to be done in 10 ms must be done in
 * most of several tries, and at any time in a few seconds.
 */
#include "class_stand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define SKIP 77
#define TRIES 7

TEST(fifo__a_loop_that_rests_has_it_and_gives_it_back)
{
	struct loop loop = { .cpu = test_cpu, .policy = LULL_SCHED_AUTO };
	struct lull_rest_thread_info info;
	char text[256];

	loop_begin(&loop);
	WAIT(loop_inside(&loop));
	assert_int_equal(sched_getscheduler(loop.tid), SCHED_FIFO | SCHED_RESET_ON_FORK);
	WAIT((lull_rest_thread_info(loop.class, &info), info.changes) > 0);
	assert_string_equal(info.class_name, "fifo");
	assert_int_equal(info.priority, 4);
	assert_non_null(strstr(lull_rest_thread_explain(loop.class, text, sizeof(text)),
			       "class fifo at priority 4"));
	lull_rest_thread_change(loop.class,
				&(struct lull_rest_thread_config){ .policy = LULL_SCHED_OTHER });
	assert_int_equal(sched_getscheduler(loop.tid), SCHED_OTHER);
	loop_end(&loop);
}

TEST(fifo__waits_less_beside_a_hog)
{
	struct loop loop = { .cpu = test_cpu, .policy = LULL_SCHED_OTHER };
	struct lull_rest_thread_info before, ordinary, real_time;
	const struct timespec second = { .tv_sec = 1 };
	pid_t hog = hog_begin();

	loop_begin(&loop);
	lull_rest_thread_info(loop.class, &before);
	nanosleep(&second, NULL);
	lull_rest_thread_info(loop.class, &ordinary);
	assert_string_equal(ordinary.class_name, "other");
	lull_rest_thread_change(loop.class,
				&(struct lull_rest_thread_config){ .policy = LULL_SCHED_FIFO });
	WAIT(loop_inside(&loop));
	lull_rest_thread_info(loop.class, &before);
	nanosleep(&second, NULL);
	lull_rest_thread_info(loop.class, &real_time);
	print_message("waited %llu us as fifo, %llu us before\n",
		      (unsigned long long)(real_time.run_wait_ns - before.run_wait_ns) / 1000,
		      (unsigned long long)ordinary.run_wait_ns / 1000);
	loop_end(&loop);
	hog_end(hog);
	assert_true(real_time.run_wait_ns >= before.run_wait_ns);
}

static int
compare_ns(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* How long until a loop that stops resting has left, the median of a few. */
static uint64_t
leave_ns(struct loop *loop, enum mood mood)
{
	uint64_t tries[TRIES];

	for (int i = 0; i < TRIES; i++) {
		uint64_t stopped_ns;

		loop_set(loop, RESTING);
		WAIT(loop_inside(loop));
		usleep(1000 * (unsigned int)i); /* not always right after a look */
		loop_set(loop, mood);
		while ((stopped_ns = __atomic_load_n(&loop->stopped_ns, __ATOMIC_ACQUIRE)) == 0)
			usleep(100);
		while (loop_inside(loop))
			usleep(100);
		tries[i] = lull_clock_ns() - stopped_ns;
		assert_true(tries[i] < PATIENCE_NS);
	}
	qsort(tries, TRIES, sizeof(tries[0]), compare_ns);
	print_message("left after %llu to %llu us\n", (unsigned long long)tries[0] / 1000,
		      (unsigned long long)tries[TRIES - 1] / 1000);
	return tries[TRIES / 2];
}

TEST(saturated__leaves_before_others_starve)
{
	struct loop loop = { .cpu = test_cpu, .policy = LULL_SCHED_FIFO };
	pid_t hog = hog_begin();
	uint64_t had_ns;

	loop_begin(&loop);
	assert_true(leave_ns(&loop, SPINNING) <= 10 * LULL_NS_PER_MS);
	/* Both are ordinary now: each gets its share. */
	had_ns = hog_cpu_ns(hog);
	WAIT(hog_cpu_ns(hog) > had_ns + 50 * LULL_NS_PER_MS);
	loop_end(&loop);
	hog_end(hog);
}

struct holder {
	pthread_t thread;
	pthread_spinlock_t lock;
	bool holds, stop;
	uint64_t held;
};

/* An ordinary thread on the CPU of the loop that works for long with the lock in its hand. */
static void *
holder_run(void *arg)
{
	struct holder *holder = arg;

	pin(test_cpu);
	while (!__atomic_load_n(&holder->stop, __ATOMIC_ACQUIRE)) {
		uint64_t begin_ns;

		pthread_spin_lock(&holder->lock);
		__atomic_store_n(&holder->holds, true, __ATOMIC_RELEASE);
		begin_ns = lull_thread_cpu_ns(gettid());
		while (lull_thread_cpu_ns(gettid()) - begin_ns < 3 * LULL_NS_PER_MS)
			;
		__atomic_store_n(&holder->holds, false, __ATOMIC_RELEASE);
		pthread_spin_unlock(&holder->lock);
		LULL_COUNTER_ADD(holder->held, 1);
		usleep(2000); /* so that the loop gets it, too */
	}
	return NULL;
}

TEST(lock__its_holder_runs_although_the_loop_spins_for_it)
{
	struct loop loop = { .cpu = test_cpu, .policy = LULL_SCHED_FIFO };
	struct holder holder = { .held = 0 };
	struct lull_rest_thread_info info;

	pthread_spin_init(&holder.lock, PTHREAD_PROCESS_PRIVATE);
	loop.lock = &holder.lock;
	loop_begin(&loop);
	WAIT(loop_inside(&loop));
	assert_int_equal(pthread_create(&holder.thread, NULL, holder_run, &holder), 0);
	for (int i = 0; i < 5; i++) {
		uint64_t held;

		loop_set(&loop, RESTING);
		WAIT(loop_inside(&loop));
		/* With the lock held, it wakes from a rest and wants the lock. */
		WAIT(__atomic_load_n(&holder.holds, __ATOMIC_ACQUIRE));
		loop_set(&loop, LOCKING);
		held = LULL_COUNTER_READ(holder.held);
		WAIT(LULL_COUNTER_READ(holder.held) > held + 3);
	}
	loop_set(&loop, RESTING);
	__atomic_store_n(&holder.stop, true, __ATOMIC_RELEASE);
	pthread_join(holder.thread, NULL);
	lull_rest_thread_info(loop.class, &info);
	print_message("put out %llu times\n", (unsigned long long)info.forced);
	loop_end(&loop);
	pthread_spin_destroy(&holder.lock);
}

TEST(second_loop__both_rest_and_neither_keeps_the_other_from_its_turns)
{
	struct loop one = { .cpu = test_cpu, .policy = LULL_SCHED_FIFO, .latency_ns = 50000 };
	struct loop two = { .cpu = test_cpu, .policy = LULL_SCHED_FIFO, .latency_ns = 1000000 };
	struct lull_rest_thread_info info_one, info_two;
	uint64_t iterations;

	loop_begin(&one);
	loop_begin(&two);
	WAIT(loop_inside(&one) && loop_inside(&two));
	lull_rest_thread_info(one.class, &info_one);
	lull_rest_thread_info(two.class, &info_two);
	assert_true(info_one.priority > info_two.priority);
	iterations = LULL_COUNTER_READ(two.iterations);
	WAIT(LULL_COUNTER_READ(two.iterations) > iterations + 500);
	/* The upper one saturates: the lower one goes on. */
	loop_set(&one, SPINNING);
	WAIT(!loop_inside(&one));
	iterations = LULL_COUNTER_READ(two.iterations);
	WAIT(LULL_COUNTER_READ(two.iterations) > iterations + 500);
	/* Both: whoever is ordinary on that CPU goes on. */
	loop_set(&two, SPINNING);
	WAIT(!loop_inside(&two));
	loop_end(&two);
	loop_end(&one);
}

TEST(spinning_governor__never_enters)
{
	struct loop loop = { .cpu = test_cpu, .policy = LULL_SCHED_FIFO, .mood = SPINNING };
	struct lull_rest_thread_info info;

	loop_begin(&loop);
	for (int i = 0; i < 300; i++) {
		assert_false(loop_inside(&loop));
		usleep(1000);
	}
	lull_rest_thread_info(loop.class, &info);
	assert_int_equal(info.changes, 0);
	loop_end(&loop);
}

TEST(deadline__is_had_or_its_refusal_is_told)
{
	struct loop pinned = { .cpu = test_cpu, .policy = LULL_SCHED_DEADLINE };
	struct loop free = { .cpu = -1, .policy = LULL_SCHED_DEADLINE };
	struct lull_rest_thread_info info;
	char text[256];

	loop_begin(&free);
	lull_rest_thread_info(free.class, &info);
	if (info.refused == 0) {
		WAIT(loop_inside(&free));
		WAIT((lull_rest_thread_info(free.class, &info), info.changes) > 0);
		assert_string_equal(info.class_name, "deadline");
		loop_set(&free, SPINNING);
		WAIT(!loop_inside(&free));
		loop_set(&free, RESTING);
		WAIT(loop_inside(&free));
	} else {
		print_message("refused: %s\n", strerror(info.refused));
	}
	loop_end(&free);
	loop_begin(&pinned);
	lull_rest_thread_info(pinned.class, &info);
	if (info.refused == EPERM)
		assert_non_null(strstr(lull_rest_thread_explain(pinned.class, text, sizeof(text)),
				       "exclusive cpuset"));
	loop_end(&pinned);
}

TEST(fork__the_child_is_ordinary_and_may_begin_anew)
{
	struct loop loop = { .cpu = test_cpu, .policy = LULL_SCHED_FIFO };
	int status;
	pid_t child;

	loop_begin(&loop);
	WAIT(loop_inside(&loop));
	child = fork();
	if (child == 0) {
		struct loop own = { .cpu = test_cpu, .policy = LULL_SCHED_FIFO };
		uint64_t begin_ns = lull_clock_ns();

		loop_begin(&own);
		while (!loop_inside(&own))
			if (lull_clock_ns() - begin_ns > PATIENCE_NS)
				_exit(1);
		loop_end(&own);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	loop_end(&loop);
}

TEST(thread__that_ends_without_a_word_is_forgotten)
{
	uint64_t rests = 0;
	struct lull_rest_thread_config config = { .policy = LULL_SCHED_FIFO, .rests = &rests };
	struct loop loop = { .cpu = -1, .policy = LULL_SCHED_FIFO };
	struct lull_rest_thread *class;

	assert_int_equal(lull_rest_thread_create(NULL, &config, &class), 0);
	loop_begin(&loop);
	assert_int_equal(lull_rest_thread_enter(class, loop.tid), 0);
	loop_end(&loop);
	/* Perhaps with the same number. */
	loop = (struct loop){ .cpu = -1, .policy = LULL_SCHED_FIFO };
	loop_begin(&loop);
	WAIT(loop_inside(&loop));
	lull_rest_thread_destroy(class);
	loop_end(&loop);
}

static int
choose_cpu(void **state)
{
	cpu_set_t cpus;

	(void)state;
	if (sched_getaffinity(0, sizeof(all_cpus), &all_cpus) != 0)
		return -1;
	cpus = all_cpus;
	if (!may_have_class()) {
		puts("skipped: needs the right to a real-time class");
		exit(SKIP);
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((unsigned int)cpu, &cpus))
			test_cpu = cpu;
	/* What looks on must be able to. */
	if (CPU_COUNT(&cpus) == 1)
		return 0;
	CPU_CLR((unsigned int)test_cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

TEST_GROUP(choose_cpu, NULL);
