/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Traffic: when the next packet leaves, how large it is, and what a sink can prove about it.
 *
 * Three parts, each a plain state machine: *arrival* gives departure times and
 * sizes, *probe* writes and reads the stamp in a packet, *tally* counts at the
 * sink what was lost, duplicated or reordered and how long it took.
 * Threads: each object belongs to one loop; counters may be read by any thread.
 * Memory:  caller's structs, fixed size; same seed, same traffic on any machine.
 */
#ifndef LULL_TRAFFIC_H
#define LULL_TRAFFIC_H

#include "base.h"
#include "histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

/** When packets leave. */
enum lull_arrival_kind {
	LULL_ARRIVAL_OFF,      /**< nothing */
	LULL_ARRIVAL_CONSTANT, /**< pps, evenly spaced */
	LULL_ARRIVAL_POISSON,  /**< pps, exponential gaps */
	LULL_ARRIVAL_ONOFF,    /**< pps evenly spaced for on_ns, then silence for off_ns */
	LULL_ARRIVAL_TIDAL,    /**< Poisson, pps to pps_high and back as a cosine of period_ns */
	LULL_ARRIVAL_RAMP,     /**< even, linearly from pps to pps_high in period_ns, then stays */
	LULL_ARRIVAL_STEP,     /**< even, pps until period_ns, then pps_high */
	LULL_ARRIVAL_SELFSIMILAR, /**< bursts on every scale, pps in the mean; see below */
	LULL_ARRIVAL_INCAST, /**< each period_ns, sender_count senders send sender_pkts at once */
};

#define LULL_SIZE_MIX_MAX 8           /**< sizes of a mix */
#define LULL_ARRIVAL_SOURCES_MAX 64   /**< self-similar: sources */
#define LULL_ARRIVAL_SENDERS_MAX 4096 /**< incast: senders */

/** A member that the kind does not use is not looked at. */
struct lull_arrival_config {
	enum lull_arrival_kind kind;
	double pps;      /**< 1e-6..2e8; 0 too for tidal, ramp and step */
	double pps_high; /**< 0 or 1e-6..2e8; tidal, ramp and step: one of the two must not be 0 */
	uint64_t on_ns, off_ns; /**< 1 us..1 h */
	uint64_t period_ns;     /**< 1 ms..24 h; incast: 1 us..24 h and within 2e8 packets/s */
	double hurst;           /**< 0.501..0.999: how alike bursts are on all scales */
	uint32_t source_count;  /**< 1..LULL_ARRIVAL_SOURCES_MAX: fewer are burstier */
	uint32_t sender_count;  /**< 1..LULL_ARRIVAL_SENDERS_MAX */
	uint32_t sender_pkts;   /**< 1..65535 */
	uint64_t jitter_ns;  /**< 0..period_ns; each sender begins at random in it, 0: all as one */
	uint32_t size_count; /**< 1..LULL_SIZE_MIX_MAX */
	uint16_t size_bytes[LULL_SIZE_MIX_MAX];  /**< frame without CRC, 60..9600 */
	uint16_t size_weight[LULL_SIZE_MIX_MAX]; /**< relative, >= 1 */
	uint64_t seed;
};

/**
 * Check a configuration. Rates are reported in whole packets per second, hurst in thousandths.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_arrival_config_check(const struct lull_arrival_config *config, struct lull_range *error);

/**
 * Packet n leaves when the rate, integrated since the start, reaches n (even
 * kinds) or the sum of n exponential steps of mean 1 (random kinds). So no
 * error adds up, whatever the rate does, and the first packet leaves one step
 * after the start. Sizes are drawn apart: they do not change the times.
 *
 * Self-similar: source_count sources, each sending evenly for a Pareto time and
 * silent for another, alpha = 3 - 2 hurst for both. Silence is twice as long, so
 * a third of the sources sends in the mean, each 3 pps / source_count: all at
 * once are three times the mean. The shortest sending time is 100 us, or what a
 * source needs for one packet where that is longer; the tails are cut at 2^17
 * times the shortest (13 s, silence 26 s), and up to there it is self-similar. The
 * sources start in the middle of such times: no lead-in, but a short run may
 * be far off the mean, as with all such traffic.
 *
 * Incast: the first period begins at the start. What one sender sends leaves
 * at one and the same time: a link sets it apart.
 */
struct lull_arrival; /* complete type in core/traffic/arrival.h */
/**
 * Tell how much memory an arrival object needs.
 * @return bytes; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_arrival_size(void);
/**
 * Set up an arrival object in lull_arrival_size() bytes of the caller.
 * @param config  copied; must pass its check, else it is an assertion
 * @param now_ns  the start
 */
void lull_arrival_init(struct lull_arrival *arrival, const struct lull_arrival_config *config,
		       uint64_t now_ns);
/**
 * Tell when the next packet leaves, never before the last one.
 * @return the time, on the clock of lull_arrival_init(); UINT64_MAX: never
 */
uint64_t lull_arrival_next_ns(const struct lull_arrival *arrival);
/**
 * Take the next packet and move on to the one behind it. Do not call it when lull_arrival_next_ns()
 * says never: that is an assertion.
 * @return its size in bytes, without CRC
 */
uint16_t lull_arrival_take(struct lull_arrival *arrival);

