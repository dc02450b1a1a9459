/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Identify: which protocol a flow speaks, found by nDPI 4.2 from its first packets.
 *
 * The only user of that library (identify.c); built without it, identify_none.c
 * stands in and refuses. The library was not written for hostile input: what it
 * gets is checked first, and is a copy with zeros behind it.
 *
 * A flow is looked at for at most 24 packets over UDP and 80 over TCP, then it is
 * guessed by ports and addresses. When an answer has come, its state is given
 * back.
 *
 * Threads: one per worker, used by its loop alone; the counters by any thread.
 * Memory:  states of all flows are allocated by create; the library allocates
 *          for itself.
 */
#ifndef LULL_IDENTIFY_H
#define LULL_IDENTIFY_H

#include <lull/flow.h>

struct lull_identify; /* opaque, one per worker */

/** What is known of a flow, in its table entry; all zero at first. */
struct lull_identify_flow {
	void *state;              /**< the library's; NULL: none yet, or given back */
	uint16_t app, app_master; /**< by the library's numbers, 0: unknown */
	uint8_t confidence;       /**< as app_confidence of struct lull_flow_record */
	bool done;                /**< the answer stands */
	bool final;               /**< it is the library's own, after all packets it wanted */
	uint8_t pkts;             /**< looked at, counts no further than 255 */
};

struct lull_identify_counters {
	uint64_t pkts;      /**< shown to the library */
	uint64_t skipped;   /**< cut short, later fragments or with lengths that contradict */
	uint64_t exhausted; /**< flows for which no state was left: guessed by port */
	uint64_t states;    /**< in use now */
};
extern const struct lull_counter_info lull_identify_counter_table[];

/**
 * @param flows_max  flows being looked at at the same time, at least 1; about 700 bytes each
 * @param error      may be NULL
 * @return 0; -ENOTSUP: built without nDPI, or it is another version now; -ENOMEM
 */
int lull_identify_create(uint32_t flows_max, struct lull_identify **identify,
			 struct lull_error *error);
/** Flows' states go with it. NULL is ignored. */
void lull_identify_destroy(struct lull_identify *identify);
/**
 * A packet of a flow, in order; does nothing when the answer stands. A first packet that brings a
 * hint is answered by that, with confidence 0.
 *
 * @param ip      the IP header that the key of @p packet is of
 * @param ip_len  bytes captured from there on
 */
void lull_identify_packet(struct lull_identify *identify, struct lull_identify_flow *flow,
			  const struct lull_flow_packet *packet, const uint8_t *ip,
			  uint32_t ip_len);
/** The flow ends as @p record has it: without an answer it is guessed; its state is given back. */
void lull_identify_end(struct lull_identify *identify, struct lull_identify_flow *flow,
		       const struct lull_flow_record *record);
/** The answer in 16 bits, for packets to carry as their hint; 0: there is none. Any thread. */
uint16_t lull_identify_hint(const struct lull_identify_flow *flow);
/** Any thread. */
const struct lull_identify_counters *lull_identify_counters(const struct lull_identify *identify);

#endif
