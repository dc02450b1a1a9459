/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loop: what other threads may tell a loop and know of it, and telemetry.
 *
 * A loop is one thread that polls, works and rests. It has an idle object and a *stage*, a table
 * of what it does with packets. Where packets come from differs: ports of DPDK (engine.h), or
 * sockets and captures (camera.h). Nothing here needs DPDK.
 *
 * Threads: each function says so, or may be called from any.
 * Errors:  0 or a negative errno.
 */
#ifndef LULL_LOOP_H
#define LULL_LOOP_H

#include "idle.h"
#include "rest.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_NAME_SIZE 32
#define LULL_LOOPS_MAX 64

struct lull_loop; /* opaque; owns the idle object */

/* ---- stages ---- */

struct rte_mbuf; /* a packet of DPDK: whoever works on it includes engine.h */

/** What a loop does with packets. Members that say so may be NULL, the others are required. */
struct lull_stage {
	const char *name;
	const char *summary;
	size_t state_size; /**< given zeroed and cache-line aligned */
	int (*init)(void *state, const void *config, uint64_t now_ns);
	/** The loop's thread ends; counters are read next. NULL: nothing is left to be done. */
	void (*end)(void *state);
	/** Undo init; the loop has stopped. NULL: nothing to undo. */
	void (*fini)(void *state);
	/**
	 * Where packets come from in a loop without queues: work on what is there, at most a
	 * burst, and say how many packets it was. Called once an iteration, in the place of the
	 * receive. NULL: from nowhere, it only sends.
	 */
	uint16_t (*pull)(void *state, uint64_t now_ns);
	/** A burst from queue @p queue_index of the loop; takes all packets. NULL: none comes. */
	void (*burst)(void *state, uint32_t queue_index, struct rte_mbuf **pkts, uint16_t count,
		      uint64_t now_ns);
	/**
	 * End of an iteration: flush, send what is due. Returns when it must run next, 0: no wish.
	 */
	uint64_t (*iterate)(void *state, uint64_t now_ns);
	/** A new measurement window begins. NULL: counters run on. */
	void (*mark)(void *state, uint64_t now_ns);
	/**
	 * A command of lull_loop_post_stage(); runs on the loop's thread, borrows @p data. NULL:
	 * takes none.
	 */
	void (*command)(void *state, const void *data, size_t size, uint64_t now_ns);
	const struct lull_counter_info *counters; /**< table over the struct that follows */
	size_t counters_offset;                   /**< of the uint64_t counters in the state */
};

/* ---- loops ---- */

/**
 * Change governor and limits; takes effect within one rest.
 * @param governor  NULL: keep the present one
 * @param limits    copied
 * @return 0; -EINVAL: limits out of range, or a governor that cannot share the queues of
 *         this loop; -EAGAIN: the mailbox is full
 * Threads: any.
 */
int lull_loop_post_change(struct lull_loop *loop, const struct lull_idle_governor *governor,
			  const struct lull_idle_limits *limits);
/**
 * Change the scheduling class of the loop's thread.
 * Threads: any, one at a time.
 */
void lull_loop_change_class(struct lull_loop *loop, enum lull_sched_policy policy);
/**
 * Begin a new measurement window; takes effect within one rest.
 * @param window  its number
 * @return 0; -EAGAIN: the mailbox is full
 * Threads: any.
 */
int lull_loop_post_mark(struct lull_loop *loop, uint32_t window);
/**
 * Send a command to the stage; takes effect within one rest.
 * @param data  copied
 * @param size  up to 4096 bytes
 * @return 0; -EINVAL or -EMSGSIZE: too long; -EAGAIN: the mailbox is full
 * Threads: any.
 */
int lull_loop_post_stage(struct lull_loop *loop, const void *data, size_t size);

/** What other threads may know of a loop; a consistent copy at most 10 ms (or one rest) old. */
struct lull_loop_snapshot {
	uint64_t now_ns; /**< when the copy was made */
	uint64_t window_begin_ns;
	uint32_t window;
	const struct lull_idle_governor *governor;
	struct lull_idle_limits limits;
	struct lull_verdict verdict;
};
/**
 * Copy what other threads may know of a loop, as one consistent whole.
 * @param snapshot  out; at most 10 ms, or one rest, old
 * Threads: any.
 */
void lull_loop_snapshot(const struct lull_loop *loop, struct lull_loop_snapshot *snapshot);
/**
 * Tell the loop's name, as configured.
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const char *lull_loop_name(const struct lull_loop *loop);
/**
 * Tell the loop's kind, as configured.
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const char *lull_loop_kind(const struct lull_loop *loop);
/**
 * Tell the CPU that the loop runs on.
 * @return its number; -1: not known
 * Threads: any.
 */
int lull_loop_cpu(const struct lull_loop *loop);
/**
 * Tell the loop's thread, by its gettid(2) number.
 * @return the number; 0: the loop has not started
 * Threads: any.
 */
int lull_loop_tid(const struct lull_loop *loop);
/**
 * Write one or two sentences on why the loop rests as it does.
 * @param bytes  out; always ends with a zero
 * @param size   bytes of @p bytes, at least 1; what is longer is cut
 * @return @p bytes
 * Threads: any.
 */
char *lull_loop_explain(const struct lull_loop *loop, char *bytes, size_t size);
/**
 * Tell the scheduling class of the loop's thread.
 * @param info  out
 * Threads: any.
 */
void lull_loop_class(const struct lull_loop *loop, struct lull_rest_thread_info *info);
/**
 * Write a sentence on the scheduling class of the loop's thread, and why it is that one.
 * @param bytes  out; "" when there is nothing to say
 * @param size   bytes of @p bytes, at least 1; what is longer is cut
 * @return @p bytes
 * Threads: any.
 */
