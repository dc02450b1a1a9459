/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Port facts: what is true of a port's rings, from what its driver tells.
 *
 * No function of DPDK is called here; port_device.h asks. The plugin, which
 * links no DPDK, decides by the same rules.
 *
 * Threads: any. Memory: the caller's structs.
 */
#ifndef LULL_PORT_FACTS_H
#define LULL_PORT_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "idle/ring_facts.h"

/** The device behind a port. */
struct lull_port_driver {
	const char *name, *bus;
	const char *args;      /**< device arguments; NULL: none */
	unsigned int if_index; /**< network interface of the kernel; 0: none */
};

/** What is known of a ring after a burst that is shorter than asked for. */
enum lull_short_burst {
	LULL_SHORT_LEAVES,  /**< packets may be left */
	LULL_SHORT_COUNTED, /**< they may be, but not if rte_eth_rx_queue_count() says 0 */
	LULL_SHORT_EMPTIES, /**< it is empty */
};

/** What the driver told of an Rx queue and its link; 0: nothing. */
struct lull_port_answer {
	uint32_t desc_pkts, rearm_pkts;
	uint32_t otherwise_pkts; /**< descriptors if nobody tells; 0: LULL_PORT_RING_LEAST */
	uint32_t asked_pkts;     /**< descriptors that the program asked for; 0: not known */
	uint32_t link_mbps;
};

/**
 * Descriptors of a ring of which nobody tells anything: the smallest that is common. A guess that
 * is too large loses packets, one that is too small rests less.
 */
#define LULL_PORT_RING_LEAST 256

/** How late a driver may tell of lost packets of which nobody knows how it counts them. */
#define LULL_PORT_LOSS_LAG_NS 1000000000ULL

/** Facts of one ring. */
void lull_port_facts(const struct lull_port_driver *driver, const struct lull_port_answer *answer,
		     struct lull_ring_facts *facts);
/**
 * Packets the Rx ring of a virtual driver holds, from its arguments or the
 * kernel; 0 when this driver goes by the descriptors asked for.
 * @param asked_pkts  these, which some drivers go by where they have more; 0: not known
 */
uint32_t lull_port_driver_ring(const struct lull_port_driver *driver, uint32_t asked_pkts);
/**
 * What a burst that is shorter than asked for tells. Of a driver that is not known: nothing, its
 * ring is empty after a burst of none, and not before.
 */
enum lull_short_burst lull_port_driver_short(const struct lull_port_driver *driver);
/** How much later than it happened may it tell of a lost packet? ns */
uint64_t lull_port_driver_loss_lag_ns(const struct lull_port_driver *driver);
/** Does its link rate limit what arrives? */
bool lull_port_driver_hardware(const struct lull_port_driver *driver);
/** Value of "key=<number>" in comma-separated device arguments, else @p otherwise. */
uint32_t lull_port_driver_argument(const char *args, const char *key, uint32_t otherwise);
/** Packets per second of 64-byte frames (84 B on the wire) on this link. */
uint64_t lull_link_pps(uint32_t link_mbps);

#endif
