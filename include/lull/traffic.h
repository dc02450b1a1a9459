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

enum lull_arrival_kind {
	LULL_ARRIVAL_OFF,      /**< nothing */
	LULL_ARRIVAL_CONSTANT, /**< pps, evenly spaced */
	LULL_ARRIVAL_POISSON,  /**< pps, exponential gaps */
	LULL_ARRIVAL_ONOFF,    /**< pps for on_ns, then silence for off_ns */
	LULL_ARRIVAL_TIDAL,    /**< Poisson, rate swings between pps and pps_high as a cosine of period_ns */
	LULL_ARRIVAL_RAMP,     /**< constant, rate goes linearly from pps to pps_high in period_ns, then stays */
	LULL_ARRIVAL_STEP,     /**< constant, pps until period_ns, then pps_high */
};

#define LULL_SIZE_MIX_MAX 8

struct lull_arrival_config {
	enum lull_arrival_kind kind;
	double pps;                   /**< > 0 .. 2e8; 0 allowed as the low end of tidal, ramp and step */
	double pps_high;              /**< >= 0 .. 2e8 */
	uint64_t on_ns, off_ns;       /**< 1 us..1 h */
	uint64_t period_ns;           /**< 1 ms..24 h */
	uint32_t size_count;          /**< 1..LULL_SIZE_MIX_MAX */
	uint16_t size_bytes[LULL_SIZE_MIX_MAX];  /**< frame without CRC, 60..9600 */
	uint16_t size_weight[LULL_SIZE_MIX_MAX]; /**< relative, >= 1 */
	uint64_t seed;
};
int lull_arrival_config_check(const struct lull_arrival_config *config, struct lull_config_error *error);
struct lull_arrival; /* complete type in core/traffic/arrival.h */
void lull_arrival_init(struct lull_arrival *arrival, const struct lull_arrival_config *config, uint64_t now_ns);
/** Departure time of the next packet; UINT64_MAX: never. */
uint64_t lull_arrival_next_ns(const struct lull_arrival *arrival);
/** Take the next packet: returns its size in bytes and moves on. */
uint16_t lull_arrival_take(struct lull_arrival *arrival);

/** Ethernet + IPv4 + UDP + probe; the smallest frame that carries one. */
#define LULL_PROBE_FRAME_MIN 60
struct lull_probe {
	uint16_t stream;
	uint32_t seq;
	uint64_t stamp_ns; /**< lull_clock_ns() when sent */
};
/** Write headers and probe into a frame of @p len_bytes (>= LULL_PROBE_FRAME_MIN); flow 0..65535 varies the UDP source port. */
void lull_probe_write(uint8_t *frame, uint16_t len_bytes, const struct lull_probe *probe, uint16_t flow);
/** Only what changes per packet, into a frame lull_probe_write() made with this length. */
void lull_probe_update(uint8_t *frame, const struct lull_probe *probe);
/** Read a probe; false when the frame carries none (foreign packet, truncated, VLAN tags are skipped). */
bool lull_probe_read(const uint8_t *frame, uint16_t len_bytes, struct lull_probe *probe);

#define LULL_TALLY_WINDOW 65536

struct lull_tally_counters {
	uint64_t received;    /**< probes, the first copy of each */
	uint64_t bytes;
	uint64_t duplicates;
	uint64_t reordered;   /**< arrived with a number below one already seen (RFC 4737 type P) */
	uint64_t gaps;        /**< numbers below the highest seen that never came (so far) */
	uint64_t foreign;     /**< frames without a probe */
	uint64_t stale;       /**< probes more than LULL_TALLY_WINDOW behind, or of another run */
};
extern const struct lull_counter_info lull_tally_counter_table[];
struct lull_tally; /* complete type in core/traffic/tally.h: counters, latency histogram, window bitmap */

#endif
