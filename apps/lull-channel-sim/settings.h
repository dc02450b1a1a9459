/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-channel-sim can be told, and the table that tells it.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_CHANNEL_SIM_SETTINGS_H
#define LULL_CHANNEL_SIM_SETTINGS_H

#include "program/options.h"
#include "sim/channel.h"

#define CHANNEL_SIM_PATH_SIZE 4096
#define CHANNEL_SIM_EVENTS_MAX 32
#define CHANNEL_SIM_STEADY 0

struct channel_sim_rails {
	uint32_t count;
	uint64_t rates_bps[LULL_BUNDLE_RAILS_MAX];
};

/** What happens to a rail, at a time. */
struct channel_sim_events {
	uint32_t count;
	struct {
		uint32_t rail;
		uint64_t at_ns, value;
	} items[CHANNEL_SIM_EVENTS_MAX];
};

enum channel_sim_job {
	CHANNEL_SIM_BANDWIDTH,
	CHANNEL_SIM_LATENCY,
	CHANNEL_SIM_INCAST,
	CHANNEL_SIM_PERIODIC,
};

struct channel_sim_settings {
	uint32_t nodes;
	struct channel_sim_rails rails;
	struct lull_sim_path_config wire;
	uint32_t packet_bytes, ring;
	struct channel_sim_events kill, back, speed;

	uint32_t job;
	uint32_t message, under_way;
	uint64_t period_ns, burst_ns, time_ns, warmup_ns;

	uint32_t spread, control, window;
	bool rail_credit;
	uint64_t rest_ns;
	uint32_t governor; /* CHANNEL_SIM_STEADY, else 1 + index in lull_idle_governors */
	bool heedless, announce, event_rests;
	uint32_t machine;

	uint64_t seed, scenarios;
	bool curve;
	char json[CHANNEL_SIM_PATH_SIZE];
};

extern const struct lull_option channel_sim_options[];

/** The world; 0 or -EINVAL and the sentence. */
int channel_sim_settings_config(const struct channel_sim_settings *settings,
				struct lull_sim_channel_config *config, struct lull_error *error);

#endif
