/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Live: settings of a running program, read and changed over telemetry.
 *
 * A change is parsed into a copy of the settings, which the program applies.
 * Threads: start and stop on the main thread; changes come on a thread of DPDK's, one at a time,
 *          under the lock of the run.
 * Memory:  the caller's struct, which stays until telemetry has stopped.
 */
#ifndef LULL_LIVE_H
#define LULL_LIVE_H

#include <lull/loop.h>

#include "program/program.h"

/** KEY[@LOOP]=VALUE, parsed. */
struct lull_live_change {
	const struct lull_option *option;
	const char *loop;     /**< "": all */
	const void *settings; /**< the program's, changed */
};

struct lull_live {
	struct lull_run *run;
	/**
	 * Carry out a change; 0, or -errno and the sentence. The program's settings become the
	 * changed ones when it concerned all loops. NULL: nothing can be changed.
	 */
	int (*apply)(void *state, const struct lull_live_change *change, struct lull_error *error);
	struct lull_telemetry_config telemetry; /**< loops, commands, traffic: the program's */
	void *told; /**< settings as command line and files had them last; lull_live_remember() */
};

/** Fill in the rest; calls nothing of the engine. */
void lull_live_describe(struct lull_live *live, struct lull_run *run);
/** The same, and start telemetry. */
int lull_live_start(struct lull_live *live, struct lull_run *run, struct lull_error *error);
/** The program's state from the argument of a telemetry command. */
void *lull_live_state(void *arg);

/**
 * For programs that read settings again: remember what command line and files say now. 0 or -errno
 * and the sentence. lull_live_forget() frees it.
 */
int lull_live_remember(struct lull_live *live, struct lull_error *error);
void lull_live_forget(struct lull_live *live);
/**
 * Read command line and files again, and carry out what has become different there since. What was
 * set by telemetry meanwhile and is the same there stays. @p tell gets a sentence for each
 * difference: what it is now, or why not.
 */
void lull_live_reload(struct lull_live *live, void (*tell)(void *arg, const char *text), void *arg);

/** Post to a loop's stage; a full mailbox gets its time to become empty. */
int lull_live_post_stage(struct lull_loop *loop, const void *command, size_t size,
			 struct lull_error *error);
/** The same, of governor and limits. */
int lull_live_post_limits(struct lull_loop *loop, const struct lull_idle_governor *governor,
			  const struct lull_idle_limits *limits, struct lull_error *error);

#endif
