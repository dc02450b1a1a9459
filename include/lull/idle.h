/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Idle: decide how long a polling loop may rest.
 *
 * A loop that polls queues calls lull_idle_plan() once per iteration with what it
 * received, rests as the answer says (lull_rest_run() in rest.h, or a way of
 * its own) and tells lull_idle_wake() what happened. In between a *governor*
 * decides. Nothing here reads a clock, does I/O or allocates, so the same
 * object runs in a live loop, in a test and in the simulator.
 *
 * The end of an iteration, with two queues:
 *
 * @code
 * #include <lull/rest.h>
 *
 * void
 * end_iteration(struct lull_idle *idle, uint64_t now_ns, const uint16_t queue_pkts[2])
 * {
 *         struct lull_iteration iteration = { .now_ns = now_ns, .queue_pkts = queue_pkts,
 *                                   .queue_count = 2 };
 *         struct lull_rest rest = lull_idle_plan(idle, &iteration);
 *         const struct lull_rest_way *way = &lull_rest_sleep_timer;
 *         struct lull_wake wake;
 *
 *         if (rest.idle_state == LULL_IDLE_NONE)
 *                 return;
 *         if (rest.idle_state == LULL_IDLE_PAUSE)
 *                 way = &lull_rest_pause;
 *         lull_rest_run(way, NULL, &rest, &wake);
 *         lull_idle_wake(idle, &wake);
 * }
 * @endcode
 *
 * Threads: an idle object belongs to one loop, whose thread alone calls its
 *          functions. Any thread may read its counters and histograms.
 * Memory:  lives in lull_idle_size() bytes that the caller provides;
 *          lull_idle_create() in rest.h allocates for those who prefer that.
 */
#ifndef LULL_IDLE_H
#define LULL_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"
#include "histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_IDLE_QUEUES_MAX 64 /**< queues of one loop */
#define LULL_ARRIVAL_SCALES 15  /**< windows of 1, 2, 4 ... 16384 us */

/** Ways to rest, from the lightest to the deepest. */
enum lull_idle_state {
	LULL_IDLE_NONE,       /**< poll again at once */
	LULL_IDLE_PAUSE,      /**< keep the core, spare its pipeline and power */
	LULL_IDLE_MONITOR,    /**< core waits for a write to the Rx ring (WAITPKG) */
	LULL_IDLE_SLEEP,      /**< thread sleeps on a timer */
	LULL_IDLE_INTERRUPT,  /**< thread sleeps until a packet raises an interrupt */
	LULL_IDLE_STATE_COUNT /**< how many there are */
};
/** An idle state as a member of the set struct lull_idle_limits.idle_states. */
#define LULL_IDLE_STATE_BIT(idle_state) (1u << (idle_state))

/**
 * Name an idle state, for messages and JSON.
 * @param idle_state  below LULL_IDLE_STATE_COUNT; any other value is an assertion
 * @return "none", "pause", "monitor", "sleep" or "interrupt"; static
 * Threads: any.
 */
const char *lull_idle_state_name(enum lull_idle_state idle_state);

/** What a rest may do to packets. */
enum lull_loss {
	LULL_LOSS_ZERO,    /**< a rest must never let an Rx ring overflow */
	LULL_LOSS_TOLERATE /**< losing packets to a rest is acceptable */
};

/** Where the arrival limit of the zero-loss bound comes from. */
enum lull_envelope {
	LULL_ENVELOPE_LEARNED, /**< largest rate seen, doubled, at least 1 Mpps: not proven */
	LULL_ENVELOPE_LINK,    /**< link rate at 84 B on the wire: proven */
	LULL_ENVELOPE_STATED,  /**< the user's figure: as good as the figure */
};
/**
 * Name a kind of envelope, for messages and JSON.
 * @param envelope  one of the enumerators; any other value is an assertion
 * @return "learned", "link" or "stated"; static
 * Threads: any.
 */
const char *lull_envelope_name(enum lull_envelope envelope);

