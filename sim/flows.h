/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flows: whose packet comes next, and what its headers say.
 *
 * The n-th flow has a share of the packets that falls as n^-s; the first one may be an elephant
 * with a share of its own. Flows live in slots; a flow that is replaced leaves its slot when its
 * last packet has left, so that a slot is one flow for every packet that names it.
 *
 * Each flow has the headers of a frame, which the parser of lull-flow reads once: digest and CRC-32
 * of the key come from there. Headers are drawn at random, or so that hrw and crc32 both send all
 * flows to the first few workers: what a scheduler does with a flow is asked of it.
 *
 * Threads: one owner. Memory: created and freed here, no allocation in between.
 */
#ifndef LULL_SIM_FLOWS_H
#define LULL_SIM_FLOWS_H

#include <lull/base.h>

#include "header.h"

#define LULL_SIM_FLOWS_MAX (1u << 22)

struct lull_sim_flows_config {
	uint32_t flow_count;   /**< alive at once, 1..LULL_SIM_FLOWS_MAX */
	uint32_t zipf_milli;   /**< exponent in thousandths, 0 (all alike)..4000 */
	uint32_t elephant_ppm; /**< share of the packets of the first flow; 0: as zipf has it */
	/** hrw and crc32 send every flow to one of the first so many workers; 0: any flow. */
	uint32_t target_count;
	uint32_t worker_count; /**< of the schedulers that are asked */
	uint32_t churn_ppm;    /**< so many of a million packets come with a new flow */
	uint32_t inside_pkts;  /**< most packets that can be under way at once */
	uint64_t seed;
};

/** A slot: what the pipeline notes about a flow, packet by packet. */
struct lull_sim_flow {
	uint32_t digest, crc; /* of its headers */
	uint32_t inside;      /* its packets under way */
	uint32_t seq;         /* of its next packet at the I/O core */
	uint32_t done_seq;    /* expected next where workers finish ... */
	uint32_t out_seq;     /* ... and at the output */
	uint32_t workers;     /* bit per worker that saw it */
	uint8_t frame[LULL_SIM_HEADER_BYTES_MAX];
};

struct lull_sim_flows {
	struct lull_sim_flows_config config;
	struct lull_sim_flow *flows; /* slot_count of them */
	uint32_t slot_count;
	uint8_t *seen;      /* per slot and worker: its packets there, as far as they are counted */
	uint32_t *slots;    /* slot of the n-th flow */
	uint32_t *unused;   /* slots without a flow: a ring */
	uint32_t unused_at; /* its head */
	struct lull_sim_alias {
		uint32_t keep;  /* below it, of 2^32: this one ... */
		uint32_t other; /* ... else that one */
	} * aliases;
	struct lull_prng draw_prng, header_prng;
	struct lull_flow_parser *parser;
	struct lull_dispatch *asked[2]; /* by hrw and crc32, with target_count alone */
	uint64_t born;                  /* flows so far, flow_count at the begin */
	uint64_t churn_credit;
};

/** -EINVAL and @p error filled in (when not NULL) if a member is out of range. */
int lull_sim_flows_config_check(const struct lull_sim_flows_config *config,
				struct lull_range *error);
/** 0 or -ENOMEM. */
int lull_sim_flows_init(struct lull_sim_flows *flows, const struct lull_sim_flows_config *config);
void lull_sim_flows_done(struct lull_sim_flows *flows);
/** Slot of the flow of the next packet. The packet counts as inside from here on. */
uint32_t lull_sim_flows_next(struct lull_sim_flows *flows);

/** A packet of this slot has left. */
static inline void
lull_sim_flows_left(struct lull_sim_flows *flows, uint32_t slot)
{
	flows->flows[slot].inside--;
}

#endif
