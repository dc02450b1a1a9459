/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loop: what the files of the engine share of a loop.
 *
 * loop.c runs it on its thread, loop_control.c creates, commands and reads it.
 */
#ifndef LULL_LOOP_H
#define LULL_LOOP_H

#include <stdalign.h>

#include <lull/engine.h>

#include "mailbox.h"
#include "idle/loss_audit.h"
#include "rest_device.h"
#include "snapshot.h"

enum loop_message {
	LOOP_MESSAGE_CHANGE, /* struct loop_change */
	LOOP_MESSAGE_MARK,   /* uint32_t window */
	LOOP_MESSAGE_STAGE,  /* the stage's own */
};

struct loop_change {
	const struct lull_idle_governor *governor;
	struct lull_idle_limits limits;
};

struct lull_loop {
	/* Each turn. */
	struct lull_idle *idle;
	const struct lull_stage *stage;
	void *stage_state;
	uint64_t chores_ns; /* next chores */
	uint32_t queue_count;
	uint16_t burst_pkts;
	bool stop; /* set by lull_loop_stop() */
	bool running;
	bool ready; /* the stage has been initialized */
	struct lull_loop_queue queues[LULL_IDLE_QUEUES_MAX];
	uint16_t queue_pkts[LULL_IDLE_QUEUES_MAX];
	struct lull_rest_device device;
	const struct lull_rest_way *ways[LULL_REST_DEPTH_COUNT]; /* NULL: not on offer */
	void (*trace)(void *arg, const struct lull_turn *turn, const struct lull_rest *rest,
		      const struct lull_wake *wake);
	void *trace_arg;

	/* Each 10 ms. */
	uint32_t port_count; /* distinct ports of the queues */
	uint16_t port_ids[LULL_IDLE_QUEUES_MAX];
	struct lull_loss_audit audits[LULL_IDLE_QUEUES_MAX]; /* of these ports */
	uint64_t window_begin_ns;
	uint32_t window;
	struct lull_snapshot_cell snapshot;

	/* Written by others. */
	struct lull_mailbox mailbox;

	/* Once. */
	char name[LULL_NAME_SIZE];
	const char *kind;
	unsigned int lcore_id;
	int cpu;
	int tid;
	uint64_t slack_ns;
	enum lull_sched_policy sched_policy;
	struct lull_rest_thread *class;
	uint64_t class_changes; /* seen */
	uint32_t depths;        /* LULL_REST_BIT() of the ways that probed well */
	int probes[LULL_REST_DEPTH_COUNT];
	void *idle_memory;
	const struct lull_idle_governor *governor; /* to begin with */
	struct lull_idle_limits limits;
};

/** The thread's main function, for rte_eal_remote_launch(). */
int lull_loop_main(void *loop);
/** Write the snapshot. The loop's thread, or the main one before the loop runs. */
void lull_loop_publish(struct lull_loop *loop, uint64_t now_ns);
/** Ask the ports what they lost, charge this loop with its part. @p last: the loop ends. */
void lull_loop_audit(struct lull_loop *loop, uint64_t now_ns, bool last);
/** Find out which ways to rest this loop has; @p first (may be NULL) goes before the usual ones. */
void lull_loop_probe(struct lull_loop *loop, const struct lull_rest_way *first);

#endif