/** How the kalman governors keep what they know of each packet size; all decide alike. */
enum lull_record_layout {
	LULL_RECORD_LINKED,  /**< a linked list of the segments seen so far */
	LULL_RECORD_ARRAY,   /**< a row per byte of packet size */
	LULL_RECORD_SEGMENTS /**< a row per segment of row_bytes */
};
/**
 * Name a layout, for messages and JSON.
 * @param layout  one of the enumerators; any other value is an assertion
 * @return "linked", "array" or "segments"; static
 * Threads: any.
 */
const char *lull_record_layout_name(enum lull_record_layout layout);

/** Parameters of the kalman governors. Zero means the default in brackets. */
struct lull_kalman_config {
	uint64_t step_ns;   /**< the rest grows by this, up to 10 ms [10 us] */
	uint64_t window_ns; /**< sizes and speeds belong together for so long, 1 us..1 s [10 ms] */
	uint32_t tolerance_ppm;         /**< loss of speed accepted, 1..500000 [10000 = 1 %] */
	uint32_t row_bytes;             /**< packet sizes of one segment, up to 1437 [10] */
	enum lull_record_layout layout; /**< [linked] */
};

/** What the user and the machine allow. Zero means the default in brackets. */
struct lull_idle_limits {
	uint64_t latency_ns; /**< objective: added latency at the percentile, 1 us..1 s [200 us] */
	uint32_t percentile_ppm; /**< 500000..999999 [990000 = p99] */
	enum lull_loss loss;     /**< [zero] */
	/** No timed rest is longer, up to 1 s [1 ms]; one that a packet ends may take 10 ms. */
	uint64_t rest_ns_max;
	uint64_t rest_ns; /**< fixed: the rest; metronome: the vacation target [50 us] */
	/** metronome on shared queues: rest of a thread that finds its queue held [500 us] */
	uint64_t backup_ns;
	uint32_t ring_pkts; /**< descriptors of the smallest Rx ring, up to 2^20 [512] */
	uint32_t held_pkts; /**< descriptors the driver keeps for rearming, below ring_pkts [0] */
	uint32_t ring_pkts_max; /**< most that the device grants, for remedies; 0: not known [0] */
	enum lull_envelope envelope; /**< [learned] */
	uint64_t pps_max; /**< per ring, for link and stated, up to 10^12; ignored when learned */
	uint32_t burst_pkts; /**< a receive shorter than this emptied its queue [32] */
	/**
	 * A receive may be short although packets are left, as with virtio: only one of none tells
	 * that a queue is empty, or struct lull_iteration.emptied [no].
	 */
	bool short_leaves;
	/**
	 * Packets lost in a ring may be told of so much later, up to 10 s, as by drivers that hear
	 * of them from their device now and then [0].
	 */
	uint64_t loss_lag_ns;
	uint32_t
		/** LULL_IDLE_STATE_BIT() of the idle states on offer [pause, sleep] */
		idle_states;
	struct lull_kalman_config kalman; /**< of the kalman governors alone */
};

/** What one iteration of the loop did. */
struct lull_iteration {
	uint64_t now_ns;      /**< before the first receive of the iteration; never goes back */
	uint64_t deadline_ns; /**< the loop's own next duty: rest no longer; 0: none */
	/**
	 * Nothing urgent is expected before; what comes until then may wait as long as the rings
	 * hold it. 0: not known. Governor "phase" goes by it, no other.
	 */
	uint64_t quiet_until_ns;
	const uint16_t *queue_pkts; /**< packets received from each queue in this iteration */
	uint32_t queue_count;       /**< 1..LULL_IDLE_QUEUES_MAX, the same queues each iteration */
	/**
	 * Queues that gave packets and are empty all the same, bit i for queue i. Where short
	 * bursts may leave packets, the caller has asked the driver, and it counted none. 0: not
	 * known.
	 */
	uint64_t emptied;
	/**
	 * Sizes of the packets received since the last plan, for a governor that asks for them
	 * (lull_idle_wants_sizes()): their count, the sum of their frames' bytes without CRC and
	 * the sum of the squares. size_pkts 0: not measured.
	 */
	uint64_t size_pkts, bytes, bytes_squared;
};

