/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Dispatch: choose a worker for each packet of a burst.
 *
 * Works on digests of flows only; whoever holds the packets moves them. A
 * *scheduler* (core/dispatch, one file each, listed in schedulers.c) proposes
 * workers; the dispatcher around it keeps what must not depend on a policy:
 * the order contract, the buckets, pins, the shadow, counters and the trace.
 *
 * Buckets: flows whose digests share the low bucket_bits stand in one bucket.
 * A bucket knows the worker that its last packet went to, how far that worker
 * must have come to have none of it left, and numbers its packets. They are
 * kept (config "tracks") when the scheduler splits flows, when an order
 * contract asks for them, or when several dispatchers feed the same workers.
 *
 * Threads: a dispatcher belongs to one loop and is called by that loop alone;
 *          counters may be read by any thread.
 * Memory:  lives in lull_dispatch_size() bytes that the caller provides.
 */
#ifndef LULL_DISPATCH_H
#define LULL_DISPATCH_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_DISPATCH_WORKERS_MAX 32 /**< workers of one dispatcher */
#define LULL_DISPATCH_BURST_MAX 512  /**< packets of one call */
/** Digests are 31 bits: 0..LULL_DIGEST_MAX, as the weights of HRW want them. */
#define LULL_DIGEST_MAX 0x7fffffffu

/** What is promised about the packets of one flow. */
enum lull_order {
	LULL_ORDER_NONE,      /**< nothing; reordering is counted */
	LULL_ORDER_DRAIN,     /**< a flow moves only when its old worker holds none of it */
	LULL_ORDER_RESEQUENCE /**< flows move freely; lull_resequence mends it at the output */
};
/**
 * Name an order contract, for messages and JSON.
 * @return "none", "drain" or "resequence"; static
 * Threads: any.
 */
const char *lull_order_name(enum lull_order order);

struct lull_scheduler; /* core/dispatch/scheduler.h */
/** Every scheduler, ended by NULL: rr-packet, rr-burst, crc32, hrw, ahrw ... */
extern const struct lull_scheduler *const lull_schedulers[];
/**
 * Find a scheduler by its name.
 * @param name  for example "crc32"; lull_schedulers has all of them
 * @return the scheduler, static; NULL: none has this name
 * Threads: any.
 */
const struct lull_scheduler *lull_scheduler_find(const char *name);
/**
 * Name a scheduler, as lull_scheduler_find() takes it.
 * @return its name; static
 * Threads: any.
 */
const char *lull_scheduler_name(const struct lull_scheduler *scheduler);
/**
 * Describe a scheduler in one line, for --help.
 * @return the line, without a line feed; static
 * Threads: any.
 */
const char *lull_scheduler_summary(const struct lull_scheduler *scheduler);
/**
 * Ask whether a scheduler can send packets of one flow to several workers.
 * @return true: it can
 * Threads: any.
 */
bool lull_scheduler_splits(const struct lull_scheduler *scheduler);

/** How the weights of HRW are computed; all give the same numbers. */
enum lull_weights {
	LULL_WEIGHTS_BEST, /**< the widest this CPU has */
	LULL_WEIGHTS_SCALAR,
	LULL_WEIGHTS_AVX2,
	LULL_WEIGHTS_AVX512
};
/**
 * Name a way to compute weights, for messages and JSON.
 * @return "best", "scalar", "avx2" or "avx512"; static
 * Threads: any.
 */
const char *lull_weights_name(enum lull_weights weights);
/**
 * Ask whether this CPU can compute weights this way.
 * @return true: it can
 * Threads: any.
 */
bool lull_weights_available(enum lull_weights weights);

