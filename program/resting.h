/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Resting: what a program can be told about how its loops rest, as rows of its option table.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_CLI_RESTING_H
#define LULL_CLI_RESTING_H

#include <lull/idle.h>

#include "idle/ring_facts.h"

#include "cpu_latency_option.h"
#include "pps_max.h"
#include "row.h"

struct lull_resting {
	uint32_t governor; /**< index in lull_idle_governors */
	uint64_t max_latency_ns;
	double percentile;
	uint32_t loss; /**< enum lull_loss */
	uint64_t max_rest_ns, rest_ns;
	uint64_t backup_rest_ns; /**< 0: the default, also where the program has no such row */
	struct lull_pps_max pps_max;
	struct lull_kalman_config kalman; /**< less what stands in the next two */
	double kalman_tolerance;          /**< percent */
	uint32_t kalman_layout;           /**< enum lull_record_layout */
	uint32_t sched_policy;            /**< enum lull_sched_policy */
	uint64_t cpu_latency_ns;          /**< as struct lull_rest_thread_config has it */
};

/** Percent as parts per million. */
uint32_t lull_resting_ppm(double percent);

const struct lull_idle_governor *lull_resting_governor(const struct lull_resting *resting);
/**
 * Limits for a loop on these rings, NULL: nothing is known of them. With pps-max=link pps_max is 0
 * where a link tells no rate.
 */
struct lull_idle_limits lull_resting_limits(const struct lull_resting *resting,
					    const struct lull_ring_facts *rings);

/* Choices of the rows. */
extern const char *const lull_resting_losses[], *const lull_resting_layouts[];
extern const char *const lull_resting_policies[];
const char *lull_resting_governor_name(uint32_t index);
const char *lull_resting_governor_help(uint32_t index);

/*
 * The rows. Each takes the member; what programs may differ in comes last: .value, .value_help,
 * .live.
 */

#define LULL_GOVERNOR_OPTION(member, ...)                                                          \
	LULL_ROW_CHOICE("governor", member, "Policy that decides how long a thread rests.",        \
			.choice = lull_resting_governor_name,                                      \
			.choice_help = lull_resting_governor_help, __VA_ARGS__)
/** @p prefix is put in front of the key: "" or "send-". */
#define LULL_MAX_LATENCY_OPTION(prefix, member, ...)                                               \
	LULL_ROW_TIME(prefix "max-latency", member,                                                \
		      "Objective: largest added latency at the "                                   \
		      "percentile.",                                                               \
		      .unit = "us", .low = LULL_NS_PER_US, .high = LULL_NS_PER_S, __VA_ARGS__)
/** Of programs with a channel, whose objective is the longest rest alone; @p text is its help. */
#define LULL_CHANNEL_REST_OPTION(member, text)                                                     \
	LULL_ROW_TIME("max-latency", member, text, .value = "1000", .unit = "us",                  \
		      .low = LULL_NS_PER_US, .high = 100 * LULL_NS_PER_MS, .live = true)
#define LULL_PERCENTILE_OPTION(member, ...)                                                        \
	LULL_ROW_REAL("percentile", NULL, member,                                                  \
		      "Objective: percentile of the packets that "                                 \
		      "max-latency is for.",                                                       \
		      .value = "99", .real_low = 50, .real_high = 99.9999, __VA_ARGS__)
#define LULL_LOSS_OPTION(member, ...)                                                              \
	LULL_ROW_CHOICE("loss", member, "Objective: whether a rest may lose packets.",             \
			.choices = lull_resting_losses, .value = "zero", __VA_ARGS__)
#define LULL_MAX_REST_OPTION(member, ...)                                                          \
	LULL_ROW_TIME("max-rest", member, "Longest rest, with every governor.", .unit = "us",      \
		      .low = 1, .high = LULL_NS_PER_S, __VA_ARGS__)
#define LULL_REST_OPTION(member, ...)                                                              \
	LULL_ROW_TIME("rest", member,                                                              \
		      "fixed: length of a rest. metronome: mean time for "                         \
		      "which an emptied queue is not polled.",                                     \
		      .value = "50", .unit = "us", .low = 1, .high = LULL_NS_PER_S, __VA_ARGS__)
/** Two rows, for programs whose threads can share queues. */
#define LULL_SHARE_OPTIONS(share, backup, changes)                                                 \
	LULL_ROW_BOOL("share-queues", share,                                                       \
		      "The threads share all queues, one thread at a time polls a queue. Who "     \
		      "finds a queue with another thread rests for backup-rest and then tries "    \
		      "any of them. At least as many threads as queues; governor metronome "       \
		      "only."),                                                                    \
		LULL_ROW_TIME("backup-rest", backup,                                               \
			      "share-queues: rest of a thread that finds its queue with another "  \
			      "thread.",                                                           \
			      .value = "500", .unit = "us", .low = 1, .high = LULL_NS_PER_S,       \
			      .live = changes)
