/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Objective world: a usual world for the objective governor, and what is asked of it.
 */
#ifndef LULL_TEST_OBJECTIVE_WORLD_H
#define LULL_TEST_OBJECTIVE_WORLD_H

#include "world.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

static const struct world_config usual = {
	.governor = "objective",
	.limits = { .latency_ns = 200 * US, .ring_pkts = 1024, .envelope = LULL_ENVELOPE_LEARNED },
	.pps = 50000,
	.iteration_ns = 60,
	.pkt_ns = 50,
	.overshoot_ns = 6 * US,
	.cost_ns = 5500,
	.ring_pkts = 1024,
	.duration_ns = 200 * MS,
	.seed = 7,
};

static inline uint64_t
p99(const struct lull_histogram *histogram)
{
	return lull_histogram_quantile(histogram, 990000);
}

/** Let it calibrate, then measure. */
static inline void
settle_and_run(struct world *world, const struct world_config *config)
{
	world_begin(world, config);
	world_run(world, 100 * MS);
	world_mark(world);
	world_run(world, config->duration_ns);
}

static inline double
cpu_share(const struct world *world)
{
	return (double)world->cpu_ns / (double)world->config.duration_ns;
}

#endif
