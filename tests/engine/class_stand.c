/* SPDX-License-Identifier: BSD-3-Clause */
#include "class_stand.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define REST_NS (200 * LULL_NS_PER_US)

int test_cpu;
cpu_set_t all_cpus;

void
pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((unsigned int)cpu, &cpus);
	assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus), 0);
}

static enum mood
loop_mood(struct loop *loop)
{
	return (enum mood)__atomic_load_n((int *)&loop->mood, __ATOMIC_ACQUIRE);
}

void
loop_set(struct loop *loop, enum mood mood)
{
	__atomic_store_n((int *)&loop->mood, (int)mood, __ATOMIC_RELEASE);
}

static void
loop_stop_resting(struct loop *loop)
{
	if (loop->stopped_ns == 0)
		__atomic_store_n(&loop->stopped_ns, lull_clock_ns(), __ATOMIC_RELEASE);
}

static void *
loop_run(void *arg)
{
	struct loop *loop = arg;
	enum mood mood;

	if (loop->cpu >= 0)
		pin(loop->cpu);
	else
		pthread_setaffinity_np(pthread_self(), sizeof(all_cpus), &all_cpus);
	lull_rest_thread_init();
	lull_rest_thread_enter(loop->class, 0);
	__atomic_store_n(&loop->tid, gettid(), __ATOMIC_RELEASE);
	while ((mood = loop_mood(loop)) != ENDING) {
		LULL_COUNTER_ADD(loop->iterations, 1);
		if (mood == RESTING) {
			__atomic_store_n(&loop->stopped_ns, 0, __ATOMIC_RELEASE);
			lull_idle_iterate(loop->idle, lull_clock_ns(), 0);
			continue;
		}
		loop_stop_resting(loop);
		if (mood == LOCKING) {
			pthread_spin_lock(loop->lock);
			pthread_spin_unlock(loop->lock);
		}
	}
	lull_rest_thread_leave(loop->class);
	return NULL;
}

void
loop_begin(struct loop *loop)
{
	const struct lull_idle_limits limits = { .rest_ns = REST_NS };
	const struct lull_rest_thread_config config = { .policy = loop->policy,
							.latency_ns = loop->latency_ns };

	assert_int_equal(lull_idle_create("fixed", &limits, &loop->idle), 0);
	assert_int_equal(lull_rest_thread_create(loop->idle, &config, &loop->class), 0);
	assert_int_equal(pthread_create(&loop->thread, NULL, loop_run, loop), 0);
	WAIT(__atomic_load_n(&loop->tid, __ATOMIC_ACQUIRE) != 0);
}

void
loop_end(struct loop *loop)
{
	loop_set(loop, ENDING);
	pthread_join(loop->thread, NULL);
	lull_rest_thread_destroy(loop->class);
	lull_idle_destroy(loop->idle);
}

bool
loop_inside(const struct loop *loop)
{
	return (sched_getscheduler(loop->tid) & ~SCHED_RESET_ON_FORK) != SCHED_OTHER;
}

/* An ordinary process that wants the whole CPU, as ksoftirqd does when packets come in masses. */
pid_t
hog_begin(void)
{
	pid_t child = fork();

	if (child == 0) {
		pin(test_cpu);
		alarm(60);
		for (;;)
			;
	}
	assert_true(child > 0);
	return child;
}

void
hog_end(pid_t hog)
{
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
}

/* CPU time of another process, in ns. */
uint64_t
hog_cpu_ns(pid_t hog)
{
	struct timespec used;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(hog, &clock), 0);
	assert_int_equal(clock_gettime(clock, &used), 0);
	return (uint64_t)used.tv_sec * LULL_NS_PER_S + (uint64_t)used.tv_nsec;
}

bool
may_have_class(void)
{
	struct loop loop = { .cpu = -1, .policy = LULL_SCHED_FIFO };
	struct lull_rest_thread_info info;

	loop_begin(&loop);
	lull_rest_thread_info(loop.class, &info);
	loop_end(&loop);
	return info.refused == 0;
}
