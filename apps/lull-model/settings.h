/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-model can be told, and the table that tells it.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_MODEL_SETTINGS_H
#define LULL_MODEL_SETTINGS_H

#include "program/resting.h"
#include "program/rows.h"
#include "rest_spec.h"

#define MODEL_PATH_SIZE 4096
#define MODEL_CRC_BYTES 4
#define MODEL_WIRE_EXTRA_BYTES 20 /* preamble and gap */

enum model_side { MODEL_BOTH, MODEL_SEND, MODEL_RECEIVE };

struct model_settings {
	struct lull_devices devices;
	uint32_t side; /* enum model_side */
	uint32_t ring, public_ring, burst;
	struct lull_cpu_list cpus;

	uint32_t size; /* with CRC */
	uint64_t pps;
	uint64_t link_bps; /* 0: none */
	bool burst_cost;

	struct rest_spec send_rest, receive_rest;
	uint64_t slack_ns;            /* 0: depends on the rest */
	struct lull_resting resting;  /* less governor and rest, which each side has */
	uint64_t send_max_latency_ns; /* 0: the same */

	uint64_t warmup_ns, duration_ns;
	char json[MODEL_PATH_SIZE];
};

extern const struct lull_option model_options[];

/** Limits of a side that receives from this port; pps_max 0: not known. */
struct lull_idle_limits model_settings_limits(const struct model_settings *settings, bool sender,
					      const struct lull_ring_facts *port, uint64_t pps_max);

/** Ports named by the user. */
static inline uint32_t
model_settings_ports(const struct model_settings *settings)
{
	return settings->devices.vdev.count + settings->devices.pci.count;
}

#endif
