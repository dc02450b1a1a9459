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

#include "options.h"
#include "pps_max.h"

struct lull_resting {
	uint32_t governor; /**< index in lull_idle_governors */
	uint64_t max_latency_ns;
	double percentile;
	uint32_t loss; /**< enum lull_loss */
	uint64_t max_rest_ns, rest_ns;
	struct lull_pps_max pps_max;
	struct lull_kalman_config kalman; /**< less what stands in the next two */
	double kalman_tolerance;          /**< percent */
	uint32_t kalman_layout;           /**< enum lull_record_layout */
	uint32_t sched_policy;            /**< enum lull_sched_policy */
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
 * The rows. Each takes what is put in front of its key ("" or "send-"), the type of the program's
 * settings and the member; what programs may differ in comes last: .value, .value_help, .live.
 */

#define LULL_GOVERNOR_OPTION(settings, member, ...)                                                \
	{                                                                                          \
		.key = "governor", .help = "Policy that decides how long a thread rests.",         \
		.type = LULL_OPTION_CHOICE, .choice = lull_resting_governor_name,                  \
		.choice_help = lull_resting_governor_help, LULL_OPTION_MEMBER(settings, member),   \
		__VA_ARGS__                                                                        \
	}
#define LULL_MAX_LATENCY_OPTION(prefix, settings, member, ...)                                     \
	{                                                                                          \
		.key = prefix "max-latency", .argument = "TIME",                                   \
		.help = "Objective: largest added latency at the percentile.",                     \
		.type = LULL_OPTION_DURATION, .unit = "us", .low = LULL_NS_PER_US,                 \
		.high = LULL_NS_PER_S, LULL_OPTION_MEMBER(settings, member), __VA_ARGS__           \
	}
#define LULL_PERCENTILE_OPTION(settings, member, ...)                                              \
	{                                                                                          \
		.key = "percentile",                                                               \
		.help = "Objective: percentile of the packets that "                               \
			"max-latency is for.",                                                     \
		.type = LULL_OPTION_REAL, .value = "99", .real_low = 50, .real_high = 99.9999,     \
		LULL_OPTION_MEMBER(settings, member), __VA_ARGS__                                  \
	}
#define LULL_LOSS_OPTION(settings, member, ...)                                                    \
	{                                                                                          \
		.key = "loss", .help = "Objective: whether a rest may lose packets.",              \
		.type = LULL_OPTION_CHOICE, .choices = lull_resting_losses, .value = "zero",       \
		LULL_OPTION_MEMBER(settings, member), __VA_ARGS__                                  \
	}
#define LULL_MAX_REST_OPTION(settings, member, ...)                                                \
	{                                                                                          \
		.key = "max-rest", .argument = "TIME",                                             \
		.help = "Longest rest, with every governor.", .type = LULL_OPTION_DURATION,        \
		.unit = "us", .low = 1, .high = LULL_NS_PER_S,                                     \
		LULL_OPTION_MEMBER(settings, member), __VA_ARGS__                                  \
	}
#define LULL_REST_OPTION(settings, member, ...)                                                    \
	{                                                                                          \
		.key = "rest", .argument = "TIME",                                                 \
		.help = "fixed: length of a rest. metronome: mean time for which an emptied "      \
			"queue "                                                                   \
			"is not polled.",                                                          \
		.type = LULL_OPTION_DURATION, .value = "50", .unit = "us", .low = 1,               \
		.high = LULL_NS_PER_S, LULL_OPTION_MEMBER(settings, member), __VA_ARGS__           \
	}
#define LULL_PPS_MAX_OPTION(settings, member, ...)                                                 \
	{                                                                                          \
		.key = "pps-max", .argument = "RATE",                                              \
		.help = "Largest arrival rate at one ring, for loss=zero: link (64-byte frames "   \
			"at "                                                                      \
			"link rate), learned (from the arrivals so far, at least 1M), packets/s, " \
			"or auto (link on hardware, learned on virtual ports).",                   \
		.type = LULL_OPTION_CUSTOM, .value = "auto", .parse = lull_pps_max_parse,          \
		.print = lull_pps_max_print, LULL_OPTION_MEMBER(settings, member), __VA_ARGS__     \
	}
/** Five rows; @p config is a struct lull_kalman_config. */
#define LULL_KALMAN_OPTIONS(settings, config, tolerance, layout, ...)                              \
	{ .key = "kalman-step",                                                                    \
	  .argument = "TIME",                                                                      \
	  .help = "kalman and kalman-guarded: step by which a rest grows.",                        \
	  .type = LULL_OPTION_DURATION,                                                            \
	  .value = "10",                                                                           \
	  .unit = "us",                                                                            \
	  .low = 1,                                                                                \
	  .high = 10 * LULL_NS_PER_MS,                                                             \
	  LULL_OPTION_MEMBER(settings, config.step_ns),                                            \
	  __VA_ARGS__ },                                                                           \
		{ .key = "kalman-tolerance",                                                       \
		  .argument = "PERCENT",                                                           \
		  .help = "kalman and kalman-guarded: loss of speed to ignore, in percent.",       \
		  .type = LULL_OPTION_REAL,                                                        \
		  .value = "1",                                                                    \
		  .real_low = 0.0001,                                                              \
		  .real_high = 50,                                                                 \
		  LULL_OPTION_MEMBER(settings, tolerance),                                         \
		  __VA_ARGS__ },                                                                   \
		{ .key = "kalman-row",                                                             \
		  .argument = "BYTES",                                                             \
		  .help = "kalman and kalman-guarded: packet sizes per row of the record table.",  \
		  .type = LULL_OPTION_COUNT,                                                       \
		  .value = "10",                                                                   \
		  .low = 1,                                                                        \
		  .high = 1437,                                                                    \
		  LULL_OPTION_MEMBER(settings, config.row_bytes),                                  \
		  __VA_ARGS__ },                                                                   \
		{ .key = "kalman-window",                                                          \
		  .argument = "TIME",                                                              \
		  .help = "kalman and kalman-guarded: window over which packet sizes and speeds "  \
			  "are estimated; 10 ms for 1 GbE, 1 ms for 10 GbE.",                      \
		  .type = LULL_OPTION_DURATION,                                                    \
		  .value = "10",                                                                   \
		  .unit = "ms",                                                                    \
		  .low = LULL_NS_PER_US,                                                           \
		  .high = LULL_NS_PER_S,                                                           \
		  LULL_OPTION_MEMBER(settings, config.window_ns),                                  \
		  __VA_ARGS__ },                                                                   \
	{                                                                                          \
		.key = "kalman-layout",                                                            \
		.help = "kalman and kalman-guarded: layout of the record table; all decide "       \
			"alike.",                                                                  \
		.type = LULL_OPTION_CHOICE, .choices = lull_resting_layouts, .value = "linked",    \
		LULL_OPTION_MEMBER(settings, layout), __VA_ARGS__                                  \
	}
#define LULL_SCHED_POLICY_OPTION(settings, member, ...)                                            \
	{                                                                                          \
		.key = "sched-policy",                                                             \
		.help = "Scheduling class of a thread that rests. auto: fifo if the user has the " \
			"right to it, else other. other: the class that the thread was started "   \
			"with. fifo: SCHED_FIFO. deadline: SCHED_DEADLINE, which the kernel "      \
			"refuses to pinned threads. A thread that stops resting leaves the class " \
			"within 10 ms.",                                                           \
		.type = LULL_OPTION_CHOICE, .choices = lull_resting_policies,                      \
		LULL_OPTION_MEMBER(settings, member), __VA_ARGS__                                  \
	}

/** Those of the objective; @p member is the struct lull_resting, @p changes true where live. */
#define LULL_OBJECTIVE_OPTIONS(settings, member, changes)                                          \
	LULL_MAX_LATENCY_OPTION("", settings, member.max_latency_ns, .value = "200",               \
				.live = changes),                                                  \
		LULL_PERCENTILE_OPTION(settings, member.percentile, .live = changes),              \
		LULL_LOSS_OPTION(settings, member.loss, .live = changes),                          \
		LULL_MAX_REST_OPTION(settings, member.max_rest_ns, .value = "1000",                \
				     .live = changes)

/** All rows; @p chosen says who rests by default: .value = "objective". */
#define LULL_RESTING_OPTIONS(settings, member, chosen)                                             \
	LULL_GOVERNOR_OPTION(settings, member.governor, .group = "Resting", chosen, .live = true), \
		LULL_OBJECTIVE_OPTIONS(settings, member, true),                                    \
		LULL_REST_OPTION(settings, member.rest_ns, .live = true),                          \
		LULL_PPS_MAX_OPTION(settings, member.pps_max, .live = true),                       \
		LULL_KALMAN_OPTIONS(settings, member.kalman, member.kalman_tolerance,              \
				    member.kalman_layout, .live = true),                           \
		LULL_SCHED_POLICY_OPTION(settings, member.sched_policy, .value = "auto",           \
					 .live = true)

#endif
