/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A polling loop on an eventfd that rests by lull instead of spinning.
 *
 *     cc epoll-loop.c $(pkg-config --cflags --libs lull) -o epoll-loop && ./epoll-loop
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <lull/rest.h>

#define EVENTS 2000

static void *
produce(void *fd)
{
	for (int i = 0; i < EVENTS; i++) {
		eventfd_write(*(int *)fd, 1);
		usleep(200);
	}
	return NULL;
}

int
main(void)
{
	struct lull_idle_limits limits = { .latency_ns = 300000,
					   .envelope = LULL_ENVELOPE_LEARNED };
	struct epoll_event ready = { .events = EPOLLIN };
	int events = eventfd(0, EFD_NONBLOCK), poller = epoll_create1(0);
	struct lull_rest_thread_config class = { .latency_ns = limits.latency_ns };
	struct lull_rest_thread *thread;
	struct lull_idle *idle;
	uint64_t seen = 0;
	pthread_t producer;

	/* Where the user may have a real-time class, the loop wakes in time beside other work. */
	if (lull_idle_create("objective", &limits, &idle) != 0 ||
	    lull_rest_thread_create(idle, &class, &thread) != 0 ||
	    lull_rest_thread_enter(thread, 0) != 0 ||
	    epoll_ctl(poller, EPOLL_CTL_ADD, events, &ready) != 0 ||
	    pthread_create(&producer, NULL, produce, &events) != 0)
		return 1;
	while (seen < EVENTS) {
		uint64_t now_ns = lull_clock_ns();
		eventfd_t count = 0;

		if (epoll_wait(poller, &ready, 1, 0) == 1 && eventfd_read(events, &count) == 0)
			seen += count;
		lull_idle_iterate(idle, now_ns, (uint16_t)count);
	}
	lull_rest_thread_destroy(thread);
	pthread_join(producer, NULL);
	printf("%llu events, at rest %u %% of the time, p99 added wait below %llu us\n",
	       (unsigned long long)seen,
	       (unsigned int)(100 - lull_idle_usage_ppm(lull_idle_counters(idle)) / 10000),
	       (unsigned long long)lull_histogram_quantile(lull_idle_wait_histogram(idle), 990000) /
		       1000);
	/* Rested, and lost nothing. */
	return seen == EVENTS && lull_idle_counters(idle)->rest_ns > 0 ? 0 : 1;
}
