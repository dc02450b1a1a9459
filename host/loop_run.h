/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loop run: the poll iteration, inline in whoever owns a thread.
 *
 * @p source is a constant there, so that receiving is part of the iteration and no call.
 */
#ifndef LULL_HOST_LOOP_RUN_H
#define LULL_HOST_LOOP_RUN_H

#include <lull/rest.h>

#include "loop.h"

/* Returns the clock for the next iteration. */
static inline __attribute__((always_inline)) uint64_t
lull_loop_iterate(struct lull_loop *loop, const struct lull_loop_source *source, uint64_t now_ns)
{
	struct lull_iteration iteration = {
		.now_ns = now_ns,
		.queue_pkts = loop->queue_pkts,
		.queue_count = loop->queue_count,
	};
	struct lull_rest rest;

	if (lull_mailbox_peek(&loop->mailbox) != NULL)
		lull_loop_read_mailbox(loop, now_ns);
	source->receive(loop, &iteration);
	iteration.deadline_ns = loop->stage->iterate(loop->stage_state, now_ns);
	rest = lull_idle_plan(loop->idle, &iteration);
	/* Not before: the plan tells whether the last rest may have lost something. */
	if (now_ns >= loop->housekeeping_ns)
		lull_loop_housekeeping(loop, now_ns);
	if (loop->trace != NULL)
		loop->trace(loop->trace_arg, &iteration, &rest, NULL);
	if (rest.idle_state == LULL_IDLE_NONE)
		return lull_clock_ns();
	return lull_loop_rest(loop, &iteration, &rest);
}

/** Until lull_loop_end(). The thread's main function calls it; @p source is the loop's. */
static inline __attribute__((always_inline)) void
lull_loop_run(struct lull_loop *loop, const struct lull_loop_source *source)
{
	uint64_t now_ns = lull_loop_begin(loop);

	while (!__atomic_load_n(&loop->stop, __ATOMIC_RELAXED))
		now_ns = lull_loop_iterate(loop, source, now_ns);
	lull_loop_finish(loop, now_ns);
}

#endif
