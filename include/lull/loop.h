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

#define LULL_ERROR_SIZE 256
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
	/** Undo init; the loop has stopped. NULL: nothing to undo. */
	void (*fini)(void *state);
	/**
	 * Where packets come from in a loop without queues: work on what is there, at most a
	 * burst, and say how many packets it was. Called once a turn, in the place of the receive.
	 * NULL: from nowhere, it only sends.
	 */
	uint16_t (*pull)(void *state, uint64_t now_ns);
	/** A burst from queue @p queue_index of the loop; takes all packets. NULL: none comes. */
	void (*burst)(void *state, uint32_t queue_index, struct rte_mbuf **pkts, uint16_t count,
		      uint64_t now_ns);
	/** End of a turn: flush, send what is due. Returns when it must run next, 0: no wish. */
	uint64_t (*turn)(void *state, uint64_t now_ns);
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

/** Change governor (NULL: keep) and limits; takes effect within one rest. -EAGAIN: mailbox full. */
int lull_loop_post_change(struct lull_loop *loop, const struct lull_idle_governor *governor,
			  const struct lull_idle_limits *limits);
/** Another scheduling class from now on; what was refused is tried again. */
void lull_loop_change_class(struct lull_loop *loop, enum lull_sched_policy policy);
/** Begin measurement window @p window. */
int lull_loop_post_mark(struct lull_loop *loop, uint32_t window);
/** A command for the stage, copied; up to 4096 bytes. */
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
void lull_loop_snapshot(const struct lull_loop *loop, struct lull_loop_snapshot *snapshot);
const char *lull_loop_name(const struct lull_loop *loop);
const char *lull_loop_kind(const struct lull_loop *loop);
int lull_loop_cpu(const struct lull_loop *loop);
int lull_loop_tid(const struct lull_loop *loop);
/** Why it rests as it does, one or two sentences; returns @p bytes. Any thread. */
char *lull_loop_explain(const struct lull_loop *loop, char *bytes, size_t size);
/** Scheduling class of its thread, and why, in words ("": nothing to say). Any thread. */
void lull_loop_class(const struct lull_loop *loop, struct lull_rest_thread_info *info);
char *lull_loop_class_explain(const struct lull_loop *loop, char *bytes, size_t size);
/** Packets its ports lost for want of descriptors and of mbufs. Any thread. */
void lull_loop_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf);
/** Counter table of its stage, and the counters. */
const struct lull_counter_info *lull_loop_stage_counters(const struct lull_loop *loop,
							 const void **counters);
const struct lull_stage *lull_loop_stage(const struct lull_loop *loop);
/** Stage state: only its counters and histograms may be read from outside. */
const void *lull_loop_stage_state(const struct lull_loop *loop);
const struct lull_idle_counters *lull_loop_counters(const struct lull_loop *loop);
const struct lull_histogram *lull_loop_wait_histogram(const struct lull_loop *loop);
const struct lull_histogram *lull_loop_rest_histogram(const struct lull_loop *loop);
/** Why a depth is not on offer for this loop; 0 when it is. */
int lull_loop_depth_probe(const struct lull_loop *loop, enum lull_rest_depth depth);

/* ---- telemetry ---- */

/**
 * A reply being written: one JSON object. Names: letters, digits, "_". What finds no room, or no
 * memory, is left out.
 */
struct lull_telemetry_reply; /* opaque */
void lull_telemetry_put_count(struct lull_telemetry_reply *reply, const char *name, uint64_t value);
/** Beyond 127 bytes it goes on in a second member, NAME_more; 254 are the most. */
void lull_telemetry_put_text(struct lull_telemetry_reply *reply, const char *name,
			     const char *text);
/** A member per row. */
void lull_telemetry_put_table(struct lull_telemetry_reply *reply,
			      const struct lull_counter_info *table, const void *counters);
/** Lists, at most 512 long and 16 KiB in the whole reply; texts of at most 127 bytes. */
void lull_telemetry_put_counts(struct lull_telemetry_reply *reply, const char *name,
			       const uint64_t *values, uint32_t count);
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
	int (*set)(void *arg, const char *assignment, char *error, size_t error_size);
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
 * its own. Call once; the config is borrowed until lull_telemetry_stop(). Callbacks run one at a
 * time. 0 or -errno.
 */
int lull_telemetry_start(const struct lull_telemetry_config *config);
/**
 * No handler runs from here on: loops may be destroyed. Ends the socket and the thread that
 * lull_telemetry_start() made. Also part of lull_engine_fini().
 */
void lull_telemetry_stop(void);

#ifdef __cplusplus
}
#endif

#endif