#define LULL_PPS_MAX_OPTION(member, ...)                                                           \
	LULL_ROW_CUSTOM("pps-max", "RATE", member, lull_pps_max,                                   \
			"Largest arrival rate at one ring, for loss=zero: link (64-byte "          \
			"frames at link rate), learned (from the arrivals so far, at least "       \
			"1M), packets/s, or auto (link on hardware, learned on virtual "           \
			"ports).",                                                                 \
			.value = "auto", __VA_ARGS__)
/** Five rows; @p member is the struct lull_resting. */
#define LULL_KALMAN_OPTIONS(member, changes)                                                       \
	LULL_ROW_TIME("kalman-step", member.kalman.step_ns,                                        \
		      "kalman and kalman-guarded: step by which a rest grows.", .value = "10",     \
		      .unit = "us", .low = 1, .high = 10 * LULL_NS_PER_MS, .live = changes),       \
		LULL_ROW_REAL("kalman-tolerance", "PERCENT", member.kalman_tolerance,              \
			      "kalman and kalman-guarded: loss of speed to ignore, in "            \
			      "percent.",                                                          \
			      .value = "1", .real_low = 0.0001, .real_high = 50, .live = changes), \
		LULL_ROW_COUNT("kalman-row", "BYTES", member.kalman.row_bytes,                     \
			       "kalman and kalman-guarded: packet sizes per row of the record "    \
			       "table.",                                                           \
			       .value = "10", .low = 1, .high = 1437, .live = changes),            \
		LULL_ROW_TIME("kalman-window", member.kalman.window_ns,                            \
			      "kalman and kalman-guarded: window over which packet sizes and "     \
			      "speeds are estimated; 10 ms for 1 GbE, 1 ms for 10 GbE.",           \
			      .value = "10", .unit = "ms", .low = LULL_NS_PER_US,                  \
			      .high = LULL_NS_PER_S, .live = changes),                             \
		LULL_ROW_CHOICE(                                                                   \
			"kalman-layout", member.kalman_layout,                                     \
			"kalman and kalman-guarded: layout of the record table; all decide "       \
			"alike.",                                                                  \
			.choices = lull_resting_layouts, .value = "linked", .live = changes)
#define LULL_SCHED_POLICY_OPTION(member, ...)                                                      \
	LULL_ROW_CHOICE("sched-policy", member,                                                    \
			"Scheduling class of a thread that rests. auto: fifo if the user has "     \
			"the right to it, else other. other: the class that the thread was "       \
			"started with. fifo: SCHED_FIFO. deadline: SCHED_DEADLINE, which the "     \
			"kernel refuses to pinned threads. A thread that stops resting leaves "    \
			"the class within 10 ms.",                                                 \
			.choices = lull_resting_policies, __VA_ARGS__)
#define LULL_CPU_LATENCY_OPTION(member, ...)                                                       \
	LULL_ROW_CUSTOM("cpu-latency", "LIMIT", member, lull_cpu_latency,                          \
			"Largest exit latency of the C-states that the CPU of a thread that "      \
			"rests may use: auto (what max-latency and the ring leave), off (as the "  \
			"machine has it) or a time. Held in pm_qos_resume_latency_us while the "   \
			"thread runs bound to one CPU.",                                           \
			__VA_ARGS__)

/** Those of the objective, with defaults @p latency and @p rest; @p member is the struct. */
#define LULL_OBJECTIVE_OPTIONS_OF(member, latency, rest, changes)                                  \
	LULL_MAX_LATENCY_OPTION("", member.max_latency_ns, .value = latency, .live = changes),     \
		LULL_PERCENTILE_OPTION(member.percentile, .live = changes),                        \
		LULL_LOSS_OPTION(member.loss, .live = changes),                                    \
		LULL_MAX_REST_OPTION(member.max_rest_ns, .value = rest, .live = changes)

/** The same with the defaults of all programs, of a run in which nothing changes; and row
 * send-max-latency, for programs in which a sender rests too. */
#define LULL_OBJECTIVE_OPTIONS(member, send_latency_ns)                                            \
	LULL_OBJECTIVE_OPTIONS_OF(member, "200", "1000", false),                                   \
		LULL_MAX_LATENCY_OPTION("send-", send_latency_ns, .value_help = "the same")

/** All rows; @p chosen says who rests by default: .value = "objective". */
#define LULL_RESTING_OPTIONS(member, chosen)                                                       \
	LULL_RESTING_OPTIONS_OF(member, "200", "1000", "auto", "auto", .group = "Resting", chosen)
/** The same with the defaults of max-latency, max-rest, sched-policy and cpu-latency. */
#define LULL_RESTING_OPTIONS_OF(member, latency, rest, policy, c_states, ...)                      \
	LULL_GOVERNOR_OPTION(member.governor, .live = true, __VA_ARGS__),                          \
		LULL_OBJECTIVE_OPTIONS_OF(member, latency, rest, true),                            \
		LULL_REST_OPTION(member.rest_ns, .live = true),                                    \
		LULL_PPS_MAX_OPTION(member.pps_max, .live = true),                                 \
		LULL_KALMAN_OPTIONS(member, true),                                                 \
		LULL_SCHED_POLICY_OPTION(member.sched_policy, .value = policy, .live = true),      \
		LULL_CPU_LATENCY_OPTION(member.cpu_latency_ns, .value = c_states, .live = true)

#endif