/** Zero means the default in brackets. */
struct lull_dispatch_config {
	const struct lull_scheduler *scheduler; /**< required */
	const struct lull_scheduler *shadow;    /**< decides beside it without effect [NULL] */
	enum lull_order order;                  /**< [none] */
	uint32_t worker_count;                  /**< 1..LULL_DISPATCH_WORKERS_MAX, required */
	uint32_t bucket_bits;                   /**< 8..22 [16] */
	/** Load above which subflow and ahrw relieve a worker, ppm of its ring [250000]. */
	uint32_t threshold_ppm;
	/**
	 * sticky: a worker above enter gives flows away, one below leave takes its own back.
	 * 0: from the fill and drain rates measured, not below 1/16 and 1/64 of the ring.
	 */
	uint32_t enter_ppm, leave_ppm;
	uint64_t idle_ns; /**< a bucket silent for so long is forgotten, 1 ms..1 day [30 s] */
	/**
	 * The first so many packets of a flow that is not identified do not move its bucket,
	 * 0..65534 [0: no pins].
	 */
	uint32_t pin_pkts;
	bool tracks;               /**< keep buckets whatever the scheduler [false] */
	enum lull_weights weights; /**< [best] */
	uint64_t seed;             /**< of rr's start and of ties [0] */
};
/**
 * Check a configuration. A member that is zero stands for its default.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_dispatch_config_check(const struct lull_dispatch_config *config, struct lull_range *error);

/** How a worker stands: read once per burst. */
struct lull_dispatch_load {
	uint32_t used_pkts;     /**< in its ring and staged for it */
	uint32_t capacity_pkts; /**< of the ring, > 0 */
	uint64_t done_pkts;     /**< of what this dispatcher sent it, finished since the start */
	uint32_t staged_pkts;   /**< of used_pkts, those that this dispatcher has not written yet */
};

/** What travels with a packet when buckets are kept; all zero otherwise. */
struct lull_dispatch_mark {
	uint32_t bucket; /**< index, below 1 << bucket_bits */
	uint32_t seq;    /**< number within the bucket, 0 1 2 ..., wraps */
	uint16_t flags;  /**< LULL_DISPATCH_... */
	uint16_t app;    /**< verdict of an earlier worker on this flow, 0: none */
};
/**
 * Another worker has or had packets of this bucket, and flows can have packets at two workers: the
 * scheduler splits them, or another one decided before.
 */
#define LULL_DISPATCH_SHARED 1u
#define LULL_DISPATCH_MOVED 2u /**< the first packet after a change of worker */

/** Counters of one dispatcher. */
struct lull_dispatch_counters {
	uint64_t pkts; /**< decided */
	uint64_t bursts;
	uint64_t moves;          /**< a bucket changed worker */
	uint64_t moves_inflight; /**< of these, while the old worker still held some of it */
	uint64_t held_order;     /**< packets that stayed only because of the order contract */
	uint64_t held_pin;       /**< packets that stayed only because their bucket is pinned */
	uint64_t relieved;       /**< packets the scheduler sent elsewhere because of load */
	uint64_t collisions;     /**< subflow-paper: packets that took the slot of another flow */
	uint64_t retried;        /**< packets given a second worker by lull_dispatch_refused() */
	uint64_t refused;        /**< packets that had to be dropped there */
	uint64_t notes;          /**< verdicts handed over */
	uint64_t shadow_agreed;  /**< packets for which the shadow chose the same worker */
	uint64_t shadow_moves;   /**< moves the shadow would have made */
	uint64_t worker_pkts[LULL_DISPATCH_WORKERS_MAX];
	uint64_t shadow_pkts[LULL_DISPATCH_WORKERS_MAX]; /**< as the shadow would have sent them */
};
/**
 * Name, unit and meaning of the members of struct lull_dispatch_counters but for its arrays, ended
 * by a NULL name.
 */
extern const struct lull_counter_info lull_dispatch_counter_table[];

struct lull_dispatch; /* opaque */

/**
 * Tell how much memory a dispatcher of this configuration needs. It suffices for any scheduler that
 * lull_dispatch_change() may set later.
 * @param config  must pass its check
 * @return bytes; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_dispatch_size(const struct lull_dispatch_config *config);
/**
 * Set up a dispatcher in memory of the caller. It lives until the caller frees that memory.
 * @param memory    lull_dispatch_size() bytes, aligned to LULL_CACHE_LINE
 * @param config    copied
 * @param dispatch  out: the object; it is at @p memory
 * @return 0; -EINVAL: a member of @p config is out of range
 */
int lull_dispatch_init(void *memory, const struct lull_dispatch_config *config,
		       struct lull_dispatch **dispatch);
/**
 * Choose workers for a burst of packets, oldest first.
 * @param now_ns   clock of the iteration; never goes back
 * @param loads    one per worker
 * @param digests  one per packet, 0..LULL_DIGEST_MAX
 * @param crcs     lull_flow_key_crc32() of each packet; may be NULL unless
 *                 lull_dispatch_needs_crcs()
 * @param count    packets, at most LULL_DISPATCH_BURST_MAX
 * @param workers  out: worker index of each packet
 * @param marks    out: one per packet; may be NULL when buckets are not kept
 */
