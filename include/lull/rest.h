/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rest: carry out a rest on this machine, and the small services around it.
 *
 * The half of the library that touches Linux: clock, timer slack, scheduling
 * class, CPU time, stolen time. No DPDK. Ways to rest that need a device (monitor,
 * interrupt) are added by the engine through the same table.
 *
 * A loop on one queue:
 *
 * @code
 * #include <lull/rest.h>
 *
 * uint16_t receive(void);
 *
 * int
 * poll_and_rest(void)
 * {
 *         struct lull_idle_limits limits = { .latency_ns = 200 * LULL_NS_PER_US };
 *         struct lull_rest_thread_config class = { .latency_ns = limits.latency_ns };
 *         struct lull_rest_thread *thread = NULL;
 *         struct lull_idle *idle;
 *         int rc = lull_idle_create("objective", &limits, &idle);
 *
 *         if (rc != 0)
 *                 return rc;
 *         rc = lull_rest_thread_create(idle, &class, &thread);
 *         if (rc == 0)
 *                 rc = lull_rest_thread_enter(thread, 0);
 *         for (int iteration = 0; rc == 0 && iteration < 1000000; iteration++) {
 *                 uint64_t now_ns = lull_clock_ns();
 *
 *                 lull_idle_iterate(idle, now_ns, receive());
 *         }
 *         lull_rest_thread_destroy(thread);
 *         lull_idle_destroy(idle);
 *         return rc;
 * }
 * @endcode
 *
 * Threads: the thread that rests, where a function does not say otherwise.
 * Memory:  only lull_idle_create() and lull_rest_thread_create() allocate.
 */
#ifndef LULL_REST_H
#define LULL_REST_H

#include "idle.h"
#include "work.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A way to rest. */
struct lull_rest_way {
	enum lull_idle_state idle_state; /**< what kind of rest it is */
	const char *summary;             /**< one line */
	/** 0 when this machine (and context) offers it, else a negative errno. */
	int (*probe)(void *context);
	/** Rest up to limit_ns; returns what ended it. */
	enum lull_wake_reason (*run)(void *context, uint64_t limit_ns);
	/**
	 * For a rest with watch (struct lull_rest): sets *packet_ns as struct lull_wake has it. May
	 * be NULL: the way cannot tell.
	 */
	enum lull_wake_reason (*watch)(void *context, uint64_t limit_ns, uint64_t *packet_ns);
	/** Why a probe fails, in words: "the CPU has no WAITPKG"; NULL: it does not. */
	const char *lack;
};

/**
 * Ways to rest that need no device. lull_rest_pause: the core pauses its pipeline, the thread keeps
 * the core. lull_rest_sleep_timer: the thread sleeps on a timer. Their context is not looked at.
 */
extern const struct lull_rest_way lull_rest_pause, lull_rest_sleep_timer;

/**
 * Read the clock, CLOCK_MONOTONIC. Its times can be compared across processes of one machine.
 * @return ns since some time in the past
 * Threads: any.
 */
uint64_t lull_clock_ns(void);

/**
 * Set the timer slack of the calling thread to 1 ns, so that sleeps end when they should. The
 * kernel's default is 50 us. Call it once per thread, before it rests. lull_idle_create() does it.
 * @return 0, or the negative errno of prctl(2)
 * Threads: the one that rests.
 */
int lull_rest_thread_init(void);
/**
 * Set the timer slack of the calling thread.
 * @param slack_ns  at least 1
 * @return 0, or the negative errno of prctl(2)
 * Threads: the one that rests.
 */
int lull_rest_thread_slack(uint64_t slack_ns);

/* ---- scheduling class of a thread that rests ---- */

/**
 * Scheduling class of a thread that rests. On a CPU that others use too, an ordinary thread is
 * woken milliseconds late. A real-time class ends that. It is lent: a watch thread above all loops
 * gives it to a thread that rests regularly, and takes it back within 10 ms from one that stops
 * resting.
 */
enum lull_sched_policy {
	LULL_SCHED_AUTO,     /**< a real-time class if the thread may have one */
	LULL_SCHED_OTHER,    /**< leave the thread as it is */
	LULL_SCHED_FIFO,     /**< SCHED_FIFO, the shorter the objective the higher the priority */
	LULL_SCHED_DEADLINE, /**< SCHED_DEADLINE with a budget that follows the load */
	LULL_SCHED_POLICY_COUNT /**< how many there are */
};
/**
 * Name a policy.
 * @return "auto", "other", "fifo" or "deadline"; "?" for any other value; static
 * Threads: any.
 */
