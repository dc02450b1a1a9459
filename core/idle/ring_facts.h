/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ring facts: what a loop must know of the Rx rings that it polls.
 *
 * A loop rests for the ring with the least room, at the highest rate that may
 * fill it. A rate that is not known for one of the rings is not known for all.
 *
 * Threads: plain data. Memory: the caller's struct, zeros to begin with.
 */
#ifndef LULL_RING_FACTS_H
#define LULL_RING_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct lull_ring_facts {
	uint32_t count;         /**< rings that these facts are of */
	uint32_t ring_pkts;     /**< descriptors; 0: not known */
	uint32_t ring_pkts_max; /**< most that the device grants; 0: not known */
	uint32_t held_pkts;     /**< of them the driver may keep empty; fewer than ring_pkts */
	uint64_t link_pps;      /**< 64-byte frames at the rate of the link; 0: it tells none */
	uint64_t hardware_pps;  /**< the same where that rate limits what arrives, else 0 */
	bool short_leaves;      /**< a short burst may leave packets; of one ring suffices */
	uint64_t loss_lag_ns;   /**< lost packets may be told of so much later */
};

/** The loop polls the rings of @p one too. */
void lull_ring_facts_add(struct lull_ring_facts *all, const struct lull_ring_facts *one);

#endif
