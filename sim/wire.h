/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Wire: what a path of a simulated net does to each packet, and when it lets it go.
 */
#ifndef LULL_SIM_WIRE_H
#define LULL_SIM_WIRE_H

#include "base/prng.h"
#include "link.h"
#include "net.h"

/* Set config, and prepare prng and link. */
struct lull_sim_wire {
	struct lull_sim_path_config config;
	struct lull_prng prng;
	struct lull_sim_link link;
	uint64_t last_ns; /* arrival of the last one that was not held back */
	bool fading;
};

struct lull_sim_fate {
	bool lost, damaged, duplicated, reordered, overtakes;
	uint64_t jitter_ns, bit; /* the bit that is turned round */
};

bool lull_sim_wire_valid(const struct lull_sim_path_config *config);
/** Drawn for each packet, needed or not: a change of one share then leaves the others alone. */
struct lull_sim_fate lull_sim_wire_draw(struct lull_sim_wire *wire, uint32_t len_bytes);
/** Is there room before the rate? One that waits for nobody always finds some. */
bool lull_sim_wire_has_room(const struct lull_sim_wire *wire, uint64_t now_ns, uint32_t len_bytes);
/**
 * When its last bit has left. What waits already is not put off by a packet that overtakes it;
 * what is sent later is.
 */
uint64_t lull_sim_wire_left_ns(struct lull_sim_wire *wire, uint64_t now_ns, uint32_t len_bytes,
			       const struct lull_sim_fate *fate);
uint64_t lull_sim_wire_arrival_ns(struct lull_sim_wire *wire, uint64_t left_ns,
				  const struct lull_sim_fate *fate);

#endif
