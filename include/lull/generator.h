/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Generator: the stage that makes a loop a source and a sink of traffic.
 *
 * The source sends what lull_arrival (or a capture) says is due, numbered and
 * stamped with lull_clock_ns() right before the driver gets it. The sink
 * judges what comes back. Every figure belongs to the current measurement
 * window: a probe sent before the window began counts as stale, nothing else.
 *
 *     offered = sent + rejected + no_buffer        (each packet that fell due)
 *     lost    = offered - received                 (once nothing is in flight)
 *
 * A packet the driver refuses is not tried again: its number is spent and the
 * sink sees the gap. Only a replay "as fast as possible" waits for the driver
 * and counts that in `retried`.
 *
 * Threads: config and state belong to the loop; the readers below may be
 *          called by any thread.
 * Memory:  pool, config and replay are borrowed until the loop is destroyed.
 */
#ifndef LULL_GENERATOR_H
#define LULL_GENERATOR_H

#include "histogram.h"
#include "traffic.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mempool;
struct lull_stage;
struct lull_replay; /* opaque: a capture file mapped for sending */

/**
 * Up to LULL_TALLY_STREAMS flows have a sequence of their own, so a path that
 * keeps order per flow shows no reordering. More flows share the sequences.
 */
struct lull_traffic_config {
	bool source, sink; /**< at least one */
	uint16_t tx_port_id, tx_queue_id;
	uint16_t burst_pkts; /**< 1..LULL_BURST_MAX, of sends and of the loop's receives */
	uint16_t run;        /**< stamped into each probe: differs from one start to the next */
	uint32_t flow_count; /**< 1..65536 UDP source ports, in turn */
	uint64_t count_max;  /**< packets to offer in all; 0: no end */
	struct lull_arrival_config arrival;
	struct rte_mempool *pool;         /**< from lull_traffic_pool_create() */
	const struct lull_replay *replay; /**< send this instead of probes; NULL: probes */
};

/** Everything is counted in this window. */
struct lull_traffic_counters {
	uint64_t offered; /**< packets that fell due */
	uint64_t sent;    /**< taken by the driver */
	uint64_t sent_bytes;
	uint64_t rejected;  /**< refused by the driver: the receiver's ring was full */
	uint64_t no_buffer; /**< no mbuf left in the generator's pool */
	uint64_t retried;   /**< refusals a replay at full speed waited for */
	uint64_t rx_pkts;   /**< all frames that came, probes or not */
	uint64_t rx_bytes;
	uint64_t truncated; /**< replay: sent as captured, shorter than it was on the wire */
	uint64_t skipped;   /**< replay: not sent, longer than a buffer or shorter than a header */
	uint64_t other_run; /**< probes of another generator, or of an earlier start of this one */
};
extern const struct lull_counter_info lull_traffic_counter_table[];

/** A command for lull_loop_post_stage(); takes effect within one turn. */
struct lull_traffic_command {
	struct lull_arrival_config arrival; /**< replaces the present one; OFF stops */
};

extern const struct lull_stage lull_stage_traffic;

/** Check all but the pool; -EINVAL and @p error filled in (when not NULL). */
int lull_traffic_config_check(const struct lull_traffic_config *config, struct lull_range *error);
/** Buffers for @p mbuf_count frames of the sizes in @p arrival and in @p replay (may be NULL). */
struct rte_mempool *lull_traffic_pool_create(const char *name, uint32_t mbuf_count,
					     const struct lull_arrival_config *arrival,
					     const struct lull_replay *replay, char *error);

/** What can be asked of a traffic stage by histogram name. */
enum lull_traffic_histogram {
	LULL_TRAFFIC_LATENCY, /**< from the stamp until the sink held the packet */
	LULL_TRAFFIC_GAP,     /**< per packet: since the sink last knew its queue empty */
	LULL_TRAFFIC_LATE,    /**< departures behind schedule */
};
/** Borrowed for the life of the loop. @p state is lull_loop_stage_state(). */
const struct lull_histogram *lull_traffic_histogram(const void *state,
						    enum lull_traffic_histogram which);
const struct lull_traffic_counters *lull_traffic_counters(const void *state);
const struct lull_tally_counters *lull_traffic_tally(const void *state);
/** Probes that came, the first copy of each; for a replay, every frame that came. */
uint64_t lull_traffic_received(const void *state);
/**
 * Packets known to be lost: offered and not received, once nothing is in
 * flight. A sink alone knows gaps, a source alone what it could not send.
 */
uint64_t lull_traffic_lost(const void *state);
/** Smallest latency of this window, exact; 0 when nothing came. */
uint64_t lull_traffic_latency_min_ns(const void *state);
/** Packets the driver took with a number above the highest that came back; 0 for a replay. */
uint64_t lull_traffic_in_flight(const void *state);
/** No departure is planned: traffic is OFF, or as below. */
bool lull_traffic_silent(const void *state);
/** The source came to its own end: count reached, replay through. */
bool lull_traffic_done(const void *state);

/** When things happened in this window; 0: not yet. */
struct lull_traffic_times {
	uint64_t begin_ns; /**< of the window, but not before the first turn */
	uint64_t first_sent_ns, last_sent_ns;
	uint64_t first_received_ns, last_received_ns; /**< of any frame */
};
void lull_traffic_times(const void *state, struct lull_traffic_times *times);
/** Every figure by name, as /lull/traffic tells it. */
void lull_traffic_report(const void *state, void (*put)(void *arg, const char *key, uint64_t value),
			 void *arg);

/* ---- replay ---- */

struct lull_replay_config {
	const char *path; /**< capture file: pcap or pcapng, Ethernet */
	/** 0.001..1e6, 1: original timing, 2: twice as fast; 0: as fast as possible */
	double speed;
	uint64_t loop_count; /**< times through the file; 0: for ever */
};
struct lull_replay_info {
	uint64_t frames, bytes; /**< that will be sent, once through */
	uint64_t truncated;     /**< of these: sent as captured, shorter than on the wire */
	uint64_t skipped_short; /**< below 14 bytes: no Ethernet header */
	uint64_t skipped_long;  /**< above LULL_REPLAY_FRAME_MAX */
	uint64_t duration_ns;   /**< first to last frame at original speed */
	uint16_t frame_max_bytes;
};
#define LULL_REPLAY_FRAME_MAX 9600
/**
 * Map and check the whole file; on error @p error (LULL_ERROR_SIZE bytes) names the file and the
 * trouble.
 */
int lull_replay_open(const struct lull_replay_config *config, struct lull_replay **replay,
		     char *error);
const struct lull_replay_info *lull_replay_info(const struct lull_replay *replay);
void lull_replay_close(struct lull_replay *replay);

#ifdef __cplusplus
}
#endif

#endif
