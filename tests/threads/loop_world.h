/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loop world: a loop over a pretended source, each third of whose poll iterations fetches a packet.
 */
#ifndef LULL_TEST_LOOP_WORLD_H
#define LULL_TEST_LOOP_WORLD_H

#include <pthread.h>
#include <unistd.h>

#include "case.h"
#include "loop.h"

#define LOST_PKTS 7
#define WAIT_STEPS 20000 /* of 1 ms: the machine may be busy */
#define WAIT_FOR(condition)                                                                        \
	do {                                                                                       \
		int steps = 0;                                                                     \
                                                                                                   \
		while (!(condition)) {                                                             \
			if (steps++ == WAIT_STEPS)                                                 \
				fail_msg("in vain: %s", #condition);                               \
			usleep(1000);                                                              \
		}                                                                                  \
	} while (0)

struct world {
	struct lull_loop loop;
	pthread_t thread;
	uint64_t iterations;
	struct counters {
		uint64_t commands, marks;
	} counters;
	uint64_t last_command;
	uint32_t begun, ended, kicks, audits;
	bool losing;
};

extern struct world *world;
extern struct lull_loop *loops[1]; /* that of the world */
extern const struct lull_counter_info world_counters[];

/** Fixtures of a group. */
int world_open(void **state);
int world_close(void **state);

#endif
