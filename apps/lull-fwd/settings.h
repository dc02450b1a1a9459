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
#include "program/resting.h"
#include "program/rows.h"

#define FWD_PORTS_MAX 16
#define FWD_THREADS_MAX 16
#define FWD_PATH_SIZE 4096

/** Traffic in this process. */
struct fwd_traffic {
	bool wanted; /* be it off to begin with */
	struct lull_arrival_config arrival;
};

struct fwd_settings {
	struct lull_devices devices;
	uint32_t mode; /* enum lull_forward_mode */
	uint32_t threads, queues, burst;
	struct lull_ring_size ring;
	struct lull_cpu_list cpus;
	bool share_queues;

	struct lull_resting resting;

	struct fwd_traffic traffic;
	uint32_t flows;
	struct lull_cpu_list traffic_cpu;

	uint64_t duration_ns, stats_ns;
	char json[FWD_PATH_SIZE];
};

extern const struct lull_option fwd_options[];

/** Ports named by the user. */
static inline uint32_t
fwd_settings_ports(const struct fwd_settings *settings)
{
	return settings->devices.vdev.count + settings->devices.pci.count;
}

#endif
