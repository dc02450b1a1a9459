/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Early: fragments that came before the first one of their datagram, until that comes too.
 *
 * They wait in the order in which they came, up to a clock; where room is short the oldest goes.
 * Their packets stay the caller's, who gets each back once.
 * Memory: fixed. A first fragment looks at the hashes of all that wait, 1 KB at most.
 */
#ifndef LULL_FLOW_EARLY_H
#define LULL_FLOW_EARLY_H

#include "fragment.h"

#define LULL_EARLY_PKTS LULL_FLOW_EARLY_MAX

struct lull_early_pkt {
	struct lull_fragment_name name;
	struct lull_flow_packet *packet;
	uint64_t due_ns;       /**< waits no longer than up to this clock */
	uint16_t header_bytes; /**< of its IP header, which an inner key leaves out */
};
struct lull_early {
	uint64_t wait_ns;            /**< 0: nothing waits */
	uint32_t begin, count;       /**< places of those that wait, in the order they came */
	uint32_t ready_begin, ready; /**< places of those whose first one came */
	struct lull_early_pkt last;  /**< the one parsed last; packet NULL: it is not to wait */
	uint32_t hashes[LULL_EARLY_PKTS];
	struct lull_early_pkt waiting[LULL_EARLY_PKTS];
	struct lull_flow_packet *joined[LULL_EARLY_PKTS];
};

/** Let @p early->last wait. @return NULL: it does; else who goes for want of room. */
struct lull_flow_packet *lull_early_add(struct lull_early *early, uint32_t hash, uint64_t clock_ns);
/** What waited for @p datagram is ready. @return how many of its packets are in a tunnel now */
uint32_t lull_early_join(struct lull_early *early, uint32_t hash,
			 const struct lull_fragment_datagram *datagram);
/** The next one that is ready, NULL: none. */
struct lull_flow_packet *lull_early_ready(struct lull_early *early);
/** The next one that must not wait behind @p clock_ns; @p due_ns is when. NULL: none. */
struct lull_flow_packet *lull_early_due(struct lull_early *early, uint64_t clock_ns,
					uint64_t *due_ns);
/** The clock behind which lull_early_due() has something; UINT64_MAX: none waits. */
uint64_t lull_early_deadline_ns(const struct lull_early *early);

#endif
