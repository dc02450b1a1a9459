/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rest device: the queues a loop rests on, for the ways that need a device.
 *
 * Two ways end a rest when a packet comes: monitor (the core watches memory)
 * and interrupt (the thread waits for a file). Both are armed after the last
 * poll, so a packet may slip in between. lull_rest_device_recheck() closes the
 * gap: it looks once more after arming, and if looking means receiving, keeps
 * what it received for the loop's next iteration.
 *
 * Threads: one loop's; lull_rest_device_kick() from any.
 */
#ifndef LULL_REST_DEVICE_H
#define LULL_REST_DEVICE_H

#include <lull/engine.h>

struct lull_rest_device {
	const struct lull_loop_queue *queues;
	uint32_t queue_count;
	uint16_t burst_pkts;
	uint16_t stash_count; /* packets of stash_queue that the recheck received */
	uint32_t stash_queue;
	bool look[LULL_IDLE_QUEUES_MAX]; /* the recheck asks how many wait; else it receives */
	int epoll_fd;                    /* Rx interrupts of all queues, edge triggered; -1: none */
	int kick_fd;                     /* ends a rest by interrupt; -1: none */
	struct rte_mbuf *stash[LULL_BURST_MAX];
};

extern const struct lull_rest_way lull_rest_monitor, lull_rest_interrupt;

/** Borrows @p queues; nothing is opened before a probe asks for it. */
void lull_rest_device_init(struct lull_rest_device *device, const struct lull_loop_queue *queues,
			   uint32_t queue_count, uint16_t burst_pkts);
/** The first @p queue_count places of its queues hold others now; nothing is stashed. */
void lull_rest_device_change(struct lull_rest_device *device, uint32_t queue_count);
/** Frees stashed packets too. */
void lull_rest_device_fini(struct lull_rest_device *device);
/** After arming: has a packet come meanwhile? */
bool lull_rest_device_recheck(struct lull_rest_device *device);
/** End a rest that is under way or about to begin, where the way allows it. */
void lull_rest_device_kick(struct lull_rest_device *device);

#endif