void lull_dispatch_burst(struct lull_dispatch *dispatch, uint64_t now_ns,
			 const struct lull_dispatch_load *loads, const uint32_t *digests,
			 const uint32_t *crcs, uint32_t count, uint16_t *workers,
			 struct lull_dispatch_mark *marks);
/**
 * Choose again for packets that a worker has no room for. They are the last that it was sent. Each
 * gets another worker that has room and may have it, or @p from itself: then the packet must be
 * dropped. The caller counts in @p loads what it gives to others. Call it before the next burst.
 * @param now_ns   clock of the iteration
 * @param from     the worker without room
 * @param loads    one per worker
 * @param digests  one per packet
 * @param count    packets, at most LULL_DISPATCH_BURST_MAX
 * @param workers  out: worker index of each packet
 * @param marks    those of the packets, brought up to date; may be NULL when buckets are not kept
 */
void lull_dispatch_refused(struct lull_dispatch *dispatch, uint64_t now_ns, uint16_t from,
			   const struct lull_dispatch_load *loads, const uint32_t *digests,
			   uint32_t count, uint16_t *workers, struct lull_dispatch_mark *marks);
/**
 * Tell that the second worker has no room either: packets that lull_dispatch_refused() gave it are
 * dropped.
 * @param worker  the second worker
 * @param count   packets, the last that it was given
 */
void lull_dispatch_dropped(struct lull_dispatch *dispatch, uint16_t worker, uint32_t count);
/**
 * Tell that a worker has identified a flow. The verdict travels with later packets of the flow,
 * which may move from now on.
 * @param digest  of the flow
 * @param app     the verdict, above 0
 */
void lull_dispatch_note(struct lull_dispatch *dispatch, uint32_t digest, uint16_t app);
/**
 * Go on with another scheduler and shadow. Buckets stay. Without buckets nobody is told that flows
 * move here: set config tracks if records have to be exact.
 * @param shadow  NULL: none
 */
void lull_dispatch_change(struct lull_dispatch *dispatch, const struct lull_scheduler *scheduler,
			  const struct lull_scheduler *shadow);
/**
 * Change the load thresholds of a running dispatcher; 0 means as in struct lull_dispatch_config.
 * @param threshold_ppm  0..1000000
 * @param enter_ppm      0..1000000
 * @param leave_ppm      0..1000000, below @p enter_ppm
 */
void lull_dispatch_thresholds(struct lull_dispatch *dispatch, uint32_t threshold_ppm,
			      uint32_t enter_ppm, uint32_t leave_ppm);
/**
 * Tell which scheduler decides.
 * @return the scheduler; static, never NULL
 */
const struct lull_scheduler *lull_dispatch_scheduler(const struct lull_dispatch *dispatch);
/**
 * Ask whether somebody reads the CRC-32 of keys: scheduler, shadow or trace. Packets then need
 * theirs.
 * @return true: lull_dispatch_burst() must get them
 */
bool lull_dispatch_needs_crcs(const struct lull_dispatch *dispatch);
/**
 * Ask whether buckets are kept and marks filled in. That holds for the life of the dispatcher.
 * @return true: they are
 */
bool lull_dispatch_tracks(const struct lull_dispatch *dispatch);
/**
 * Give access to the counters. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the dispatcher
 * Threads: any.
 */
const struct lull_dispatch_counters *lull_dispatch_counters(const struct lull_dispatch *dispatch);

/* ---- decision trace ---- */

/**
 * Every call of a dispatcher, as bytes: config first, then one record per call with all that went
 * into it and the workers that came out. lull_dispatch_replay() makes the same calls again.
 */
typedef void lull_dispatch_tracer(void *arg, const uint8_t *bytes, size_t size);
/**
 * Trace every call from here on. Call it right after lull_dispatch_init(): a trace begins with an
 * empty state.
 * @param tracer  NULL: trace no more
 * @param arg     passed to @p tracer
 */
void lull_dispatch_trace(struct lull_dispatch *dispatch, lull_dispatch_tracer *tracer, void *arg);

/** A trace that is being repeated. */
struct lull_dispatch_replay {
	struct lull_dispatch_config config; /**< as traced; scheduler may be replaced */
	uint64_t calls, pkts;
	uint64_t differences; /**< packets that got another worker than in the trace */
	uint64_t first_call;  /**< number, from 1, of the call with the first one; 0: none */
	size_t offset;        /**< where reading stopped: size when all is read */
	const char *reason;   /**< why it stopped before, a few words; NULL: it did not */
};
/**
 * Read the configuration at the head of a trace.
 * @param bytes   the trace, borrowed during the call
 * @param replay  out
 * @return 0; -EINVAL: replay->reason says what is wrong
 */