/**
 * Ethernet + IPv4 + UDP + probe; the smallest frame that carries one.
 *
 *     0  Ethernet  locally administered addresses, type 0x0800
 *    14  IPv4      198.18.0.1 -> 198.19.0.1 (set aside for benchmarks), no fragments
 *    34  UDP       to port LULL_PROBE_PORT, no checksum
 *    42  probe     big endian: magic 2, run 2, stream 2, seq 4, stamp 8; then zeros
 */
#define LULL_PROBE_FRAME_MIN 60
#define LULL_PROBE_PORT 9 /* discard: a host that gets one by mistake drops it */
#define LULL_PROBE_MAGIC 0x4c4c

/** What the stamp in a packet says. */
struct lull_probe {
	uint16_t run;      /**< sender takes a new one whenever seq starts again at 0 */
	uint16_t stream;   /**< one sender's sequence; below LULL_TALLY_STREAMS for a tally */
	uint32_t seq;      /**< 0, 1, 2 ... within a run, wraps */
	uint64_t stamp_ns; /**< lull_clock_ns() when sent */
};
/**
 * Write headers, probe and zeros into a frame.
 * @param len_bytes  of the frame, at least LULL_PROBE_FRAME_MIN
 * @param flow       each has a UDP source port of its own
 * Threads: any.
 */
void lull_probe_write(uint8_t *frame, uint16_t len_bytes, const struct lull_probe *probe,
		      uint16_t flow);
/**
 * Write only the probe, in constant time, into a frame that lull_probe_write() made.
 * Threads: any.
 */
void lull_probe_update(uint8_t *frame, const struct lull_probe *probe);
/**
 * Read a probe, also behind up to four VLAN tags.
 * @param len_bytes  bytes at @p frame
 * @param probe      filled in when there is one, else untouched
 * @return false: the frame carries no probe, is a fragment, or is shorter than its headers say
 * Threads: any.
 */
bool lull_probe_read(const uint8_t *frame, uint16_t len_bytes, struct lull_probe *probe);

#define LULL_TALLY_WINDOW 65536 /**< numbers of a stream that are remembered */
#define LULL_TALLY_STREAMS 16   /**< streams of a tally */

/** Of one measurement window; received + duplicates + stale + foreign is everything added. */
struct lull_tally_counters {
	uint64_t received;   /**< probes, the first copy of each */
	uint64_t bytes;      /**< of these */
	uint64_t duplicates; /**< further copies */
	uint64_t reordered;  /**< of received: number below one already seen (RFC 4737 type P) */
	uint64_t gaps;       /**< numbers below the highest seen that never came (so far) */
	uint64_t foreign;    /**< frames without a probe, or of a stream no tally keeps */
	uint64_t stale; /**< LULL_TALLY_WINDOW or more behind, of an old window or of an old run */
};
/** Name, unit and meaning of each member of struct lull_tally_counters, ended by a NULL name. */
extern const struct lull_counter_info lull_tally_counter_table[];

/**
 * What a sink knows. A stream is joined at the first number seen, unless
 * lull_tally_begin() said what to expect; a run that replaces another is
 * counted from 0. Late probes of the last few runs are stale, not new runs.
 */
struct lull_tally; /* complete type in core/traffic/tally.h: about 150 KiB */
/**
 * Tell how much memory a tally needs, about 150 KiB.
 * @return bytes; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_tally_size(void);
/** Set up a tally in lull_tally_size() bytes of the caller, or forget everything. */
void lull_tally_init(struct lull_tally *tally);
/**
 * Count one frame. The latency of a probe received is @p now_ns minus its stamp, or 0 when the
 * stamp is later.
 * @param probe      NULL: the frame carries none
 * @param len_bytes  of the frame, without CRC
 * @param now_ns     its arrival, on the clock of the stamps
 */
void lull_tally_add(struct lull_tally *tally, const struct lull_probe *probe, uint32_t len_bytes,
		    uint64_t now_ns);
/**
 * Begin a new measurement window: counters and latency start again, and the sequences stay known.
 * Numbers up to the highest seen belong to the old window and are stale should they still come.
 */
void lull_tally_clear(struct lull_tally *tally);
/**
 * Say which probe a stream sends next: it and what follows belong to this window, what was sent
 * before is stale. It is for a sink that knows its sender, and exact when it is called with
 * lull_tally_clear() between two sends.
 * @param stream  below LULL_TALLY_STREAMS, else it is an assertion
 */
void lull_tally_begin(struct lull_tally *tally, uint16_t stream, uint16_t run, uint32_t seq);
/**
 * Tell the highest number of a stream that came or that lull_tally_begin() ruled out.
 * @param run  out: of which run
 * @param seq  out: the number
 * @return false: there is none yet
 * Threads: any.
 */
bool lull_tally_highest(const struct lull_tally *tally, uint16_t stream, uint16_t *run,
			uint32_t *seq);
/**
 * Give access to the counters. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the tally
 * Threads: any.
 */
const struct lull_tally_counters *lull_tally_counters(const struct lull_tally *tally);
/**
 * Give access to the latencies of this window, in ns.
 * @return borrowed for the life of the tally
 * Threads: any.
 */
const struct lull_histogram *lull_tally_latency(const struct lull_tally *tally);
/**
 * Tell the smallest latency of this window, exact.
 * @return ns; 0 when nothing came
 * Threads: any.
 */
uint64_t lull_tally_latency_min_ns(const struct lull_tally *tally);

#ifdef __cplusplus
}
#endif

#endif
