/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop with more to do than to receive: it rests only when its jobs are done.
 *
 *     cc busy.c $(pkg-config --cflags --libs lull) -o busy && ./busy
 */
#include <stdio.h>

#include <lull/rest.h>

static uint32_t jobs; /* in a program it is a ring, an event or a crypto device */

static uint32_t
jobs_waiting(void *arg)
{
	return *(uint32_t *)arg;
}

int
main(void)
{
	struct lull_queue_source source = { .name = "jobs", .arg = &jobs, .waiting = jobs_waiting };
	const struct lull_idle_counters *counters;
	struct lull_idle *idle;
	int iteration;

	/* In a program that rests by the plugin the second call is enough. */
	if (lull_idle_create("fixed", NULL, &idle) != 0 || lull_queue_source_add(&source) != 0)
		return 1;
	for (iteration = 0; iteration < 1000; iteration++) {
		uint64_t now_ns = lull_clock_ns();

		if (iteration % 100 == 0)
			jobs = 40;
		else if (jobs > 0)
			jobs--;
		if (iteration % 100 >= 90)
			lull_busy(); /* there is something to do that no source knows of */
		lull_idle_iterate(idle, now_ns, 0);
	}
	counters = lull_idle_counters(idle);
	printf("%d iterations, %llu empty\n", iteration,
	       (unsigned long long)counters->iterations_empty);
	printf("%llu rests\n", (unsigned long long)counters->rests[LULL_IDLE_SLEEP]);
	/* Jobs in 40 iterations of 100, something else in 10. */
	return counters->rests[LULL_IDLE_SLEEP] == 500 ? 0 : 1;
}