int lull_dispatch_replay_open(const uint8_t *bytes, size_t size,
			      struct lull_dispatch_replay *replay);
/**
 * Repeat the calls of a trace on a dispatcher that lull_dispatch_init() made of replay->config,
 * with the same or another scheduler. With another, replay->differences tells what it would have
 * done: it stays when the trace changes its scheduler, and refusals that no longer fit are left
 * out.
 * @param bytes   the trace, borrowed during the call
 * @param replay  that of lull_dispatch_replay_open(); brought up to date
 * @return 0; -EINVAL: replay->reason says what is wrong, and replay->offset where
 */
int lull_dispatch_replay_run(const uint8_t *bytes, size_t size, struct lull_dispatch *dispatch,
			     struct lull_dispatch_replay *replay);

/* ---- order ---- */

/**
 * Judge the order of a packet. It is reordered when one with a larger number came before it (RFC
 * 4737, type P).
 * @param next  the number expected, 0 at first; moves on
 * @param seq   of the packet; wraps
 * @return true: it is reordered
 */
static inline bool
lull_order_late(uint32_t *next, uint32_t seq)
{
	if ((int32_t)(seq - *next) < 0)
		return true;
	*next = seq + 1;
	return false;
}

/** Zero means the default in brackets. */
struct lull_resequence_config {
	uint32_t bucket_bits; /**< as the dispatcher's [16] */
	uint32_t window_pkts; /**< most packets held at once, 1..65536 [4096] */
	uint64_t delay_ns;    /**< longest time a packet is held, 1 us..1 s [2 ms] */
};
/**
 * Check a configuration. A member that is zero stands for its default.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_resequence_config_check(const struct lull_resequence_config *config,
				 struct lull_range *error);

/** Packets taken by lull_resequence_add(), and what became of them. */
struct lull_resequence_counters {
	uint64_t pkts;      /**< taken */
	uint64_t held;      /**< had to wait for an earlier one */
	uint64_t missing;   /**< numbers given up: lost upstream, or beyond delay or window */
	uint64_t late;      /**< came after they had been given up: reordered at the output */
	uint64_t overflows; /**< the window was full */
};
/**
 * Name, unit and meaning of each member of struct lull_resequence_counters, ended by a NULL name.
 */
extern const struct lull_counter_info lull_resequence_counter_table[];

struct lull_resequence; /* opaque */
/**
 * Tell how much memory a resequencer of this configuration needs.
 * @param config  must pass its check
 * @return bytes; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_resequence_size(const struct lull_resequence_config *config);
/**
 * Set up a resequencer in memory of the caller. It lives until the caller frees that memory.
 * @param memory      lull_resequence_size() bytes, aligned to LULL_CACHE_LINE
 * @param config      copied
 * @param resequence  out: the object; it is at @p memory
 * @return 0; -EINVAL: memory not aligned, or a member of @p config out of range
 */
int lull_resequence_init(void *memory, const struct lull_resequence_config *config,
			 struct lull_resequence **resequence);
/**
 * Take a packet, and give those that may leave now, in their order: this one, and what waited for
 * it. Numbers of a bucket begin at 0.
 * @param now_ns  clock of the iteration; never goes back
 * @param bucket  index, below 1 << bucket_bits
 * @param seq     number within the bucket; wraps
 * @param handle  the caller's name for the packet; not NULL
 * @param out     room for window_pkts + 1 handles
 * @return handles in @p out; 0: the packet must wait
 */
uint32_t lull_resequence_add(struct lull_resequence *resequence, uint64_t now_ns, uint32_t bucket,
			     uint32_t seq, void *handle, void **out);
/**
 * Give the packets that have waited too long, and what follows them.
 * @param now_ns  clock of the iteration
 * @param out     room for window_pkts + 1 handles
 * @return handles in @p out
 */
uint32_t lull_resequence_expire(struct lull_resequence *resequence, uint64_t now_ns, void **out);
/**
 * Tell when lull_resequence_expire() has something to do.
 * @return the time, on the clock of now_ns; UINT64_MAX: nothing is held
 */
uint64_t lull_resequence_deadline_ns(const struct lull_resequence *resequence);
/**
 * Give access to the counters. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the resequencer
 * Threads: any.
 */
const struct lull_resequence_counters *lull_resequence_counters(
	const struct lull_resequence *resequence);

#ifdef __cplusplus
}
#endif

#endif
