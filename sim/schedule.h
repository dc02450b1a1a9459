/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Schedule: whose turn is next, on which core.
 *
 * Threads take their turns in the order of virtual time. One alone on its core
 * runs whenever it is awake; several share it by the rules in cpu.h.
 */
#ifndef LULL_SIM_SCHEDULE_H
#define LULL_SIM_SCHEDULE_H

#include "queue.h"
#include "thread.h"

struct lull_sim_schedule {
	struct lull_sim_queue queue;
	uint32_t thread_count;
	struct lull_sim_thread *threads;
};

/** Every thread begins at its now_ns. */
void lull_sim_schedule_begin(struct lull_sim_schedule *schedule, struct lull_sim_thread *threads,
			     uint32_t count);
/** Take all iterations that begin before @p end_ns. 0 or -ENOMEM. */
int lull_sim_schedule_run(struct lull_sim_schedule *schedule, uint64_t end_ns);

#endif
