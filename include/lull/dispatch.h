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

#define LULL_DISPATCH_WORKERS_MAX 32
#define LULL_DISPATCH_BURST_MAX 512
/** Digests are 31 bits: 0..LULL_DIGEST_MAX, as the weights of HRW want them. */
#define LULL_DIGEST_MAX 0x7fffffffu

/** What is promised about the packets of one flow. */
enum lull_order {
	LULL_ORDER_NONE,      /**< nothing; reordering is counted */
	LULL_ORDER_DRAIN,     /**< a flow moves only when its old worker holds none of it */
	LULL_ORDER_RESEQUENCE /**< flows move freely; lull_resequence mends it at the output */
};
/** "none", "drain", "resequence". */
const char *lull_order_name(enum lull_order order);

struct lull_scheduler; /* core/dispatch/scheduler.h */
/** All schedulers, NULL at the end: rr-packet, rr-burst, crc32, hrw, ahrw ... */
extern const struct lull_scheduler *const lull_schedulers[];
const struct lull_scheduler *lull_scheduler_find(const char *name);
const char *lull_scheduler_name(const struct lull_scheduler *scheduler);
const char *lull_scheduler_summary(const struct lull_scheduler *scheduler);
/** Can it send packets of one flow to several workers? */
bool lull_scheduler_splits(const struct lull_scheduler *scheduler);

/** How the weights of HRW are computed; all give the same numbers. */
enum lull_weights {
	LULL_WEIGHTS_BEST, /**< the widest this CPU has */
	LULL_WEIGHTS_SCALAR,
	LULL_WEIGHTS_AVX2,
	LULL_WEIGHTS_AVX512
};
/** "best", "scalar", "avx2", "avx512". */
const char *lull_weights_name(enum lull_weights weights);
/** Does this CPU have it? */
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
	/** A flow being identified stays for its first so many, 0..65534 [0: no pins]. */
	uint32_t pin_pkts;
	bool tracks;               /**< keep buckets whatever the scheduler [false] */
	enum lull_weights weights; /**< [best] */
	uint64_t seed;             /**< of rr's start and of ties [0] */
};
/** -EINVAL and @p error filled in (when not NULL) if a member is out of range. */
int lull_dispatch_config_check(const struct lull_dispatch_config *config, struct lull_range *error);

/** How a worker stands: read once per burst. */
struct lull_dispatch_load {
	uint32_t used_pkts;     /**< in its ring and staged for it */
	uint32_t capacity_pkts; /**< of the ring, > 0 */
	uint64_t done_pkts;     /**< of what this dispatcher sent it, finished since the start */
};

/** What travels with a packet when buckets are kept; all zero otherwise. */
struct lull_dispatch_mark {
	uint32_t bucket; /**< index, below 1 << bucket_bits */
	uint32_t seq;    /**< number within the bucket, 0 1 2 ..., wraps */
	uint16_t flags;  /**< LULL_DISPATCH_... */
	uint16_t app;    /**< verdict of an earlier worker on this flow, 0: none */
};
#define LULL_DISPATCH_SHARED 1u /**< another worker has or had packets of this bucket */
#define LULL_DISPATCH_MOVED 2u  /**< the first packet after a change of worker */

