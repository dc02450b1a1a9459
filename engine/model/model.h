/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Model: the parts of the sleep model's test framework that only it needs.
 *
 *     produce -> ring -> forward -> link -> ring -> forward -> ring -> consume
 *
 * The two forwarding loops are measured; the others stand for the application
 * and for the wire. Source: the test framework of the sleep model (Li et al.,
 * "A CPU usage saving model of DPDK based on sleep", its Fig. 5).
 *
 * Threads: stages belong to their loop; the burst costs to the caller.
 */
#ifndef LULL_MODEL_H
#define LULL_MODEL_H

#include <lull/engine.h>
#include <lull/traffic.h>

/* ---- functions a thread can sleep with ---- */

struct lull_model_sleep {
	const char *name;         /**< "usleep" */
	uint64_t step_ns;         /**< what it counts in: durations are multiples of it */
	struct lull_rest_way way; /**< takes the place of the usual sleep */
};
/** The functions of the model, a NULL name at the end. */
extern const struct lull_model_sleep lull_model_sleeps[];

/* ---- produce: the application that sends ---- */

struct lull_produce_config {
	uint16_t tx_port_id; /**< half of a pair: the public send ring lies behind it */
	uint16_t len_bytes;  /**< frame without CRC */
	uint16_t burst_pkts;
	uint16_t run;       /**< stamped into each probe */
	uint32_t ring_pkts; /**< of the public ring: no more are made up for after a hold-up */
	uint64_t pps;       /**< 0: as many as the ring takes */
	struct rte_mempool *pool; /**< used by nobody else */
};
struct lull_produce_counters {
	uint64_t pkts;      /**< put into the ring */
	uint64_t held_up;   /**< iterations in which the ring took less than was due */
	uint64_t no_buffer; /**< iterations that found no buffer */
};
/** Numbered probes into the ring, which never loses one: what it refuses is offered again. */
extern const struct lull_stage lull_stage_produce;

/* ---- link: a wire of a certain rate between two rings ---- */

struct lull_link_config {
	uint16_t rx_port_id, tx_port_id; /**< the sender's ring, the receiver's port */
	uint16_t burst_pkts;
	uint32_t ring_pkts; /**< of the receiver */
	uint32_t mbps;
};
struct lull_link_counters {
	uint64_t pkts;     /**< delivered */
	uint64_t missed;   /**< the receiver had no room */
	uint64_t stood_ns; /**< link time lost at most because its thread came too late */
};
/**
 * Takes packets from the sender's ring at the rate of the link (frame, CRC, preamble and gap), so a
 * full link fills that ring and holds up the sender as a NIC does. No receive queue of the loop.
 */
extern const struct lull_stage lull_stage_link;

/* ---- consume: the application that receives ---- */

/** Counts and judges probes, frees everything. No config; counters are lull_tally_counter_table. */
extern const struct lull_stage lull_stage_consume;

/* ---- what a burst costs ---- */

struct lull_burst_cost {
	uint32_t burst_pkts; /**< 0: empty calls */
	uint32_t len_bytes;  /**< frame without CRC */
	uint32_t samples;    /**< behind the medians; 0: this port cannot be measured so */
	double rx_ns, tx_ns; /**< of one call */
};
/**
 * Measure calls that send @p burst_pkts frames on @p tx_port_id and receive them on @p rx_port_id,
 * both wired together and otherwise silent. Fills in the rest of @p cost. -ENOBUFS: pool too small.
 */
int lull_burst_cost(uint16_t tx_port_id, uint16_t rx_port_id, struct rte_mempool *pool,
		    struct lull_burst_cost *cost);

#endif
