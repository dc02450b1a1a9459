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
/** Name, unit and meaning of each member of struct lull_traffic_counters, ended by a NULL name. */
extern const struct lull_counter_info lull_traffic_counter_table[];

/** A command for lull_loop_post_stage(); takes effect within one iteration. */
struct lull_traffic_command {
	struct lull_arrival_config arrival; /**< replaces the present one; OFF stops */
};

/** The stage that sends and judges traffic; its stage_config is a struct lull_traffic_config. */
extern const struct lull_stage lull_stage_traffic;

/**
 * Check a configuration, all but the pool.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_traffic_config_check(const struct lull_traffic_config *config, struct lull_range *error);
/**
 * Make a pool of mbufs for frames of the sizes in @p arrival and in @p replay. lull_engine_fini()
 * frees it.
 * @param name    unique in this process
 * @param replay  may be NULL
 * @param error   gets a sentence on failure; may be NULL
 * @return the pool; NULL on failure
 * Threads: the main thread.
 */
struct rte_mempool *lull_traffic_pool_create(const char *name, uint32_t mbuf_count,
					     const struct lull_arrival_config *arrival,
					     const struct lull_replay *replay,
					     struct lull_error *error);

/** What can be asked of a traffic stage by histogram name. */
enum lull_traffic_histogram {
	LULL_TRAFFIC_LATENCY, /**< from the stamp until the sink held the packet */
	LULL_TRAFFIC_GAP,     /**< per packet: since the sink last knew its queue empty */
	LULL_TRAFFIC_LATE,    /**< departures behind schedule */
};
/**
 * Give access to a histogram of this window, in ns.
 * @param state  lull_loop_stage_state()
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const struct lull_histogram *lull_traffic_histogram(const void *state,
						    enum lull_traffic_histogram which);
/**
 * Give access to the counters of this window. Read members with LULL_COUNTER_READ().
 * @param state  lull_loop_stage_state()
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const struct lull_traffic_counters *lull_traffic_counters(const void *state);
/**
 * Give access to what the sink counted in this window. Read members with LULL_COUNTER_READ().
 * @param state  lull_loop_stage_state()
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const struct lull_tally_counters *lull_traffic_tally(const void *state);
/**
 * Count the probes that came, the first copy of each; for a replay, every frame that came.
 * @param state  lull_loop_stage_state()
 * @return packets of this window
 * Threads: any.
 */
uint64_t lull_traffic_received(const void *state);
/**
 * Count the packets known to be lost: offered and not received, once nothing is in flight. A sink
 * alone knows gaps, a source alone what it could not send.
 * @param state  lull_loop_stage_state()
 * @return packets of this window
 * Threads: any.
 */
uint64_t lull_traffic_lost(const void *state);
/**
 * Tell the smallest latency of this window, exact.
 * @param state  lull_loop_stage_state()
 * @return ns; 0 when nothing came
 * Threads: any.
 */
uint64_t lull_traffic_latency_min_ns(const void *state);
/**
 * Count the packets that the driver took with a number above the highest that came back.
 * @param state  lull_loop_stage_state()
 * @return packets; 0 for a replay
 * Threads: any.
 */
uint64_t lull_traffic_in_flight(const void *state);
/**
 * Ask whether no departure is planned.
 * @param state  lull_loop_stage_state()
 * @return true: traffic is OFF, or lull_traffic_done()
 * Threads: any.
 */
bool lull_traffic_silent(const void *state);
/**
 * Ask whether the source came to its own end.
 * @param state  lull_loop_stage_state()
 * @return true: count_max is reached, or the replay is through
 * Threads: any.
 */
bool lull_traffic_done(const void *state);

/** When things happened in this window; 0: not yet. */
struct lull_traffic_times {
	uint64_t begin_ns; /**< of the window, but not before the first iteration */
	uint64_t first_sent_ns, last_sent_ns;
	uint64_t first_received_ns, last_received_ns; /**< of any frame */
};
/**
 * Tell when things happened in this window.
 * @param state  lull_loop_stage_state()
 * @param times  out
 * Threads: any.
 */
void lull_traffic_times(const void *state, struct lull_traffic_times *times);
/**
 * Tell every figure by name, as /lull/traffic does.
 * @param state  lull_loop_stage_state()
 * @param put    called with each
 * @param arg    passed to @p put
 * Threads: any.
 */
void lull_traffic_report(const void *state, void (*put)(void *arg, const char *key, uint64_t value),
			 void *arg);

/* ---- replay ---- */

/** What to send, and how fast. */
struct lull_replay_config {
	const char *path; /**< capture file: pcap or pcapng, Ethernet */
	/** 0.001..1e6, 1: original timing, 2: twice as fast; 0: as fast as possible */
	double speed;
	uint64_t loop_count; /**< times through the file; 0: for ever */
};
/** What a file holds. */
struct lull_replay_info {
	uint64_t frames, bytes; /**< that will be sent, once through */
	uint64_t truncated;     /**< of these: sent as captured, shorter than on the wire */
	uint64_t skipped_short; /**< below 14 bytes: no Ethernet header */
	uint64_t skipped_long;  /**< above LULL_REPLAY_FRAME_MAX */
	uint64_t duration_ns;   /**< first to last frame at original speed */
	uint16_t frame_max_bytes;
};
#define LULL_REPLAY_FRAME_MAX 9600 /**< bytes of a frame */
/**
 * Map a capture file and check all of it. Free it with lull_replay_close().
 * @param replay  out
 * @param error   gets a sentence that names the file and what is wrong; may be NULL
 * @return 0; -EINVAL: speed out of range, or the file is no capture that can be sent; -ENOMEM;
 *         another negative errno of the file
 * Threads: the main thread.
 */
int lull_replay_open(const struct lull_replay_config *config, struct lull_replay **replay,
		     struct lull_error *error);
/**
 * Tell what a file holds.
 * @return borrowed until lull_replay_close()
 * Threads: any.
 */
const struct lull_replay_info *lull_replay_info(const struct lull_replay *replay);
/**
 * Unmap the file and free the object. No loop uses it any more.
 * @param replay  NULL is ignored
 * Threads: the main thread.
 */
void lull_replay_close(struct lull_replay *replay);

#ifdef __cplusplus
}
#endif

#endif