const char *lull_sched_policy_name(enum lull_sched_policy policy);

/** struct lull_rest_thread_config: as much as the objective leaves. */
#define LULL_CPU_LATENCY_AUTO UINT64_MAX

/** How to lend a class. Zero means the default in brackets. */
struct lull_rest_thread_config {
	enum lull_sched_policy policy; /**< [auto] */
	uint64_t latency_ns;           /**< objective of the loop [200 us] */
	/**
	 * Limit on the C-states of the CPU that the thread is bound to, by the time that it takes
	 * to leave them, in steps of 1 us; or LULL_CPU_LATENCY_AUTO [0: leave them alone]. It is
	 * held in pm_qos_resume_latency_us from enter to leave; the value found there comes back.
	 */
	uint64_t cpu_latency_ns;
	uint64_t ring_ns; /**< a ring that may lose nothing fills in that time [0: none] */
	/**
	 * For a loop without an idle object: it adds 1 here after each rest that gave the CPU away,
	 * by LULL_COUNTER_ADD(). Borrowed until the end.
	 */
	const uint64_t *rests;
};
struct lull_rest_thread; /* opaque */

/** What class a thread has, and how it came to that. */
struct lull_rest_thread_info {
	enum lull_sched_policy policy; /**< asked for */
	/** "other", "batch", "idle", "fifo", "rr", "deadline": now, or when it left. */
	const char *class_name;
	uint32_t priority;    /**< 0: the class has none */
	int refused;          /**< errno for which it got no real-time class; 0: none */
	uint64_t changes;     /**< times that the class changed */
	uint64_t forced;      /**< of these: it stopped resting and was put out */
	uint64_t run_wait_ns; /**< ready to run while others ran, since it entered */
	/** Limit on the C-states of its CPU that is held now; 0: none. */
	uint64_t cpu_latency_ns;
};

/**
 * Prepare to lend a real-time class to a thread that rests. No thread has it yet:
 * lull_rest_thread_enter() says which one. Free it with lull_rest_thread_destroy().
 * @param idle    of the loop, borrowed until lull_rest_thread_destroy(); NULL: config->rests counts
 *                its rests
 * @param config  copied, but for what config->rests points at
 * @param thread  out
 * @return 0; -EINVAL: policy out of range, or not exactly one of @p idle and config->rests is
 *         given; -ENOMEM
 * Threads: any.
 */
int lull_rest_thread_create(const struct lull_idle *idle,
			    const struct lull_rest_thread_config *config,
			    struct lull_rest_thread **thread);
/**
 * Say which thread it is. A class that is refused is no error: lull_rest_thread_info() tells.
 * @param tid  its gettid(2) number; 0: the calling thread
 * @return 0; -EALREADY: a thread has entered and not left; another negative errno: there is no such
 *         thread
 * Threads: any.
 */
int lull_rest_thread_enter(struct lull_rest_thread *thread, int tid);
/**
 * Give the thread back the class that it had. Figures stay. The same or another thread may enter
 * again.
 * Threads: any.
 */
void lull_rest_thread_leave(struct lull_rest_thread *thread);
/**
 * Change policy or objective of a running thread. A class that was refused is tried again.
 * @param config  copied; config->rests is not looked at; a policy out of range changes nothing
 * Threads: any.
 */
void lull_rest_thread_change(struct lull_rest_thread *thread,
			     const struct lull_rest_thread_config *config);
/**
 * Tell what class the thread has, and why.
 * @param info  filled in
 * Threads: any.
 */
void lull_rest_thread_info(const struct lull_rest_thread *thread,
			   struct lull_rest_thread_info *info);
/**
 * Tell how often the class of the thread has changed. After a change the loop calls
 * lull_idle_forget(). It takes no lock.
 * @param thread  NULL is allowed
 * @return number of changes since it was created; 0 for NULL
 * Threads: any.
 */
