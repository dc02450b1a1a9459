/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-flow-sim can be told, and the table that tells it.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_FLOW_SIM_SETTINGS_H
#define LULL_FLOW_SIM_SETTINGS_H

#include "program/options.h"
#include "sim/pipeline.h"

#define FLOW_SIM_LIST_MAX 32
#define FLOW_SIM_PATH_SIZE 4096

struct flow_sim_schedulers {
	uint32_t count;
	const struct lull_scheduler *items[FLOW_SIM_LIST_MAX];
};

struct flow_sim_loads {
	uint32_t count;
	uint32_t items_ppm[FLOW_SIM_LIST_MAX];
};

/** A time of TIME about every EVERY, both 0: none. */
struct flow_sim_stall {
	uint64_t every_ns, ns;
};

enum flow_sim_start { FLOW_SIM_COLD, FLOW_SIM_WARM, FLOW_SIM_BOTH };

struct flow_sim_settings {
	struct flow_sim_schedulers schedulers;
	uint32_t order;
	uint32_t workers, bucket_bits, pin_pkts;
	double threshold, enter, leave; /* percent */
	uint64_t idle_ns;
	bool hand_over;
	uint32_t window_pkts;
	uint64_t delay_ns;

	uint32_t gaps, flow_count, target_count, churn_ppm;
	double zipf, elephant; /* exponent, percent */
	struct flow_sim_loads loads;
	uint32_t start;
	uint64_t pkts, lead_pkts;

	uint32_t rx_ring_pkts, burst_pkts, flush_pkts, ring_pkts, worker_burst_pkts;
	uint64_t flush_ns;

	uint64_t io_iteration_ns, io_pkt_ns, service_ns, identify_ns, wake_ns;
	double jitter; /* percent */
	uint32_t identify_pkts;
	struct flow_sim_stall stall;
	uint32_t stall_worker;

	uint32_t watch_pkts;
	bool bisect;
	double bisect_step, bisect_high; /* percent */
	uint64_t seed;
	uint32_t seed_count;
	char json[FLOW_SIM_PATH_SIZE];
};

extern const struct lull_option flow_sim_options[];

/** The pipeline of a run; lead_pkts is 0 for a cold start. */
struct lull_sim_pipeline_config flow_sim_settings_config(const struct flow_sim_settings *settings,
							 const struct lull_scheduler *scheduler,
							 uint32_t load_ppm, bool warm,
							 uint64_t seed);

#endif
