/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs whose threads come, go, take turns and are cancelled. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_debug.h>

#include "host.h"

static atomic_bool stop;

static void *
poll_shortly(void *arg)
{
	(void)arg;
	poll_for(2000000);
	return NULL;
}

/* Threads come and go; at times several poll the same queue, one after the other. */
void
churn(void)
{
	pthread_t thread;
	uint32_t i;

	port_open(0, 1);
	for (i = 0; i < 300; i++) {
		if (pthread_create(&thread, NULL, poll_shortly, NULL) != 0)
			rte_exit(1, "no thread\n");
		pthread_join(thread, NULL);
	}
}

/* Three queues, one of which always has packets. Returns how many it took. */
static void *
poll_one_busy(void *name)
{
	uint64_t end_ns = now_ns() + SECOND_NS, taken = 0;

	pthread_setname_np(pthread_self(), name);
	while (now_ns() < end_ns) {
		put(0, 8);
		taken += take(0, 0, BURST);
		take(1, 0, BURST);
		take(1, 1, BURST);
	}
	return (void *)(uintptr_t)taken;
}

/* A thread takes over the queues of one that has ended. */
void
successor(void)
{
	static char names[2][8] = { "first", "second" };
	pthread_t thread;
	void *taken = NULL;

	port_open(0, 1);
	port_open(1, 2);
	for (uint32_t i = 0; i < 2; i++) {
		if (pthread_create(&thread, NULL, poll_one_busy, names[i]) != 0)
			rte_exit(1, "no thread\n");
		pthread_join(thread, &taken);
	}
	printf("taken %ju\n", (uintmax_t)(uintptr_t)taken);
}

static pthread_mutex_t share_lock = PTHREAD_MUTEX_INITIALIZER;

static void *
poll_sharing(void *arg)
{
	(void)arg;
	while (!stop) {
		pthread_mutex_lock(&share_lock);
		take(0, 0, BURST);
		pthread_mutex_unlock(&share_lock);
	}
	return NULL;
}

/* Threads that take turns at one queue. */
void
sharing(void)
{
	pthread_t threads[2];
	uint32_t i;

	port_open(0, 1);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, poll_sharing, NULL);
	sleep(2);
	stop = true;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static atomic_bool inside;

static void *
poll_cancelled(void *arg)
{
	(void)arg;
	for (;;) {
		inside = true;
		take(0, 0, BURST);
		inside = false;
		pthread_testcancel();
	}
	return NULL;
}

/* A thread is cancelled where it means to be, not in the middle of a receive. */
void
cancel(void)
{
	uint32_t i, badly = 0;

	port_open(0, 1);
	for (i = 0; i < 50; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, poll_cancelled, NULL);
		usleep(20000);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		badly += inside;
	}
	printf("cancelled in a receive %u\n", badly);
}