/** How to rest now. */
struct lull_rest {
	enum lull_idle_state idle_state : 31; /**< NONE: poll again at once */
	/**
	 * To learn how late a packet ends such a rest: keep the core and watch the queues for
	 * limit_ns; when a packet has come, wait for what would have ended the rest, limit_ns at
	 * most. A way that cannot do so rests as usual.
	 */
	bool watch : 1;    /* here: so two registers hold the struct */
	uint64_t limit_ns; /**< longest rest asked for, > 0 unless idle state is NONE */
};

/** What ended a rest. */
enum lull_wake_reason {
	LULL_WAKE_TIMER,  /**< the rest reached its limit */
	LULL_WAKE_PACKET, /**< a packet ended it */
	LULL_WAKE_KICK,   /**< a signal or another thread ended it */
};

/** What became of a rest. */
struct lull_wake {
	struct lull_rest rest; /**< what was asked for */
	uint64_t begin_ns;     /**< clock right before resting */
	uint64_t end_ns;       /**< clock right after */
	uint64_t cpu_ns;       /**< CPU time the rest itself used; 0: not measured this time */
	enum lull_wake_reason reason; /**< what ended it */
	/**
	 * A rest with watch: no packet had come before, and one came right after. 0: none came, or
	 * the way cannot tell. With reason LULL_WAKE_TIMER its word never came.
	 */
	uint64_t packet_ns;
};

/** Counters of one loop. Durations are as measured, but for rest_requested_ns. */
struct lull_idle_counters {
	uint64_t iterations;        /**< of the loop */
	uint64_t iterations_empty;  /**< iterations that received nothing */
	uint64_t pkts;              /**< packets received */
	uint64_t busy_ns;           /**< iterations that carried packets: T_io + T_proc */
	uint64_t empty_ns;          /**< iterations that did not: T_empty */
	uint64_t rest_ns;           /**< resting: T_sleep */
	uint64_t rest_requested_ns; /**< the same as asked for */
	uint64_t overshoot_ns;      /**< rests beyond their limit */
	uint64_t rests[LULL_IDLE_STATE_COUNT]; /**< by idle state */
	uint64_t wakes_packet;                 /**< rests ended by a packet */
	uint64_t wakes_late;   /**< wake-ups beyond 4 x the usual overshoot + 50 us */
	uint64_t rests_cut;    /**< plans that a limit shortened */
	uint64_t misses;       /**< packets lost in an Rx ring that a rest may have filled */
	uint64_t misses_other; /**< packets lost in an Rx ring that no rest had filled */
	uint64_t backoffs;     /**< times a late wake-up or a miss shortened the rest */
};
/** Name, unit and meaning of each member of struct lull_idle_counters, ended by a NULL name. */
extern const struct lull_counter_info lull_idle_counter_table[];

/** What a governor can promise. */
enum lull_verdict_state {
	LULL_VERDICT_NONE, /**< the governor takes no objective */
	/** too few rests measured so far: rests are short, nothing is promised */
	LULL_VERDICT_CALIBRATING,
	LULL_VERDICT_FEASIBLE, /**< the objective holds with the rest stated */
	/** it does not hold, for the bound stated; the idle state says what the loop does */
	LULL_VERDICT_INFEASIBLE,
	LULL_VERDICT_SUSPENDED, /**< resting threads are woken too late too often */
};
/**
 * Name a state, for messages and JSON.
 * @param state  one of the enumerators; any other value is an assertion
 * @return "none", "calibrating", "feasible", "infeasible" or "suspended"; static
 * Threads: any.
 */
const char *lull_verdict_state_name(enum lull_verdict_state state);

/** Which limit decides the rest. */
enum lull_bound {
	LULL_BOUND_NONE,       /**< none */
	LULL_BOUND_LATENCY,    /**< the objective */
	LULL_BOUND_RING,       /**< room in the Rx ring */
	LULL_BOUND_CAP,        /**< rest_ns_max */
	LULL_BOUND_BREAK_EVEN, /**< what fits is too short to save anything */
	LULL_BOUND_OVERSHOOT,  /**< wake-ups come too late for the objective */
};
/**
 * Name a bound, for messages and JSON.
 * @param bound  one of the enumerators; any other value is an assertion
 * @return "none", "latency", "ring", "cap", "break-even" or "overshoot"; static
 * Threads: any.
 */
