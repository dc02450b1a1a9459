/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stand: what engine tests share. EAL starts once per process, without
 * hugepages and NIC, with the main lcore and STAND_LOOPS workers on whatever
 * CPUs there are. Nothing waits for a time, only for conditions, up to
 * STAND_PATIENCE_NS.
 */
#ifndef LULL_ENGINE_STAND_H
#define LULL_ENGINE_STAND_H

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <lull/engine.h>

#include "case.h"

#define STAND_LOOPS 3
#define STAND_PATIENCE_NS (20 * LULL_NS_PER_S)

/** Wait for @p condition, giving other threads the CPU; fails the test when it never comes. */
#define STAND_WAIT(condition)                                                                      \
	do {                                                                                       \
		uint64_t stand_end_ns = lull_clock_ns() + STAND_PATIENCE_NS;                       \
		while (!(condition)) {                                                             \
			if (lull_clock_ns() > stand_end_ns)                                        \
				fail_msg("waited in vain for %s", #condition);                     \
			sched_yield();                                                             \
		}                                                                                  \
	} while (0)

/** cmocka group setup: start EAL. Devices: @p vdevs, NULL at the end. */
int stand_start(const char *const *vdevs);
/** The same with @p loop_count workers, more than CPUs perhaps, and more memory. */
int stand_start_many(const char *const *vdevs, int loop_count);
int stand_stop(void **state);
/** cmocka group setup without devices. */
int stand_setup(void **state);

/** A pair of ring ports: the test is at @p near, loops are at @p far. */
void stand_pair(const char *name, uint16_t queues, uint16_t ring_pkts, struct lull_port *near,
		struct lull_port *far);

/** Create and start, or fail the test. */
struct lull_loop *stand_run(const struct lull_loop_config *config);

/** Limits as good as none, so that a governor alone decides. */
struct lull_idle_limits stand_limits(void);

/** One queue of @p port, spinning, forwarding back to the same port. */
struct lull_loop_config stand_loop(const char *name, unsigned int lcore_id,
				   const struct lull_port *port,
				   struct lull_forward_config *forward);

/** Frames numbered by the test: Ethernet header, then the number. */
struct rte_mbuf *stand_frame(struct rte_mempool *pool, uint32_t number);
/** Its number; checks that the addresses are as sent, or swapped when @p swapped; frees it. */
uint32_t stand_take(struct rte_mbuf *pkt, bool swapped);
/** The one pool of the process. */
struct rte_mempool *stand_pool(void);

#endif
