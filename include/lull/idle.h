/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Idle: decide how long a polling loop may rest.
 *
 * A loop that polls queues calls lull_idle_plan() once per turn with what it
 * received, carries the answer out (lull_rest_run() in rest.h, or its own way)
 * and tells lull_idle_wake() what happened. In between a *governor* decides.
 * Nothing here reads a clock, does I/O or allocates, so the same object runs
 * in a live loop, in a test and in the simulator.
 *
 *     turn.now_ns = clock(); ... receive, process, send ...
 *     rest = lull_idle_plan(idle, &turn);
 *     if (rest.depth != LULL_REST_NONE) {
 *             lull_rest_run(&rest, &wake);
 *             lull_idle_wake(idle, &wake);
 *     }
 *
 * Threads: an idle object belongs to one loop. Counters, histograms and
 *          lull_idle_verdict_read() may be read by any thread.
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

#define LULL_IDLE_QUEUES_MAX 64
#define LULL_ARRIVAL_SCALES 15 /**< windows of 1, 2, 4 ... 16384 us */

/** Ways to rest, from the lightest to the deepest. */
enum lull_rest_depth {
	LULL_REST_NONE,      /**< poll again at once */
	LULL_REST_PAUSE,     /**< keep the core, spare its pipeline and power */
	LULL_REST_MONITOR,   /**< core waits for a write to the Rx ring (WAITPKG) */
	LULL_REST_SLEEP,     /**< thread sleeps on a timer */
	LULL_REST_INTERRUPT, /**< thread sleeps until a packet raises an interrupt */
	LULL_REST_DEPTH_COUNT
};
#define LULL_REST_BIT(depth) (1u << (depth))

/** "none", "pause", ... for messages and JSON. */
const char *lull_rest_depth_name(enum lull_rest_depth depth);

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
const char *lull_envelope_name(enum lull_envelope envelope);

/** How the kalman governors keep what they know of each packet size; all decide alike. */
enum lull_record_layout {
	LULL_RECORD_LINKED,  /**< a linked list of the segments seen so far */
	LULL_RECORD_ARRAY,   /**< a row per byte of packet size */
	LULL_RECORD_SEGMENTS /**< a row per segment of row_bytes */
};
/** "linked", "array", "segments". */
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
	uint64_t rest_ns;   /**< fixed: the rest; metronome: the vacation target [50 us] */
	uint32_t ring_pkts; /**< descriptors of the smallest Rx ring, up to 2^20 [512] */
	uint32_t held_pkts; /**< descriptors the driver keeps for rearming, below ring_pkts [0] */
	enum lull_envelope envelope; /**< [learned] */
	uint64_t pps_max; /**< per ring, for link and stated, up to 10^12; ignored when learned */
	uint32_t burst_pkts; /**< a receive shorter than this emptied its queue [32] */
	uint32_t depths;     /**< LULL_REST_BIT() of the depths on offer [pause, sleep] */
	struct lull_kalman_config kalman;
};

/** What one turn of the loop did. */
struct lull_turn {
	uint64_t now_ns;      /**< before the first receive of the turn; never goes back */
	uint64_t deadline_ns; /**< the loop's own next duty: rest no longer; 0: none */
	/**
	 * Nothing urgent is expected before; what comes until then may wait as long as the rings
	 * hold it. 0: not known. Governor "phase" goes by it, no other.
	 */
	uint64_t calm_ns;
	const uint16_t *queue_pkts; /**< packets received from each queue in this turn */
	uint32_t queue_count;       /**< 1..LULL_IDLE_QUEUES_MAX, the same queues each turn */
	/**
	 * Sizes of the packets received since the last plan, for a governor that asks for them
	 * (lull_idle_wants_sizes()): their count, the sum of their frames' bytes without CRC and
	 * the sum of the squares. size_pkts 0: not measured.
	 */
	uint64_t size_pkts, bytes, bytes_squared;
};