const char *lull_bound_name(enum lull_bound bound);

/** What a remedy changes; a set of these. */
enum lull_remedy_change {
	LULL_REMEDY_RING = 1 << 0,      /**< a larger Rx ring: remedy.ring_pkts */
	LULL_REMEDY_PPS_MAX = 1 << 1,   /**< a lower rate stated: remedy.pps_max */
	LULL_REMEDY_LATENCY = 1 << 2,   /**< a longer objective: remedy.latency_ns */
	LULL_REMEDY_MAX_REST = 1 << 3,  /**< a longer cap: remedy.rest_ns_max */
	LULL_REMEDY_LOSS = 1 << 4,      /**< LULL_LOSS_TOLERATE */
	LULL_REMEDY_QUIET = 1 << 5,     /**< nothing else that holds the thread up */
	LULL_REMEDY_INTERRUPT = 1 << 6, /**< rests that an interrupt ends */
	LULL_REMEDY_PORT = 1 << 7,      /**< a port with interrupts */
};
/** Most remedies of a verdict. */
#define LULL_REMEDIES_MAX 6

/**
 * Other limits, or another machine, with which the loop could rest, and what that would bring,
 * reckoned as the governor itself reckons.
 */
struct lull_remedy {
	uint32_t changes;        /**< enum lull_remedy_change, all of them together */
	bool fits;               /**< the objective would hold; else why not is in binding */
	bool measured;           /**< wake-ups were measured; else it is reckoned with a guess */
	enum lull_bound binding; /**< what would limit the rest; NONE and not fits: not known */
	uint32_t ring_pkts;      /**< descriptors to ask for */
	uint64_t pps_max;        /**< rate to state, packets per second and ring */
	uint64_t latency_ns;     /**< objective to set */
	uint64_t rest_ns_max;    /**< cap to set */
	uint64_t rest_ns;        /**< longest rest that this allows; 0: none */
	uint32_t cpu_ppm;        /**< share of the core with such rests */
};

/** What lull_idle_verdict() tells: a promise, what limits it, and the figures behind it. */
struct lull_verdict {
	enum lull_verdict_state state;   /**< what is promised */
	enum lull_bound binding;         /**< which limit decides */
	enum lull_idle_state idle_state; /**< how the loop rests now */
	uint64_t rest_ns;                /**< rest asked for now */
	uint64_t latency_bound_ns;       /**< longest real rest the percentile allows */
	uint64_t ring_bound_ns;          /**< longest rest the ring allows; UINT64_MAX: any */
	uint64_t break_even_ns;          /**< shortest rest that saves CPU */
	uint64_t predicted_ns;           /**< added wait at the percentile with this rest */
	uint32_t predicted_cpu_ppm;      /**< share of the core */
	/** Percentiles of how late a sleep ends on this machine. */
	uint64_t overshoot_p50_ns, overshoot_p99_ns, overshoot_p9999_ns;
	uint64_t cost_ns;            /**< CPU time of one rest */
	uint32_t load_ppm;           /**< rho: share of time that serving the arrivals takes */
	uint32_t resting_ppm;        /**< f: share of the packets that arrive during a rest */
	uint64_t arrival_pps;        /**< packets per second that come */
	enum lull_envelope envelope; /**< where pps_max comes from */
	uint64_t pps_max;            /**< arrival limit behind ring_bound_ns */
	/** Poll iteration that ring_bound_ns reckons with, a burst of each queue; 0: none known. */
	uint64_t iteration_ns;
	/** Packets at pps_max come faster than the loop takes them: polling loses some as well. */
	bool outrun;
	/** p99.99 of how late a packet ends a rest by interrupt; 0: not measured so far. */
	uint64_t interrupt_late_ns;
	uint64_t calibration_count; /**< rests measured */
	/**
	 * Measured since the last lull_idle_mark(): packets that waited longer than the objective,
	 * parts per million; reckoned as if packets came evenly while nobody looked.
	 */
	uint32_t late_ppm;
	/** Share of packets that stalls of half a millisecond or more make late, over some 20 s. */
	uint32_t stall_ppm;
	uint64_t stall_rate; /**< such stalls per 1000 s */
	uint64_t stall_ns;   /**< length of the longest ones; 0: none */
	/** Arrival curve: most packets of one queue in any window of 2^i us, faded by age. */
	uint64_t arrival_pkts[LULL_ARRIVAL_SCALES];
	/**
	 * Where the objective does not hold, lull_idle_remedies() tells what would help: what gives
	 * up least first, and then what takes the least CPU. Those that do not fit come last, with
	 * the reason.
	 */
	uint32_t remedy_count;
	struct lull_remedy remedies[LULL_REMEDIES_MAX];
};

