/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-sim can be told, and the table that tells it.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_SIM_SETTINGS_H
#define LULL_SIM_SETTINGS_H

#include <lull/idle.h>
#include <lull/traffic.h>

#include "program/resting.h"
#include "program/rows.h"
#include "sim/sim.h"

#define SIM_GOVERNORS_MAX 32
#define SIM_PATH_SIZE 4096
#define SIM_UNSET UINT64_MAX
#define SIM_CHOICE_UNSET UINT32_MAX

/** A governor, and the rest of fixed and metronome. */
struct sim_governor {
	const struct lull_idle_governor *governor;
	uint64_t rest_ns; /* 0: the default */
};

struct sim_governors {
	uint32_t count;
	struct sim_governor items[SIM_GOVERNORS_MAX];
};

/** Two values with a colon between them. */
struct sim_pair {
	uint64_t first, second;
};

/** Stolen time; every_ns SIM_UNSET: the machine's. */
struct sim_stall {
	uint64_t every_ns, ns, ns_max;
};

/** Another program on each core; share_ppm SIM_UNSET: the machine's. */
struct sim_competitor {
	uint64_t share_ppm, run_ns;
};

/** Fixed rests from low_ns to high_ns, each longer than the last by the same factor. */
struct sim_sweep {
	uint64_t low_ns, high_ns;
	uint32_t steps; /* 0: no sweep */
};

struct sim_cstates {
	uint32_t count;
	struct lull_sim_cstate items[LULL_SIM_CSTATES_MAX];
};

struct sim_settings {
	struct sim_governors governors, send_governor;
	struct lull_resting resting;  /* less governor and rest; sched_policy may be untold */
	uint64_t send_max_latency_ns; /* SIM_UNSET: the same */

	struct lull_arrival_config arrival;
	char pcap[SIM_PATH_SIZE];
	double pcap_speed;
	uint64_t link_bps, shape_bps;
	uint32_t shape_bytes;

	uint32_t path;
	uint32_t ring, held, public_ring, burst, round_bursts, queues, threads, cores;

	bool share_queues;

	uint32_t machine;
	uint64_t iteration_ns, rest_ns, switch_ns;   /* SIM_UNSET: the machine's */
	struct lull_sim_curve burst_cost, overshoot; /* count 0: the machine's */
	struct lull_sim_curve interrupt, monitor;    /* count 0: threads have no such rest */
	double watts;                                /* NAN: the machine's */
	struct sim_cstates cstates;

	struct sim_pair late, line_bursts;
	struct sim_stall stall;
	struct sim_competitor competitor;

	uint64_t seed, duration_ns, warmup_ns; /* SIM_UNSET: as it suits the traffic */
	struct sim_sweep sweep;
	char describe[32];
	bool bins;
	char json[SIM_PATH_SIZE];
};

extern const struct lull_option sim_options[];

/** What rows cannot say about each other; 0 or -EINVAL and the sentence. */
int sim_settings_check(const struct sim_settings *settings, struct lull_error *error);
/** The machine with what was replaced in it, other work and stolen time included. */
struct lull_sim_machine sim_settings_machine(const struct sim_settings *settings);
/** Limits of a governor. */
struct lull_idle_limits sim_settings_limits(const struct sim_settings *settings,
					    const struct sim_governor *governor,
					    enum lull_sim_side side);

#endif
