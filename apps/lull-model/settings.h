/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-model can be told, and the table that tells it.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_MODEL_SETTINGS_H
#define LULL_MODEL_SETTINGS_H

#include "program/cpus.h"
#include "program/options.h"
#include "rest_spec.h"

#define MODEL_PATH_SIZE 4096
#define MODEL_CRC_BYTES 4
#define MODEL_WIRE_EXTRA_BYTES 20 /* preamble and gap */

enum model_side { MODEL_BOTH, MODEL_SEND, MODEL_RECEIVE };

struct model_settings {
	struct lull_option_list vdev, pci;
	char eal[1024];
	uint32_t side; /* enum model_side */
	uint32_t ring, public_ring, burst;
	struct lull_cpu_list cpus;

	uint32_t size; /* with CRC */
	uint64_t pps;
	uint64_t link_bps; /* 0: none */
	bool burst_cost;

	struct rest_spec send_rest, receive_rest;
	uint64_t slack_ns; /* 0: depends on the rest */
	uint64_t max_latency_ns, max_rest_ns;
	uint64_t send_max_latency_ns; /* 0: the same */
	double percentile;
	uint32_t loss;                    /* enum lull_loss */
	struct lull_kalman_config kalman; /* less what stands in the next two */
	double kalman_tolerance;          /* percent */
	uint32_t kalman_layout;           /* enum lull_record_layout */

	uint64_t warmup_ns, duration_ns;
	char json[MODEL_PATH_SIZE];
};

extern const struct lull_program model_program;

/** What the table leaves to the program. */
void model_settings_preset(struct model_settings *settings);
/** What rows cannot say about each other; 0 or -EINVAL and the sentence. */
int model_settings_check(const struct model_settings *settings, struct lull_error *error);
/** Limits of a side that rests so; pps_max 0: not known. */
struct lull_idle_limits model_settings_limits(const struct model_settings *settings,
					      const struct rest_spec *rest, uint32_t ring_pkts,
					      uint32_t held_pkts, uint64_t pps_max);

/** Ports named by the user. */
static inline uint32_t
model_settings_ports(const struct model_settings *settings)
{
	return settings->vdev.count + settings->pci.count;
}

#endif