uint64_t lull_rest_thread_changes(const struct lull_rest_thread *thread);
/**
 * Write a sentence about the class: which one it is, why, and which other thread of this program
 * can run on no other CPU.
 * @param text  gets "" when there is nothing to say; always ends with a zero
 * @param size  bytes of @p text, at least 1; a longer sentence is cut
 * @return @p text
 * Threads: any.
 */
char *lull_rest_thread_explain(const struct lull_rest_thread *thread, char *text, size_t size);
/**
 * Write a sentence about the limit on the C-states of the thread's CPU: what it is, or why there is
 * none.
 * @param text  gets "" when none was asked for; always ends with a zero
 * @param size  bytes of @p text, at least 1; a longer sentence is cut
 * @return @p text
 * Threads: any.
 */
char *lull_rest_thread_explain_cpu(const struct lull_rest_thread *thread, char *text, size_t size);
/**
 * Leave, and free the object.
 * @param thread  NULL is ignored
 * Threads: any.
 */
void lull_rest_thread_destroy(struct lull_rest_thread *thread);

/* ---- rests ---- */

/**
 * Rest, and fill in @p wake for lull_idle_wake(). It measures the CPU time of one rest in 64,
 * because reading that clock costs 0.3 us; in the others wake->cpu_ns is 0.
 * @param way      lull_rest_pause, lull_rest_sleep_timer or one of the caller's
 * @param context  passed to way->run
 * @param rest     what lull_idle_plan() returned; its idle state is not LULL_IDLE_NONE
 * @param wake     filled in
 * Threads: the one that rests.
 */
void lull_rest_run(const struct lull_rest_way *way, void *context, const struct lull_rest *rest,
		   struct lull_wake *wake);

/**
 * Make an idle object with memory of its own and start its clock. It also prepares the calling
 * thread, as lull_rest_thread_init() does. Free it with lull_idle_destroy().
 * @param governor  a name of lull_idle_governors, for example "objective"
 * @param limits    copied; NULL: all defaults; idle states other than pause and sleep are left out
 * @param idle      out
 * @return 0; -EINVAL: no governor of this name, or limits out of range; -ENOMEM; the negative errno
 *         of prctl(2)
 * Threads: the one that rests.
 */
int lull_idle_create(const char *governor, const struct lull_idle_limits *limits,
		     struct lull_idle **idle);
/**
 * Free an object of lull_idle_create().
 * @param idle  NULL is ignored
 * Threads: any, when the loop has ended.
 */
void lull_idle_destroy(struct lull_idle *idle);

/**
 * Do a whole iteration: plan, rest by a pause or a sleep, wake. It is for loops with one queue and
 * no deadline of their own. The work that the thread named by lull_busy() or
 * lull_queue_source_add() is taken into account.
 * @param now_ns     clock before the receive, of lull_clock_ns()
 * @param pkt_count  packets (or events) received; 0..65535
 * Threads: the one that rests.
 */
void lull_idle_iterate(struct lull_idle *idle, uint64_t now_ns, uint16_t pkt_count);
/**
 * Do the same for a governor that wants packet sizes; see lull_idle_wants_sizes().
 * @param now_ns         clock before the receive, of lull_clock_ns()
 * @param pkt_count      packets received; 0..65535
 * @param bytes          sum of their frames' bytes without CRC; 0: not measured
 * @param bytes_squared  sum of the squares of the frames' bytes
 * Threads: the one that rests.
 */
void lull_idle_iterate_sized(struct lull_idle *idle, uint64_t now_ns, uint16_t pkt_count,
			     uint64_t bytes, uint64_t bytes_squared);

/**
 * Read the CPU time of a thread of this process.
 * @param tid  its gettid(2) number
 * @return ns; 0: there is no such thread
 * Threads: any.
 */
uint64_t lull_thread_cpu_ns(int tid);
/**
 * Read the time that the hypervisor kept from a CPU, from /proc/stat, in steps of 10 ms.
 * @param cpu  its number, from 0
 * @return ns since the machine started; 0: unknown, or none
 * Threads: any.
 */
uint64_t lull_steal_ns(int cpu);

/**
 * Write a verdict as one English sentence.
 * @param limits  those of the idle object; zero stands for the default
 * @param text    always ends with a zero
 * @param size    bytes of @p text; a longer sentence is cut
 * @return @p text
 * Threads: any.
 */
char *lull_verdict_explain(const struct lull_verdict *verdict,
			   const struct lull_idle_limits *limits, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
