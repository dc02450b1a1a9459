/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loop: the one loop, without DPDK in it.
 *
 * A poll iteration reads the clock once, takes commands, receives, lets the stage finish, plans,
 * rests and wakes. Three tables say what is particular: the *source* where packets come from, the
 * *stage* what is done with them, the *ways* how the thread can rest.
 *
 * loop_run.h has the iteration, loop.c what happens seldom, loop_read.c what other threads call.
 * The loop object lies in what its owner allocates, and the owner starts and ends the thread.
 */
#ifndef LULL_HOST_LOOP_H
#define LULL_HOST_LOOP_H

#include <lull/loop.h>

#include "idle/blame.h"
#include "idle/share.h"

#include "mailbox.h"
#include "snapshot.h"

enum lull_loop_message {
	LULL_LOOP_MESSAGE_CHANGE, /* struct lull_loop_change */
	LULL_LOOP_MESSAGE_MARK,   /* uint32_t window */
	LULL_LOOP_MESSAGE_STAGE,  /* the stage's own */
};
struct lull_loop_change {
	const struct lull_idle_governor *governor; /* NULL: keep */
	struct lull_idle_limits limits;
};

/** Where packets come from. Members that say so may be NULL. */
struct lull_loop_source {
	/**
	 * Receive from each queue and hand the packets on. Writes loop->queue_pkts, and into
	 * @p iteration what it knows besides: quiet_until_ns, sizes.
	 */
	void (*receive)(struct lull_loop *loop, struct lull_iteration *iteration);
	/** The loop's thread begins and ends. NULL: nothing to do. */
	void (*begin)(struct lull_loop *loop);
	void (*end)(struct lull_loop *loop);
	/**
	 * Loss audit: add to @p charge the packets lost since the last call that this loop is
	 * charged with. @p last: the loop ends, take what nobody has taken. Every 10 ms, on the
	 * loop's thread: no call that takes long, but for the last. NULL: it cannot tell.
	 */
	void (*audit)(struct lull_loop *loop, bool last, struct lull_loss_charge *charge);
	/**
	 * What the source knows better than who set the limits: the rate of a link. Any thread.
	 * NULL: nothing.
	 */
	void (*limit)(const struct lull_loop *loop, struct lull_idle_limits *limits);
	/** Lost since the start: for want of slots, and of buffers. Any thread. NULL: not told. */
	void (*missed)(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf);
	/** End a rest that is under way or about to begin. Any thread. NULL: rests are short. */
	void (*kick)(struct lull_loop *loop);
};

struct lull_loop {
	/* Each poll iteration. */
	struct lull_idle *idle;
	const struct lull_stage *stage;
	void *stage_state;
	uint64_t housekeeping_ns; /* next time */
	uint64_t woke_ns;         /* end of the last rest; 0: none yet */
	/*
	 * At least 1: a loop that only sends has one that stays empty. Of shared queues the one
	 * that it holds.
	 */
	uint32_t queue_count;
	bool stop;
	uint16_t queue_pkts[LULL_IDLE_QUEUES_MAX];
	const struct lull_rest_way *ways[LULL_IDLE_STATE_COUNT]; /* NULL: not on offer */
	void *way_context;
	void (*trace)(void *arg, const struct lull_iteration *iteration,
		      const struct lull_rest *rest, const struct lull_wake *wake);
	void *trace_arg;

	/* Each 10 ms. */
	const struct lull_loop_source *source;
	struct lull_share_member *share; /* NULL: it has its queues to itself */
	uint64_t window_begin_ns;
	uint32_t window;
	struct lull_snapshot_cell snapshot;

	/* Written by others. */
	struct lull_mailbox mailbox;