struct lull_idle_governor; /* core/idle/governor.h */
struct lull_idle;          /* opaque */

/** Every governor, ended by NULL: options, help, tests and the simulator walk the list. */
extern const struct lull_idle_governor *const lull_idle_governors[];
/**
 * Find a governor by its name.
 * @param name  for example "objective"; lull_idle_governors has all of them
 * @return the governor, static; NULL: none has this name
 * Threads: any.
 */
const struct lull_idle_governor *lull_idle_governor_find(const char *name);
/**
 * Name a governor, as lull_idle_governor_find() takes it.
 * @return its name; static
 * Threads: any.
 */
const char *lull_idle_governor_name(const struct lull_idle_governor *governor);
/**
 * Describe a governor in one line, for --help.
 * @return the line, without a line feed; static
 * Threads: any.
 */
const char *lull_idle_governor_summary(const struct lull_idle_governor *governor);

/**
 * Check limits. A member that is zero stands for its default and is in range.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_idle_config_check(const struct lull_idle_limits *limits, struct lull_range *error);

/**
 * Tell how much memory an idle object needs. It is the same for every governor.
 * @return bytes; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_idle_size(void);
/**
 * Set up an idle object in memory of the caller. It lives until the caller frees that memory;
 * nothing else is to be released.
 * @param memory  lull_idle_size() bytes, aligned to LULL_CACHE_LINE; what they hold does not matter
 * @param limits  copied
 * @param now_ns  clock now, the one that later iterations have
 * @param idle    out: the object; it is at @p memory
 * @return 0; -EINVAL: no memory, not aligned, no governor, or limits out of range
 */
int lull_idle_init(void *memory, const struct lull_idle_governor *governor,
		   const struct lull_idle_limits *limits, uint64_t now_ns, struct lull_idle **idle);

/**
 * Ask whether the governor looks at packet sizes. Only then must the loop measure them and fill in
 * size_pkts, bytes and bytes_squared of struct lull_iteration. The answer may change with
 * lull_idle_change().
 * @return true: measure them
 */
bool lull_idle_wants_sizes(const struct lull_idle *idle);
/**
 * Decide how to rest now. Call it once per iteration of the loop, after the packets were handled.
 * @param iteration  what the iteration received; not kept
 * @return the rest, already cut to the limits and to iteration->deadline_ns; idle state
 *         LULL_IDLE_NONE: poll again at once, and do not call lull_idle_wake()
 */
struct lull_rest lull_idle_plan(struct lull_idle *idle, const struct lull_iteration *iteration);
/**
 * Tell what became of a rest. Call it after each rest that lull_idle_plan() asked for, before the
 * next iteration.
 * @param wake  lull_rest_run() fills it in; not kept
 */
void lull_idle_wake(struct lull_idle *idle, const struct lull_wake *wake);
/**
 * Account iterations that were not planned one by one, for loops that do not time every iteration.
 * Since the last call of lull_idle_plan(), lull_idle_wake() or this function, @p iterations
 * iterations ended. None of them followed a rest, so their packets waited for nothing that lull
 * did. The time up to @p now_ns is split into empty and busy time: runs of empty iterations tell
 * how long an empty iteration takes.
 * @param now_ns       clock now; never goes back
 * @param iterations        0: only the last planned iteration has ended
 * @param iterations_empty  of these, iterations that received nothing
 * @param pkts         what the others received in all
 */
void lull_idle_polled(struct lull_idle *idle, uint64_t now_ns, uint64_t iterations,
		      uint64_t iterations_empty, uint64_t pkts);
