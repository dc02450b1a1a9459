/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Machine: what a simulated polling thread pays for what it does.
 *
 * Stated or measured, never guessed by the simulator: a set has a name and a
 * source, and each figure can be replaced. Times are ns.
 * Threads: plain data; a sampler belongs to one simulation.
 */
#ifndef LULL_SIM_MACHINE_H
#define LULL_SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/base.h>

#include "base/prng.h"

#define LULL_SIM_BURST_MAX 256
#define LULL_SIM_KNOTS_MAX 16
#define LULL_SIM_CSTATES_MAX 8

/** A million millionths, finer: shares of a curve of quantiles. */
#define LULL_SIM_PPB 1000000000ULL

/** A point of a curve; between points it is a straight line, beyond them level. */
struct lull_sim_knot {
	uint64_t at; /**< packets of a burst, or share of the rests in LULL_SIM_PPB */
	uint64_t ns;
};

struct lull_sim_curve {
	uint32_t count;
	struct lull_sim_knot knots[LULL_SIM_KNOTS_MAX]; /**< @c at rising */
};

/** What an idle core falls into when it rests at least so long. */
struct lull_sim_cstate {
	char name[12];
	uint64_t least_ns;
	double watts;
};

struct lull_sim_machine {
	const char *name;
	const char *summary;
	uint64_t iteration_ns;       /**< of every iteration: clock, plan, loop */
	struct lull_sim_curve burst; /**< receive, process and send so many packets of a queue */
	uint64_t rest_ns;            /**< CPU time of one sleep */
	struct lull_sim_curve overshoot; /**< of a sleep beyond what was asked for, by quantile */
	uint64_t event_ns;               /**< from a packet to the thread it wakes */
	/**
	 * The same by quantile, where threads can wait for packets that way: moderation of the
	 * interrupt or of the write, and the core's way out of its idle state. No knots: event_ns.
	 */
	struct lull_sim_curve interrupt, monitor;
	uint64_t switch_ns; /**< to another thread of the same core */
	/** What a wake-up adds to that while a busy competitor has the core, by class. */
	struct lull_sim_curve fifo_late, fair_late;
	uint64_t stall_every_ns, stall_ns, stall_ns_max; /**< stolen time, 0: none */
	uint32_t competitor_ppm;                         /**< of the core, 0: nobody */
	uint64_t competitor_run_ns;
	bool fifo;    /**< threads run in a real-time class while they rest */
	double watts; /**< of a core that runs */
	uint32_t cstate_count;
	struct lull_sim_cstate cstates[LULL_SIM_CSTATES_MAX]; /**< least_ns rising */
};

/** Every set of costs, name NULL at the end. */
extern const struct lull_sim_machine lull_sim_machines[];
const struct lull_sim_machine *lull_sim_machine_find(const char *name);

/** Value of a curve, rounded down; 0 for one without knots. */
uint64_t lull_sim_curve_at(const struct lull_sim_curve *curve, uint64_t at);

/** Packets/s a thread with full bursts of @p burst_pkts gets done. */
double lull_sim_machine_pps(const struct lull_sim_machine *machine, uint32_t burst_pkts);

/** Draws overshoots: quantiles in two tables, the upper one fine enough for 1 in 10^7. */
#define LULL_SIM_SAMPLES 4096
struct lull_sim_sampler {
	struct lull_prng prng;
	uint64_t usual_ns[LULL_SIM_SAMPLES];
	uint64_t rare_ns[LULL_SIM_SAMPLES]; /* within the last of the usual ones */
};
void lull_sim_sampler_init(struct lull_sim_sampler *sampler, const struct lull_sim_curve *curve,
			   uint64_t seed);
static inline uint64_t
lull_sim_sampler_draw(struct lull_sim_sampler *sampler)
{
	uint64_t random = lull_prng_u64(&sampler->prng);
	uint32_t usual = (uint32_t)(random >> 52);

	if (usual < LULL_SIM_SAMPLES - 1)
		return sampler->usual_ns[usual];
	return sampler->rare_ns[random >> 40 & (LULL_SIM_SAMPLES - 1)];
}

#endif
