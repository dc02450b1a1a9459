/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rest: carry out a rest on this machine, and the small services around it.
 *
 * The half of the library that touches Linux: clock, timer slack, CPU time,
 * stolen time. No DPDK. Ways that need a device (monitor, interrupt) are added
 * by the engine through the same table.
 * Threads: call from the thread that rests; readers of another thread's CPU say so.
 * Memory:  only lull_idle_create() allocates.
 */
#ifndef LULL_REST_H
#define LULL_REST_H

#include "idle.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A way to rest. */
struct lull_rest_way {
	enum lull_rest_depth depth;
	const char *summary;
	/** 0 when this machine (and context) offers it, else a negative errno. */
	int (*probe)(void *context);
	/** Rest up to limit_ns; returns what ended it. */
	enum lull_wake_reason (*run)(void *context, uint64_t limit_ns);
};

extern const struct lull_rest_way lull_rest_pause, lull_rest_sleep_timer;

/** CLOCK_MONOTONIC in ns: comparable across processes of one machine. */
uint64_t lull_clock_ns(void);

/**
 * Set this thread's timer slack to 1 ns (default 50 us). Once per thread, before it rests. 0 or
 * -errno.
 */
int lull_rest_thread_init(void);
/** The same with a slack of @p slack_ns, at least 1. */
int lull_rest_thread_slack(uint64_t slack_ns);

/* ---- scheduling class of a thread that rests ---- */

/**
 * On a CPU that others use too an ordinary thread is woken milliseconds late. A real-time class
 * ends that, and is lent here: a watch thread above all loops gives it to a thread that rests
 * regularly and takes it back within 10 ms from one that stops resting, whatever it is stuck in.
 */
enum lull_sched_policy {
	LULL_SCHED_AUTO,     /**< a real-time class if the thread may have one */
	LULL_SCHED_OTHER,    /**< leave the thread as it is */
	LULL_SCHED_FIFO,     /**< SCHED_FIFO, the shorter the objective the higher the priority */
	LULL_SCHED_DEADLINE, /**< SCHED_DEADLINE with a budget that follows the load */
	LULL_SCHED_POLICY_COUNT
};
/** "auto", "other", "fifo", "deadline". */
const char *lull_sched_policy_name(enum lull_sched_policy policy);

/** Zero means the default in brackets. */
struct lull_rest_thread_config {
	enum lull_sched_policy policy; /**< [auto] */
	uint64_t latency_ns;           /**< objective of the loop [200 us] */
	/**
	 * For a loop without an idle object: it adds 1 here after each rest that gave the CPU away,
	 * by LULL_COUNTER_ADD(). Borrowed until the end.
	 */
	const uint64_t *rests;
};
struct lull_rest_thread; /* opaque */

/** What became of it. */
struct lull_rest_thread_info {
	enum lull_sched_policy policy; /**< asked for */
	/** "other", "batch", "idle", "fifo", "rr", "deadline": now, or when it left. */
	const char *class_name;
	uint32_t priority;    /**< 0: the class has none */
	int refused;          /**< errno for which it got no real-time class; 0: none */
	uint64_t changes;     /**< times that the class changed */
	uint64_t forced;      /**< of these: it stopped resting and was put out */
	uint64_t run_wait_ns; /**< ready to run while others ran, since it entered */
};

/**
 * Of the thread that rests by @p idle (borrowed until the end; NULL: by config->rests). 0, -EINVAL
 * or -ENOMEM. Any thread, like all that follow.
 */
int lull_rest_thread_create(const struct lull_idle *idle,
			    const struct lull_rest_thread_config *config,
			    struct lull_rest_thread **thread);
/**
 * This thread it is, by its gettid() number; 0: the calling one. A class that is refused is no
 * error: lull_rest_thread_info() tells. 0, -EALREADY, or -errno when there is no such thread.
 */
int lull_rest_thread_enter(struct lull_rest_thread *thread, int tid);
/** Give it back the class that it had; figures stay. It may enter again, or another thread. */
void lull_rest_thread_leave(struct lull_rest_thread *thread);
/** Another policy or objective; what was refused is tried again. */
void lull_rest_thread_change(struct lull_rest_thread *thread,
			     const struct lull_rest_thread_config *config);
void lull_rest_thread_info(const struct lull_rest_thread *thread,
			   struct lull_rest_thread_info *info);
/** Times that its class has changed: after one, lull_idle_forget(). NULL: 0. Takes no lock. */
uint64_t lull_rest_thread_changes(const struct lull_rest_thread *thread);
/**
 * The class and why it is that one, in words, and which other thread of this program can run on no
 * other CPU; "" when there is nothing to say. Returns @p text.
 */
char *lull_rest_thread_explain(const struct lull_rest_thread *thread, char *text, size_t size);
/** Leave and free; NULL is ignored. */
void lull_rest_thread_destroy(struct lull_rest_thread *thread);

/* ---- rests ---- */

/**
 * Rest with @p way as asked and fill in @p wake. Measures the CPU time of one
 * rest in 64 (the reading itself costs 0.3 us).
 */
void lull_rest_run(const struct lull_rest_way *way, void *context, const struct lull_rest *rest,
		   struct lull_wake *wake);

/**
 * An idle object with memory of its own, its clock started; also prepares the calling thread. 0,
 * -EINVAL, -ENOMEM.
 */
int lull_idle_create(const char *governor, const struct lull_idle_limits *limits,
		     struct lull_idle **idle);
/** Free an object of lull_idle_create(); NULL is ignored. */
void lull_idle_destroy(struct lull_idle *idle);

/**
 * A whole turn for loops with one queue and no wish of their own: plan, rest
 * (pause or sleep), wake. @p now_ns is the clock before the receive.
 */
void lull_idle_turn(struct lull_idle *idle, uint64_t now_ns, uint16_t pkt_count);
/** The same for a governor that wants sizes: @p bytes and squares as in struct lull_turn. */
void lull_idle_turn_sized(struct lull_idle *idle, uint64_t now_ns, uint16_t pkt_count,
			  uint64_t bytes, uint64_t bytes_squared);

/** CPU time of a thread of this process (gettid() number), ns; 0 when it is gone. Any thread. */
uint64_t lull_thread_cpu_ns(int tid);
/**
 * Time the hypervisor kept from CPU @p cpu, ns (from /proc/stat, 10 ms steps); 0 if unknown. Any
 * thread.
 */
uint64_t lull_steal_ns(int cpu);

/** Write the verdict as one English sentence into @p text; returns @p text. */
char *lull_verdict_explain(const struct lull_verdict *verdict,
			   const struct lull_idle_limits *limits, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