/**
 * Tell that Rx rings lost packets since the last call. The loss is charged to resting (counter
 * misses) when a rest since the last call may have filled a ring: the loop fetched at least half of
 * limits.ring_pkts after it before its queues ran short, or ring_pkts was left 0. Otherwise it is
 * charged to nobody (misses_other): the ring overflowed while the loop polled, and shorter rests
 * would not help. A governor shortens its rests after a loss that is charged to it.
 * @param now_ns  clock now
 * @param pkts    by how much the ports' counters of missed packets rose; 0 is allowed
 */
void lull_idle_miss(struct lull_idle *idle, uint64_t now_ns, uint64_t pkts);

/**
 * Change the governor and the limits of a running loop. What was learned of this machine and of the
 * traffic stays. The governor starts anew.
 * @param governor  NULL: keep the present one
 * @param limits    copied
 * @return 0; -EINVAL: limits out of range, nothing was changed
 */
int lull_idle_change(struct lull_idle *idle, const struct lull_idle_governor *governor,
		     const struct lull_idle_limits *limits);
/**
 * Learn anew how late rests end. Call it when the thread has another scheduling class or another
 * CPU. What was learned of the traffic stays.
 */
void lull_idle_forget(struct lull_idle *idle);
/**
 * Begin a new measurement window: clear the two histograms and late_ppm of the verdict. Counters
 * run on.
 */
void lull_idle_mark(struct lull_idle *idle);

/**
 * Tell which governor decides.
 * @return the governor; static, never NULL
 */
const struct lull_idle_governor *lull_idle_governor(const struct lull_idle *idle);
/**
 * Tell the limits in force, with defaults filled in.
 * @return borrowed for the life of the object; lull_idle_change() changes what it points at
 */
const struct lull_idle_limits *lull_idle_limits(const struct lull_idle *idle);
/**
 * Give access to the counters. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the object
 * Threads: any.
 */
const struct lull_idle_counters *lull_idle_counters(const struct lull_idle *idle);
/**
 * Give access to the lengths of real rests in this window, in ns.
 * @return borrowed for the life of the object
 * Threads: any.
 */
const struct lull_histogram *lull_idle_rest_histogram(const struct lull_idle *idle);
/**
 * Give access to an upper bound of the wait that lull added, per packet, in ns, in this window. A
 * packet that is fetched before its ring first ran short after a rest waited at most from the last
 * time the ring was known to be empty to the end of the iteration that fetched it. This needs no
 * time stamps in packets.
 * @return borrowed for the life of the object
 * Threads: any.
 */
const struct lull_histogram *lull_idle_wait_histogram(const struct lull_idle *idle);
/**
 * Tell what the governor promises now, and why. lull_verdict_explain() makes a sentence of it.
 * @param verdict  filled in
 */
void lull_idle_verdict(const struct lull_idle *idle, struct lull_verdict *verdict);
/**
 * Find what would help where the objective does not hold, and fill in the remedies of a verdict.
 * Takes some 100 us: a loop whose rings fill faster leaves it to a time without traffic.
 * @param verdict  as lull_idle_verdict() has filled it in; one that is not infeasible or suspended
 *                 gets no remedies
 */
void lull_idle_remedies(const struct lull_idle *idle, struct lull_verdict *verdict);

/**
 * Compute the share of time in iterations that received nothing: T_empty / T, where T is busy_ns +
 * empty_ns + rest_ns (eta of the time model in docs/sleep-model.md).
 * @return parts per million; 0 before the first iteration has ended
 * Threads: any.
 */
uint32_t lull_idle_empty_ppm(const struct lull_idle_counters *counters);
/**
 * Compute the CPU usage of the time model: 1 - T_sleep / T, where T_sleep is rest_ns and T is
 * busy_ns + empty_ns + rest_ns (U of the time model in docs/sleep-model.md). All rests count as
 * sleep, a pause too; lull_thread_cpu_ns() tells what the kernel accounts.
 * @return parts per million; 1000000 before the first iteration has ended
 * Threads: any.
 */
uint32_t lull_idle_usage_ppm(const struct lull_idle_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