struct lull_dispatch_counters {
	uint64_t pkts; /**< decided */
	uint64_t bursts;
	uint64_t moves;          /**< a bucket changed worker */
	uint64_t moves_inflight; /**< of these, while the old worker still held some of it */
	uint64_t held_order;     /**< packets that stayed only because of the order contract */
	uint64_t held_pin;       /**< packets that stayed only because their flow is pinned */
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
/** The table of the struct above without its arrays, ended by a NULL name. */
extern const struct lull_counter_info lull_dispatch_counter_table[];

struct lull_dispatch; /* opaque */

/** Bytes for a dispatcher of this config; any scheduler may be changed to later. */
size_t lull_dispatch_size(const struct lull_dispatch_config *config);
/** @p memory: cache-line aligned, lull_dispatch_size() bytes. 0 or -EINVAL. */
int lull_dispatch_init(void *memory, const struct lull_dispatch_config *config,
		       struct lull_dispatch **dispatch);
/**
 * Choose workers for @p count (<= LULL_DISPATCH_BURST_MAX) packets, oldest first.
 *
 * @param now_ns   clock of the turn, never goes back
 * @param loads    one per worker
 * @param workers  out: worker index of each packet
 * @param marks    out; may be NULL when buckets are not kept
 */
void lull_dispatch_burst(struct lull_dispatch *dispatch, uint64_t now_ns,
			 const struct lull_dispatch_load *loads, const uint32_t *digests,
			 uint32_t count, uint16_t *workers, struct lull_dispatch_mark *marks);
/**
 * @p from took none of these @p count packets, the last it was sent: for each another worker that
 * has room and may have it, or @p from itself: the packet must be dropped. The caller counts what
 * it gives to others into @p loads itself. Call it before the next burst.
 *
 * @param marks  those of the packets, brought up to date; may be NULL
 */
void lull_dispatch_refused(struct lull_dispatch *dispatch, uint64_t now_ns, uint16_t from,
			   const struct lull_dispatch_load *loads, const uint32_t *digests,
			   uint32_t count, uint16_t *workers, struct lull_dispatch_mark *marks);
/**
 * The second worker has no room either: @p count packets, the last that @p worker was given by
 * lull_dispatch_refused(), are dropped.
 */
void lull_dispatch_dropped(struct lull_dispatch *dispatch, uint16_t worker, uint32_t count);
/** A worker has identified the flow: @p app (> 0) travels with its packets, its pin ends. */
void lull_dispatch_note(struct lull_dispatch *dispatch, uint32_t digest, uint16_t app);
/**
 * Go on with another scheduler and shadow (may be NULL); buckets stay. Without buckets nobody is
 * told that flows move here: keep them (config "tracks") if records have to be exact.
 */
void lull_dispatch_change(struct lull_dispatch *dispatch, const struct lull_scheduler *scheduler,
			  const struct lull_scheduler *shadow);
/** Live change of the load thresholds, as in the config. */
void lull_dispatch_thresholds(struct lull_dispatch *dispatch, uint32_t threshold_ppm,
			      uint32_t enter_ppm, uint32_t leave_ppm);
const struct lull_scheduler *lull_dispatch_scheduler(const struct lull_dispatch *dispatch);
/** Are buckets kept, are marks filled in? Constant for the life of the dispatcher. */
bool lull_dispatch_tracks(const struct lull_dispatch *dispatch);
/** Any thread; read members with LULL_COUNTER_READ(). */
const struct lull_dispatch_counters *lull_dispatch_counters(const struct lull_dispatch *dispatch);

/* ---- decision trace ---- */

/**
 * Every call of a dispatcher, as bytes: config first, then one record per call with all that went
 * into it and the workers that came out. lull_dispatch_replay() makes the same calls again.
 */
typedef void lull_dispatch_tracer(void *arg, const uint8_t *bytes, size_t size);
/** Trace from here on; NULL ends it. Call right after init: a trace begins with an empty state. */
void lull_dispatch_trace(struct lull_dispatch *dispatch, lull_dispatch_tracer *tracer, void *arg);

struct lull_dispatch_replay {
	struct lull_dispatch_config config; /**< as traced; scheduler may be replaced */
	uint64_t calls, pkts;
	uint64_t differences; /**< packets that got another worker than in the trace */
	uint64_t first_call;  /**< number, from 1, of the call with the first one; 0: none */
	size_t offset;        /**< where reading stopped: size when all is read */
	const char *reason;   /**< why it stopped before, a few words; NULL: it did not */
};
/** Read the config at the head of a trace; 0 or -EINVAL and replay->reason. */
int lull_dispatch_replay_open(const uint8_t *bytes, size_t size,
			      struct lull_dispatch_replay *replay);
/**
 * Repeat the calls on a dispatcher that lull_dispatch_init() made of replay->config (the same, or
 * with another scheduler: differences then tell what it would have done). That one
 * stays when the trace changes its own, and refusals that no longer fit are left out. 0 or -EINVAL.
 */
int lull_dispatch_replay_run(const uint8_t *bytes, size_t size, struct lull_dispatch *dispatch,
			     struct lull_dispatch_replay *replay);

/* ---- order ---- */

/**
 * RFC 4737: a packet is reordered when one with a larger number came before it. @p next is the
 * number expected (0 at first) and moves on; true: this one is reordered.
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
int lull_resequence_config_check(const struct lull_resequence_config *config,
				 struct lull_range *error);

/** added = passed + held; held = released + in the window. */
struct lull_resequence_counters {
	uint64_t pkts;      /**< taken */
	uint64_t held;      /**< had to wait for an earlier one */
	uint64_t missing;   /**< numbers given up: lost upstream, or beyond delay or window */
	uint64_t late;      /**< came after they had been given up: reordered at the output */
	uint64_t overflows; /**< the window was full */
};
extern const struct lull_counter_info lull_resequence_counter_table[];

struct lull_resequence; /* opaque */
size_t lull_resequence_size(const struct lull_resequence_config *config);
int lull_resequence_init(void *memory, const struct lull_resequence_config *config,
			 struct lull_resequence **resequence);
/**
 * Take a packet, known to the caller as @p handle (not NULL), and give those that may leave now, in
 * their order: this one, and what waited for it. Numbers of a bucket begin at 0.
 *
 * @param out  room for window_pkts + 1 handles
 * @return handles in @p out, 0 when it must wait
 */
uint32_t lull_resequence_add(struct lull_resequence *resequence, uint64_t now_ns, uint32_t bucket,
			     uint32_t seq, void *handle, void **out);
/** Give what has waited too long and what follows it; the same room. */
uint32_t lull_resequence_expire(struct lull_resequence *resequence, uint64_t now_ns, void **out);
/** When the next packet will have waited too long; UINT64_MAX: nothing is held. */
uint64_t lull_resequence_deadline_ns(const struct lull_resequence *resequence);
const struct lull_resequence_counters *lull_resequence_counters(
	const struct lull_resequence *resequence);

#ifdef __cplusplus
}
#endif

#endif
