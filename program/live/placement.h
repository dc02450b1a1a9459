/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Placement: which CPU each loop runs on, and which the rest of the program.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_LIVE_PLACEMENT_H
#define LULL_LIVE_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/engine.h>

#include "program/cpus.h"

struct lull_placement {
	uint32_t count;
	int cpus[LULL_LOOPS_MAX]; /**< of the loops, in the order of lcores */
	int rest;                 /**< of all else */
};

/** CPUs this process may use, or those in @p wanted if it names any; returns how many. */
uint32_t lull_placement_cpus(const struct lull_cpu_list *wanted, int *cpus);
/** Choose the rest: it wants little, but not from a loop. The first CPU without one. */
void lull_placement_rest(struct lull_placement *placement);
/** The first CPU that two loops share; -1: none. */
int lull_placement_shared(const struct lull_placement *placement);

#endif
