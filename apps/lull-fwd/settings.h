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

#include "program/cpus.h"
#include "program/options.h"
#include "program/resting.h"

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

	struct lull_resting resting;

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

#endif
