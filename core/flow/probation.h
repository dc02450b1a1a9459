/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Probation: a table's entries of half-open flows, which go first when the table is full.
 *
 * A flow is *half-open* until it has answered: packets of both directions, one of them with more
 * than a SYN, and none of the two only an RST. Three such packets of one direction do as well, for
 * who sees no more than one. So a SYN with the SYN and ACK or the RST that answers it is half-open,
 * and so is a single datagram.
 *
 * Half-open entries stand in lists by the prefix of the source of their first packet. The one that
 * was silent longest goes, of the list that has most: a prefix whose flows are few loses none of
 * them while another one has more. Each prefix has two lists by a seeded hash and uses the shorter,
 * so it rarely stands with a flood in both. All steps take constant time.
 *
 * What goes may be sampled: with more of them than quota in a window, one in 2^shift by digest is
 * handed over, and its record says so. Which ones follows from the digest alone, and those kept at
 * a large shift are among those kept at a smaller one.
 *
 * Threads: the table's. Memory: the caller's.
 */
#ifndef LULL_FLOW_PROBATION_H
#define LULL_FLOW_PROBATION_H

#include <lull/flow.h>

/** Behind LULL_FLOW_PROBATION_RESERVE of a table, half-open entries only take what is unused. */
#define LULL_FLOW_PROBATION_RESERVE 8

struct probation_place {
	uint32_t next, prev;
	uint32_t list;
};

struct probation_list {
	uint32_t head, tail; /* entries, the one silent longest first */
	uint32_t count;
	uint32_t next, prev; /* in a ring, lists with the same count */
};

struct lull_flow_probation {
	struct probation_place *places; /* by entry */
	struct probation_list *lists;
	uint32_t *levels; /* the list that has had so many entries longest */
	uint32_t mask;    /* of lists */
	uint32_t count;   /* entries now */
	uint32_t most;    /* in one list */
	uint32_t reserve;
	uint64_t seed;
	uint64_t prefixes[2][2]; /* masks of addresses, of IPv4 and IPv6 */
	/* sampling; quota 0: none */
	uint32_t quota, gone, kept; /* per window */
	uint8_t shift;
	uint64_t window_end_ns;
};

/** @param config with its defaults */
size_t lull_flow_probation_size(const struct lull_flow_table_config *config);
void lull_flow_probation_init(struct lull_flow_probation *probation, void *memory,
			      const struct lull_flow_table_config *config);

/** What was heard of a new entry; never 0. */
#define LULL_FLOW_PROBATION_NEW 0x80u
/** The same with this packet; 0: it has answered. */
uint8_t lull_flow_probation_hear(uint8_t heard, const struct lull_flow_packet *packet);

/** What two parts of a flow heard; 0: it has answered. */
uint8_t lull_flow_probation_join(uint8_t a, uint8_t b);

/** Entry @p index begins with this packet. */
void lull_flow_probation_enter(struct lull_flow_probation *probation, uint32_t index,
			       const struct lull_flow_packet *packet);
/** It had a packet. */
void lull_flow_probation_touch(struct lull_flow_probation *probation, uint32_t index);
/** It has answered or ended. */
void lull_flow_probation_leave(struct lull_flow_probation *probation, uint32_t index);
/** Who goes; LULL_WHEEL_NONE: there are no more than half-open flows may have in any case. */
uint32_t lull_flow_probation_victim(const struct lull_flow_probation *probation);
/**
 * One goes: shall its record be kept?
 * @param shift  out: one in 2^this is kept now
 */
bool lull_flow_probation_keeps(struct lull_flow_probation *probation, uint32_t digest,
			       uint64_t clock_ns, uint8_t *shift);
/** A new rate of config half_open_rate. */
void lull_flow_probation_rate(struct lull_flow_probation *probation, uint32_t rate);

#endif