	/* Once. */
	char name[LULL_NAME_SIZE];
	const char *kind;
	const char *thread; /* name of the thread */
	int cpu;            /* -1: any */
	int tid;
	uint64_t slack_ns;
	enum lull_sched_policy sched_policy;
	struct lull_rest_thread *class; /* NULL: it keeps the class it has */
	uint64_t class_changes;         /* seen */
	uint32_t burst_pkts;
	uint32_t idle_states; /* LULL_IDLE_STATE_BIT() of the ways that probed well */
	int probes[LULL_IDLE_STATE_COUNT];
	void *idle_memory;
	const struct lull_idle_governor *governor; /* to begin with */
	struct lull_idle_limits limits;
};

/** What a loop is made of. All is borrowed until the end but the name, which is copied. */
struct lull_loop_parts {
	const char *name, *kind;
	const char *thread; /**< NULL: called like the loop */
	int cpu;            /**< -1: any */
	uint32_t queue_count;
	uint32_t burst_pkts; /**< a receive shorter than this emptied its queue */
	const struct lull_loop_source *source;
	const struct lull_stage *stage;
	void *stage_state;
	struct lull_share_member *share; /**< NULL: it has its queues to itself */
	/** NULL ends them; of two of the same idle state the first that probes well is used. */
	const struct lull_rest_way *const *ways;
	void *way_context;
	const struct lull_idle_governor *governor;
	struct lull_idle_limits limits; /**< idle states 0: all that probe well */
	uint64_t slack_ns;              /**< timer slack of the thread [1 ns] */
	enum lull_sched_policy sched_policy;
	bool no_class;     /**< leave the scheduling class alone */
	void *idle_memory; /**< lull_idle_size() bytes, aligned to LULL_CACHE_LINE */
	void (*trace)(void *arg, const struct lull_iteration *iteration,
		      const struct lull_rest *rest, const struct lull_wake *wake);
	void *trace_arg;
};

/** Ways to rest that need nothing: pause and sleep. NULL ends them. */
extern const struct lull_rest_way *const lull_loop_ways[];
/** A sleep that the thread's own sources may end, see lull_queue_source_add(). */
extern const struct lull_rest_way lull_rest_sleep_sources;
/** By idle state, NULL: not among them. */
extern const struct lull_rest_way *const lull_rest_ways[LULL_IDLE_STATE_COUNT];

/**
 * Governor of loops whose one rest is to block until packets come or something is due. Not among
 * lull_idle_governors: who has another way to rest has no use for it.
 */
extern const struct lull_idle_governor lull_loop_blocking;

/**
 * Set up @p loop, zeroed memory. 0, -EINVAL: the limits contradict each other, or -ENOMEM. Has its
 * lull_loop_fini() in each case.
 */
int lull_loop_init(struct lull_loop *loop, const struct lull_loop_parts *parts);
void lull_loop_fini(struct lull_loop *loop);
/** Ask it to end, within one rest. Any thread. */
void lull_loop_end(struct lull_loop *loop);

/** What its user wants and this machine has. */
struct lull_idle_limits lull_loop_limits(const struct lull_loop *loop,
					 const struct lull_idle_limits *wanted);
struct lull_rest_thread_config lull_loop_class_config(const struct lull_loop *loop,
						      const struct lull_idle_limits *limits);

/* ---- for loop_run.h: the loop's thread ---- */

/** The source knows other limits than before. */
void lull_loop_limit_anew(struct lull_loop *loop, uint64_t now_ns);
/** Returns the clock. */
uint64_t lull_loop_begin(struct lull_loop *loop);
void lull_loop_finish(struct lull_loop *loop, uint64_t now_ns);
void lull_loop_read_mailbox(struct lull_loop *loop, uint64_t now_ns);
void lull_loop_housekeeping(struct lull_loop *loop, uint64_t now_ns);
/** Carry the rest out. Returns the clock after it. */
uint64_t lull_loop_rest(struct lull_loop *loop, const struct lull_iteration *iteration,
			const struct lull_rest *rest);
/** The same without a loop around it. */
void lull_loop_rest_once(struct lull_idle *idle, const struct lull_rest_way *const *ways,
			 void *context, const struct lull_rest *rest, struct lull_wake *wake);

#endif
