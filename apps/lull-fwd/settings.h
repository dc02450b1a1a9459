/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-fwd can be told, and the table that tells it.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_FWD_SETTINGS_H
#define LULL_FWD_SETTINGS_H

#include <lull/engine.h>
#include <lull/traffic.h>

#include "cli/cpus.h"
#include "cli/options.h"
#include "cli/pps_max.h"

#define FWD_PORTS_MAX 16
#define FWD_THREADS_MAX 16
#define FWD_PATH_SIZE 4096

/** Traffic in this process. */
struct fwd_traffic {
	bool wanted; /* be it off to begin with */
	struct lull_arrival_config arrival;
};

struct fwd_settings {
	struct lull_option_list vdev, pci;
	char eal[1024];
	uint32_t mode; /* enum lull_forward_mode */
	uint32_t threads, queues, ring, burst;
	struct lull_cpu_list cpus;

	uint32_t governor; /* index in lull_idle_governors */
	uint64_t max_latency_ns;
	double percentile;
	uint32_t loss; /* enum lull_loss */
	uint64_t max_rest_ns, rest_ns;
	struct lull_pps_max pps_max;
	struct lull_kalman_config kalman; /* less what stands in the next two */
	double kalman_tolerance;          /* percent */
	uint32_t kalman_layout;           /* enum lull_record_layout */

	struct fwd_traffic traffic;
	uint32_t flows;
	struct lull_cpu_list traffic_cpu;

	uint64_t duration_ns, stats_ns;
	char json[FWD_PATH_SIZE];
};

extern const struct lull_program fwd_program;

/** What the table leaves to the program. */
void fwd_settings_preset(struct fwd_settings *settings);
/** What rows cannot say about each other; 0 or -EINVAL and the sentence. */
int fwd_settings_check(const struct fwd_settings *settings, struct lull_error *error);
const struct lull_idle_governor *fwd_settings_governor(const struct fwd_settings *settings);
/** Limits for loops on rings of this size and rate. */
struct lull_idle_limits fwd_settings_limits(const struct fwd_settings *settings, uint32_t ring_pkts,
					    uint32_t held_pkts, uint64_t link_pps);

#endif
