/* SPDX-License-Identifier: BSD-3-Clause */
#include <time.h>

#include <lull/rest.h>

#include "loop.h"

/* Reading the CPU clock is a system call: it would cost more than a short rest. */
#define MEASURE_EVERY 64

const struct lull_rest_way *const lull_loop_ways[] = { &lull_rest_pause, &lull_rest_sleep_timer,
						       NULL };
const struct lull_rest_way *const lull_rest_ways[LULL_IDLE_STATE_COUNT] = {
	[LULL_IDLE_PAUSE] = &lull_rest_pause,
	[LULL_IDLE_SLEEP] = &lull_rest_sleep_timer,
};

static _Thread_local uint32_t rest_count;

static uint64_t
rest_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * LULL_NS_PER_S + (uint64_t)used.tv_nsec;
}

void
lull_rest_run(const struct lull_rest_way *way, void *context, const struct lull_rest *rest,
	      struct lull_wake *wake)
{
	bool measured = rest_count++ % MEASURE_EVERY == 0;
	uint64_t cpu_begin_ns = measured ? rest_cpu_ns() : 0;

	wake->rest = *rest;
	wake->packet_ns = 0;
	wake->begin_ns = lull_clock_ns();
	if (rest->watch && way->watch != NULL)
		wake->reason = way->watch(context, rest->limit_ns, &wake->packet_ns);
	else
		wake->reason = way->run(context, rest->limit_ns);
	wake->end_ns = lull_clock_ns();
	/* 0 means "not measured", so a rest that costs nothing counts as 1 ns. */
	wake->cpu_ns = measured ? LULL_MAX(rest_cpu_ns() - cpu_begin_ns, 1) : 0;
}
