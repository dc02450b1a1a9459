/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Lane: pipelines for the tests; prints config and seed when one does not run.
 */
#ifndef LULL_TEST_LANE_H
#define LULL_TEST_LANE_H

#include "sim/pipeline.h"

/**
 * Four workers of 300 ns +- 25 % and 1300 ns for a flow's first 8 packets, rings of 1024, bursts
 * of 32, Zipf(1.1) over 10000 flows, Poisson at load 0.7, a cold start, 100000 packets, seed 1.
 */
struct lull_sim_pipeline_config lane_config(const char *scheduler);
/** One worker of 100 ns sharp, nothing to identify, iterations of 10 ns, bursts of 1: by hand. */
struct lull_sim_pipeline_config lane_config_plain(const char *scheduler, uint32_t worker_count);
void lane_run(const struct lull_sim_pipeline_config *config,
	      struct lull_sim_pipeline_result *result);
/** Largest load without loss, ppm, in steps of 1 %. */
uint32_t lane_bisect(const struct lull_sim_pipeline_config *config, uint32_t seed_count);
/** Over the integers of a result: the same wherever the result is. */
uint64_t lane_digest(const struct lull_sim_pipeline_result *result);

#endif
