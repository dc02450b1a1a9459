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

#define LULL_SIZE_MIX_MAX 8
#define LULL_ARRIVAL_SOURCES_MAX 64
#define LULL_ARRIVAL_SENDERS_MAX 4096

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
 * -EINVAL and @p error filled in (when not NULL) if a member is out of range;
 * rates are reported there in whole packets per second, hurst in thousandths.
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
size_t lull_arrival_size(void);
/** Start at @p now_ns; @p config must pass its check and is copied. */
void lull_arrival_init(struct lull_arrival *arrival, const struct lull_arrival_config *config,
		       uint64_t now_ns);
/** Departure time of the next packet, never before the last one; UINT64_MAX: never. */
uint64_t lull_arrival_next_ns(const struct lull_arrival *arrival);
/** Take the next packet: returns its size in bytes and moves on. Not after "never". */
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

struct lull_probe {
	uint16_t run;      /**< sender takes a new one whenever seq starts again at 0 */
	uint16_t stream;   /**< one sender's sequence; below LULL_TALLY_STREAMS for a tally */
	uint32_t seq;      /**< 0, 1, 2 ... within a run, wraps */
	uint64_t stamp_ns; /**< lull_clock_ns() when sent */
};
/**
 * Write headers, probe and zeros into a frame of @p len_bytes (>= LULL_PROBE_FRAME_MIN);
 * each @p flow has a UDP source port of its own.
 */
void lull_probe_write(uint8_t *frame, uint16_t len_bytes, const struct lull_probe *probe,
		      uint16_t flow);
/** Only the probe, in constant time, into a frame lull_probe_write() made. */
void lull_probe_update(uint8_t *frame, const struct lull_probe *probe);
/**
 * Read a probe behind up to four VLAN tags. False, and @p probe untouched, when
 * the frame carries none: foreign packet, fragment, shorter than its headers say.
 */
bool lull_probe_read(const uint8_t *frame, uint16_t len_bytes, struct lull_probe *probe);

#define LULL_TALLY_WINDOW 65536
#define LULL_TALLY_STREAMS 16

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
extern const struct lull_counter_info lull_tally_counter_table[];

/**
 * What a sink knows. A stream is joined at the first number seen, unless
 * lull_tally_begin() said what to expect; a run that replaces another is
 * counted from 0. Late probes of the last few runs are stale, not new runs.
 */
struct lull_tally; /* complete type in core/traffic/tally.h: about 150 KiB */
size_t lull_tally_size(void);
/** Forget everything. */
void lull_tally_init(struct lull_tally *tally);
/**
 * Count one frame of @p len_bytes that came at @p now_ns; @p probe NULL: it
 * carries none. Latency is now_ns - stamp_ns of each probe received, 0 when the
 * stamp is later.
 */
void lull_tally_add(struct lull_tally *tally, const struct lull_probe *probe, uint32_t len_bytes,
		    uint64_t now_ns);
/**
 * New measurement window: counters and latency start again, the sequences stay
 * known. Numbers up to the highest seen belong to the old window: should they
 * still come they are stale. Owner thread only.
 */
void lull_tally_clear(struct lull_tally *tally);
/**
 * The next probe that @p stream sends is @p seq of @p run: it and what follows
 * belong to this window, what was sent before is stale. For a sink that knows
 * its sender; exact when called with lull_tally_clear() between two sends.
 */
void lull_tally_begin(struct lull_tally *tally, uint16_t stream, uint16_t run, uint32_t seq);
/**
 * Highest number of @p stream that came or that lull_tally_begin() ruled out;
 * false when there is none yet. Any thread.
 */
bool lull_tally_highest(const struct lull_tally *tally, uint16_t stream, uint16_t *run,
			uint32_t *seq);
/** Borrowed for the life of the tally; read members with LULL_COUNTER_READ(). Any thread. */
const struct lull_tally_counters *lull_tally_counters(const struct lull_tally *tally);
/** Latency of this window. Any thread. */
const struct lull_histogram *lull_tally_latency(const struct lull_tally *tally);
/** Smallest latency of this window, exact; 0 when nothing came. Any thread. */
uint64_t lull_tally_latency_min_ns(const struct lull_tally *tally);

#ifdef __cplusplus
}
#endif

#endif
