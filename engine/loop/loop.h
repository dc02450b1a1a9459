/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loop of the engine: the one loop (host/loop.h) over queues of DPDK's ports, on an lcore.
 *
 * source.c receives, loop.c creates it and runs it on its lcore.
 */
#ifndef LULL_ENGINE_LOOP_H
#define LULL_ENGINE_LOOP_H

#include <pthread.h>
#include <semaphore.h>

#include <lull/engine.h>

#include "idle/loss_audit.h"
#include "host/loop.h"
#include "host/port_facts.h"
#include "rest_device.h"

struct engine_loop {
	struct lull_loop loop; /* first: what callers hold */
	/* Each poll iteration. */
	uint32_t polled_count; /* queues of devices that are there */
	uint16_t burst_pkts;
	bool asks_shorts; /* short bursts may leave some; of some queues it is known or counted */
	uint32_t epoch;   /* of lull_port_watch_epoch(), when it was followed last */
	struct lull_loop_queue polled[LULL_IDLE_QUEUES_MAX];
	uint32_t places[LULL_IDLE_QUEUES_MAX]; /* of the same: place among all queues */
	enum lull_short_burst shorts[LULL_IDLE_QUEUES_MAX]; /* likewise, if asks_shorts */
	uint32_t pauses[LULL_IDLE_QUEUES_MAX];              /* likewise: so often it is not asked */
	struct lull_rest_device device;

	/* When a port has changed. */
	bool short_leaves; /* as the limits say */
	uint32_t queue_count;
	struct lull_loop_queue queues[LULL_IDLE_QUEUES_MAX];

	/* Each 10 ms. */
	uint32_t port_count; /* distinct ports of the queues */
	uint16_t port_ids[LULL_IDLE_QUEUES_MAX];
	struct lull_loss_audit audits[LULL_IDLE_QUEUES_MAX]; /* of these ports */

	/* Once. */
	unsigned int lcore_id;
	/* Of a bare engine: a thread that waits behind its loop; its CPU time is still read. */
	pthread_t thread;
	bool threaded;
	sem_t ended, released;
	bool running;
	bool ready; /* the stage has been initialized */
};

static inline struct engine_loop *
engine_loop_of(struct lull_loop *loop)
{
	return (struct engine_loop *)loop;
}

/** The queues of @p config, and the ports they are of. */
void engine_source_open(struct engine_loop *own, const struct lull_loop_config *config);
/** For lull_loop_parts. */
extern const struct lull_loop_source *const engine_source, *const engine_source_shared;
/** The thread's main function, for rte_eal_remote_launch(); with shared queues the second. */
int engine_loop_main(void *own), engine_loop_main_shared(void *own);

#endif