char *lull_loop_class_explain(const struct lull_loop *loop, char *bytes, size_t size);
/**
 * Count the packets that the loop's ports lost since their start.
 * @param missed  out: for want of descriptors
 * @param nombuf  out: for want of mbufs
 * Threads: any.
 */
void lull_loop_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf);
/**
 * Give access to the stage's counters. Read them with LULL_COUNTER_READ().
 * @param counters  out: borrowed for the life of the loop
 * @return the table of them; NULL: the stage has none
 * Threads: any.
 */
const struct lull_counter_info *lull_loop_stage_counters(const struct lull_loop *loop,
							 const void **counters);
/**
 * Tell which stage the loop has.
 * @return as configured
 * Threads: any.
 */
const struct lull_stage *lull_loop_stage(const struct lull_loop *loop);
/**
 * Give access to the stage's state. Only its counters and histograms may be read from outside.
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const void *lull_loop_stage_state(const struct lull_loop *loop);
/**
 * Give access to the counters of the idle object. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const struct lull_idle_counters *lull_loop_counters(const struct lull_loop *loop);
/**
 * Give access to the histogram of added wait, in ns; see lull_idle_wait_histogram().
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const struct lull_histogram *lull_loop_wait_histogram(const struct lull_loop *loop);
/**
 * Give access to the histogram of rests, in ns; see lull_idle_rest_histogram().
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const struct lull_histogram *lull_loop_rest_histogram(const struct lull_loop *loop);
/**
 * Tell why an idle state is not on offer for this loop.
 * @return 0: it is; a negative errno otherwise, -ENOTSUP: no way of this idle state
 * Threads: any.
 */
int lull_loop_idle_state_probe(const struct lull_loop *loop, enum lull_idle_state idle_state);

/* ---- telemetry ---- */

/**
 * A reply being written: one JSON object. Names: letters, digits, "_". What finds no room, or no
 * memory, is left out.
 */
struct lull_telemetry_reply; /* opaque */
/**
 * Add a number to the reply.
 * Threads: the telemetry thread, within a handler.
 */
void lull_telemetry_put_count(struct lull_telemetry_reply *reply, const char *name, uint64_t value);
/**
 * Add a text to the reply. What is beyond 127 bytes goes into a second member, NAME_more; 254 bytes
 * are the most.
 * Threads: the telemetry thread, within a handler.
 */
void lull_telemetry_put_text(struct lull_telemetry_reply *reply, const char *name,
			     const char *text);
/**
 * Add a member per row of a counter table.
 * @param table     ended by a NULL name
 * @param counters  the struct that its offsets are of
 * Threads: the telemetry thread, within a handler.
 */
void lull_telemetry_put_table(struct lull_telemetry_reply *reply,
			      const struct lull_counter_info *table, const void *counters);
/**
 * Add a list of numbers, at most 512 long and 16 KiB in the whole reply.
 * Threads: the telemetry thread, within a handler.
 */
void lull_telemetry_put_counts(struct lull_telemetry_reply *reply, const char *name,
			       const uint64_t *values, uint32_t count);
/**
 * Add a list of texts of at most 127 bytes each, at most 512 long and 16 KiB in the whole reply.
 * Threads: the telemetry thread, within a handler.
 */
void lull_telemetry_put_texts(struct lull_telemetry_reply *reply, const char *name,
			      const char *const *texts, uint32_t count);

/** A command of this program, beside those that every program has. */
struct lull_telemetry_command {
	const char *name; /**< "/lull/flow" */
	const char *help; /**< with its parameters, one line */
	/** @p params may be NULL. Telemetry thread. */
	void (*reply)(void *arg, const char *params, struct lull_telemetry_reply *reply);
};

struct lull_telemetry_config {
	const char *program, *version;
	struct lull_loop *const *loops;
	uint32_t loop_count;
	/** /lull/set: apply "KEY[@LOOP]=VALUE"; 0 or -errno and a sentence. Telemetry thread. */
	int (*set)(void *arg, const char *assignment, struct lull_error *error);
	/** /lull/settings: write key and value pairs through @p put. */
	void (*settings)(void *arg, void (*put)(void *put_arg, const char *key, const char *value),
			 void *put_arg);
	/** /lull/traffic: for loops of kind "traffic"; values through @p put; NULL: has none. */
	void (*traffic)(void *arg, const struct lull_loop *loop,
			void (*put)(void *put_arg, const char *key, uint64_t value), void *put_arg);
	/** /lull/histogram,NAME,latency: for loops of kind "traffic"; NULL: has none. */
	const struct lull_histogram *(*latency)(void *arg, const struct lull_loop *loop);
	const struct lull_telemetry_command *commands; /**< a NULL name ends them; NULL: none */
	void *arg;
};
/**
 * Answer the /lull commands: on DPDK's telemetry socket where its environment runs, else on a
 * socket like that one, <runtime directory>/dpdk/<program>-<pid>/dpdk_telemetry.v2, by a thread of
 * its own. Call it once, before the loops start. Callbacks run one at a time.
 * @param config  borrowed until lull_telemetry_stop()
 * @return 0, or a negative errno
 * Threads: the main thread.
 */
int lull_telemetry_start(const struct lull_telemetry_config *config);
/**
 * End telemetry, its socket and its thread: no handler runs from here on, and loops may be
 * destroyed. lull_engine_fini() does it too.
 * Threads: the main thread.
 */
void lull_telemetry_stop(void);

#ifdef __cplusplus
}
#endif

#endif
