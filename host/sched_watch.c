/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched_watch.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <lull/rest.h>

#include "background.h"
#include "sched_class.h"

#define NAME "lull-class"

static struct {
	pthread_t thread;
	bool runs;
	bool stop;     /* atomic */
	uint32_t kick; /* futex word: changes when the next sample shall not wait */
	cpu_set_t cpus;
	bool cpus_known;
} watch;

/* Where the process may run before its program pins threads: the watch finds a free CPU there. */
__attribute__((constructor)) static void
watch_remember_cpus(void)
{
	watch.cpus_known = sched_getaffinity(0, sizeof(watch.cpus), &watch.cpus) == 0;
}

/*
 * Not a condition variable: its inner lock inherits no priority, and whoever signals it may be kept
 * from its CPU by the very loop that is to be looked at.
 */
static void
watch_wait(uint32_t seen, uint64_t ns)
{
	const struct timespec limit = { .tv_sec = (time_t)(ns / LULL_NS_PER_S),
					.tv_nsec = (long)(ns % LULL_NS_PER_S) };

	syscall(SYS_futex, &watch.kick, FUTEX_WAIT_PRIVATE, seen, &limit, NULL, 0);
}

static void *
watch_run(void *arg)
{
	(void)arg;
	lull_rest_thread_init();
	if (watch.cpus_known)
		(void)sched_setaffinity(0, sizeof(watch.cpus), &watch.cpus);
	while (!__atomic_load_n(&watch.stop, __ATOMIC_ACQUIRE)) {
		uint32_t seen = __atomic_load_n(&watch.kick, __ATOMIC_ACQUIRE);

		watch_wait(seen, sched_class_sample(lull_clock_ns()));
	}
	return NULL;
}

void
sched_watch_kick(void)
{
	__atomic_fetch_add(&watch.kick, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &watch.kick, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The class is asked for before the thread exists, so a refusal is known at once. */
static int
watch_attributes(pthread_attr_t *attr, int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	int rc = pthread_attr_init(attr);

	if (rc != 0)
		return -rc;
	pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
	rc = pthread_attr_setschedpolicy(attr, priority > 0 ? SCHED_FIFO : SCHED_OTHER);
	if (rc == 0)
		rc = pthread_attr_setschedparam(attr, &param);
	if (rc != 0)
		pthread_attr_destroy(attr);
	return -rc;
}

int
sched_watch_start(int priority)
{
	pthread_attr_t attr;
	int rc = watch_attributes(&attr, priority);

	if (rc != 0)
		return rc;
	__atomic_store_n(&watch.stop, false, __ATOMIC_RELEASE);
	rc = lull_background_start(&watch.thread, &attr, NAME, watch_run);
	pthread_attr_destroy(&attr);
	watch.runs = rc == 0;
	return rc;
}

void
sched_watch_stop(void)
{
	if (!watch.runs)
		return;
	__atomic_store_n(&watch.stop, true, __ATOMIC_RELEASE);
	sched_watch_kick();
	pthread_join(watch.thread, NULL);
	watch.runs = false;
}

void
sched_watch_forked(void)
{
	watch.runs = false;
}