/** How to rest now. */
struct lull_rest {
	enum lull_rest_depth depth;
	uint64_t limit_ns; /**< longest rest asked for, > 0 unless depth is NONE */
};

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
	enum lull_wake_reason reason;
};

/** Counters of one loop; every duration is real time, not requested time. */
struct lull_idle_counters {
	uint64_t turns;
	uint64_t turns_empty;
	uint64_t pkts;
	uint64_t busy_ns;           /**< turns that carried packets: T_io + T_proc */
	uint64_t empty_ns;          /**< turns that did not: T_empty */
	uint64_t rest_ns;           /**< resting: T_sleep */
	uint64_t rest_requested_ns; /**< the same as asked for */
	uint64_t overshoot_ns;      /**< rests beyond their limit */
	uint64_t rests[LULL_REST_DEPTH_COUNT];
	uint64_t wakes_packet; /**< rests ended by a packet */
	uint64_t wakes_late;   /**< wake-ups beyond 4 x the usual overshoot + 50 us */
	uint64_t rests_cut;    /**< plans that a limit shortened */
	uint64_t misses;       /**< packets lost in an Rx ring after a rest */
	uint64_t misses_other; /**< packets lost in an Rx ring, no rest to blame */
	uint64_t backoffs;     /**< times a late wake-up or a miss shortened the rest */
};
/** The table of the struct above, ended by a NULL name. */
extern const struct lull_counter_info lull_idle_counter_table[];

/** What a governor can promise. */
enum lull_verdict_state {
	LULL_VERDICT_NONE, /**< the governor takes no objective */
	/** too few rests measured yet: resting shortly, promising nothing */
	LULL_VERDICT_CALIBRATING,
	LULL_VERDICT_FEASIBLE,   /**< the objective holds with the rest stated */
	LULL_VERDICT_INFEASIBLE, /**< no sleep fits: the depth stated is the fallback */
	LULL_VERDICT_SUSPENDED,  /**< this host wakes the thread too late too often */
};
const char *lull_verdict_state_name(enum lull_verdict_state state);

/** Which limit decides the rest. */
enum lull_bound {
	LULL_BOUND_NONE,
	LULL_BOUND_LATENCY,    /**< the objective */
	LULL_BOUND_RING,       /**< room in the Rx ring */
	LULL_BOUND_CAP,        /**< rest_ns_max */
	LULL_BOUND_BREAK_EVEN, /**< what fits is too short to save anything */
	LULL_BOUND_OVERSHOOT,  /**< wake-ups come too late for the objective */
};
const char *lull_bound_name(enum lull_bound bound);

struct lull_verdict {
	enum lull_verdict_state state;
	enum lull_bound binding;
	enum lull_rest_depth depth; /**< how the loop rests now */
	uint64_t rest_ns;           /**< rest asked for now */
	uint64_t latency_bound_ns;  /**< longest real rest the percentile allows */
	uint64_t ring_bound_ns;     /**< longest rest the ring allows; UINT64_MAX: any */
	uint64_t break_even_ns;     /**< shortest rest that saves CPU */
	uint64_t predicted_ns;      /**< added wait at the percentile with this rest */
	uint32_t predicted_cpu_ppm; /**< share of the core */
	uint64_t overshoot_p50_ns, overshoot_p99_ns, overshoot_p9999_ns;
	uint64_t cost_ns;     /**< CPU time of one rest */
	uint32_t load_ppm;    /**< rho: share of time that serving the arrivals takes */
	uint32_t resting_ppm; /**< f: share of the packets that arrive during a rest */
	uint64_t arrival_pps;
	enum lull_envelope envelope;
	uint64_t pps_max;           /**< arrival limit behind ring_bound_ns */
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
};

struct lull_idle_governor; /* core/idle/governor.h */
struct lull_idle;          /* opaque */

/** Every governor, NULL at the end: options, help, tests and the simulator walk it. */
extern const struct lull_idle_governor *const lull_idle_governors[];
/** Governor of this name, or NULL. */
const struct lull_idle_governor *lull_idle_governor_find(const char *name);
const char *lull_idle_governor_name(const struct lull_idle_governor *governor);
/** One line for --help. */
const char *lull_idle_governor_summary(const struct lull_idle_governor *governor);

/** Check limits; -EINVAL and @p error filled in (when not NULL) if one is out of range. */
int lull_idle_config_check(const struct lull_idle_limits *limits, struct lull_range *error);

/** Bytes for an idle object, the same for every governor. Align to LULL_CACHE_LINE. */
size_t lull_idle_size(void);
/** Set up an idle object in @p memory (contents do not matter). 0 or -EINVAL. */
int lull_idle_init(void *memory, const struct lull_idle_governor *governor,
		   const struct lull_idle_limits *limits, uint64_t now_ns, struct lull_idle **idle);

/**
 * Does the governor look at packet sizes? Others never read them, so a loop need not measure them.
 * The answer may change with lull_idle_change(). Owner thread only.
 */
bool lull_idle_wants_sizes(const struct lull_idle *idle);
/** After each turn: how to rest now, already cut to the limits. */
struct lull_rest lull_idle_plan(struct lull_idle *idle, const struct lull_turn *turn);
/** After each rest. */
void lull_idle_wake(struct lull_idle *idle, const struct lull_wake *wake);
/**
 * For loops that do not time every turn: since the last plan, wake or call of this, @p turns turns
 * ended, @p turns_empty of which received nothing and the others @p pkts packets in all. None of
 * them followed a rest, so their packets waited for nothing that lull did. The time up to
 * @p now_ns is split by what an empty turn takes, which runs of empty turns tell.
 * With no turns it only says that the last planned turn has ended.
 */
void lull_idle_polled(struct lull_idle *idle, uint64_t now_ns, uint64_t turns, uint64_t turns_empty,
		      uint64_t pkts);
/**
 * The Rx rings lost packets since the last call: @p pkts is the rise of the
 * ports' missed counters. Charged to resting when a rest has ended since the
 * last call, otherwise counted as misses_other.
 */
void lull_idle_miss(struct lull_idle *idle, uint64_t now_ns, uint64_t pkts);

/**
 * Change the governor (NULL: keep) and limits of a running loop; what was learned stays. 0 or
 * -EINVAL.
 */
int lull_idle_change(struct lull_idle *idle, const struct lull_idle_governor *governor,
		     const struct lull_idle_limits *limits);
/**
 * The thread has another scheduling class, or another CPU: how late its rests end is learned anew,
 * what was learned of the traffic stays. Owner thread only.
 */
void lull_idle_forget(struct lull_idle *idle);
/** Start a new measurement window: clears the window histograms, nothing else. */
void lull_idle_mark(struct lull_idle *idle);

const struct lull_idle_governor *lull_idle_governor(const struct lull_idle *idle);
const struct lull_idle_limits *lull_idle_limits(const struct lull_idle *idle);
/** Borrowed for the life of the object; read members with LULL_COUNTER_READ(). */
const struct lull_idle_counters *lull_idle_counters(const struct lull_idle *idle);
/** Lengths of real rests in this window. */
const struct lull_histogram *lull_idle_rest_histogram(const struct lull_idle *idle);
/**
 * Upper bound of the wait lull added, per packet, in this window: a packet
 * fetched before its ring first ran short after a rest waited no longer than
 * from the last time the ring was known empty to the end of the turn that
 * carried it. Needs no time stamps in packets.
 */
const struct lull_histogram *lull_idle_wait_histogram(const struct lull_idle *idle);
/** What the governor promises now. Owner thread only. */
void lull_idle_verdict(const struct lull_idle *idle, struct lull_verdict *verdict);

/** Empty polling rate eta = T_empty / T, parts per million. */
uint32_t lull_idle_empty_ppm(const struct lull_idle_counters *counters);
/** CPU usage of the time model U = 1 - T_sleep / T, parts per million. */
uint32_t lull_idle_usage_ppm(const struct lull_idle_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
