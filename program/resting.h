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

/**
 * The rows; @p member is the struct lull_resting in the struct @p settings, @p chosen says who
 * rests by default: .value = "objective".
 */
#define LULL_RESTING_OPTIONS(settings, member, chosen)                                             \
	{                                                                                          \
		.key = "governor",                                                                 \
		.group = "Resting",                                                                \
		.help = "Who decides how long a thread may rest.",                                 \
		.type = LULL_OPTION_CHOICE,                                                        \
		.choice = lull_resting_governor_name,                                              \
		.choice_help = lull_resting_governor_help,                                         \
		chosen,                                                                            \
		.live = true,                                                                      \
		LULL_OPTION_MEMBER(settings, member.governor),                                     \
	},                                                                                         \
		{                                                                                  \
			.key = "max-latency",                                                      \
			.argument = "TIME",                                                        \
			.help = "Objective: added latency at the percentile.",                     \
			.type = LULL_OPTION_DURATION,                                              \
			.value = "200",                                                            \
			.unit = "us",                                                              \
			.low = LULL_NS_PER_US,                                                     \
			.high = LULL_NS_PER_S,                                                     \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.max_latency_ns),                       \
		},                                                                                 \
		{                                                                                  \
			.key = "percentile",                                                       \
			.help = "Objective: the percentile meant.",                                \
			.type = LULL_OPTION_REAL,                                                  \
			.value = "99",                                                             \
			.real_low = 50,                                                            \
			.real_high = 99.9999,                                                      \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.percentile),                           \
		},                                                                                 \
		{                                                                                  \
			.key = "loss",                                                             \
			.help = "Objective: may a rest lose packets?",                             \
			.type = LULL_OPTION_CHOICE,                                                \
			.choices = lull_resting_losses,                                            \
			.value = "zero",                                                           \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.loss),                                 \
		},                                                                                 \
		{                                                                                  \
			.key = "max-rest",                                                         \
			.argument = "TIME",                                                        \
			.help = "No rest longer than this, whatever the governor; the cap of "     \
				"ramp, halve, "                                                    \
				"drain and kalman.",                                               \
			.type = LULL_OPTION_DURATION,                                              \
			.value = "1000",                                                           \
			.unit = "us",                                                              \
			.low = 1,                                                                  \
			.high = LULL_NS_PER_S,                                                     \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.max_rest_ns),                          \
		},                                                                                 \
		{                                                                                  \
			.key = "rest",                                                             \
			.argument = "TIME",                                                        \
			.help = "fixed: the rest; metronome: the vacation target.",                \
			.type = LULL_OPTION_DURATION,                                              \
			.value = "50",                                                             \
			.unit = "us",                                                              \
			.low = 1,                                                                  \
			.high = LULL_NS_PER_S,                                                     \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.rest_ns),                              \
		},                                                                                 \
		{                                                                                  \
			.key = "pps-max",                                                          \
			.argument = "RATE",                                                        \
			.help = "What may arrive at one ring, for loss=zero: link (rate of "       \
				"64-byte frames),"                                                 \
				" learned (twice the largest seen, at least 1M), packets/s, or "   \
				"auto: link "                                                      \
				"on hardware, learned on virtual ports.",                          \
			.type = LULL_OPTION_CUSTOM,                                                \
			.value = "auto",                                                           \
			.parse = lull_pps_max_parse,                                               \
			.print = lull_pps_max_print,                                               \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.pps_max),                              \
		},                                                                                 \
		{                                                                                  \
			.key = "kalman-step",                                                      \
			.argument = "TIME",                                                        \
			.help = "kalman and kalman-guarded: step by which the rest grows.",        \
			.type = LULL_OPTION_DURATION,                                              \
			.value = "10",                                                             \
			.unit = "us",                                                              \
			.low = 1,                                                                  \
			.high = 10 * LULL_NS_PER_MS,                                               \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.kalman.step_ns),                       \
		},                                                                                 \
		{                                                                                  \
			.key = "kalman-tolerance",                                                 \
			.argument = "PERCENT",                                                     \
			.help = "kalman and kalman-guarded: loss of speed that counts as none.",   \
			.type = LULL_OPTION_REAL,                                                  \
			.value = "1",                                                              \
			.real_low = 0.0001,                                                        \
			.real_high = 50,                                                           \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.kalman_tolerance),                     \
		},                                                                                 \
		{                                                                                  \
			.key = "kalman-row",                                                       \
			.argument = "BYTES",                                                       \
			.help = "kalman and kalman-guarded: packet sizes that share a row of the " \
				"record "                                                          \
				"table.",                                                          \
			.type = LULL_OPTION_COUNT,                                                 \
			.value = "10",                                                             \
			.low = 1,                                                                  \
			.high = 1437,                                                              \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.kalman.row_bytes),                     \
		},                                                                                 \
		{                                                                                  \
			.key = "kalman-window",                                                    \
			.argument = "TIME",                                                        \
			.help = "kalman and kalman-guarded: sizes and speeds of so long are "      \
				"reckoned with; "                                                  \
				"10 ms for 1 GbE, 1 ms for 10 GbE.",                               \
			.type = LULL_OPTION_DURATION,                                              \
			.value = "10",                                                             \
			.unit = "ms",                                                              \
			.low = LULL_NS_PER_US,                                                     \
			.high = LULL_NS_PER_S,                                                     \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.kalman.window_ns),                     \
		},                                                                                 \
		{                                                                                  \
			.key = "sched-policy",                                                     \
			.help = "Scheduling class of a thread that rests. auto: fifo if the user " \
				"may have it, else other. other: as it was started. fifo: "        \
				"SCHED_FIFO. deadline: SCHED_DEADLINE, which the kernel refuses "  \
				"to pinned threads. A thread that stops resting is ordinary "      \
				"again within 10 ms.",                                             \
			.type = LULL_OPTION_CHOICE,                                                \
			.choices = lull_resting_policies,                                          \
			.value = "auto",                                                           \
			.live = true,                                                              \
			LULL_OPTION_MEMBER(settings, member.sched_policy),                         \
		},                                                                                 \
	{                                                                                          \
		.key = "kalman-layout",                                                            \
		.help = "kalman and kalman-guarded: how the record table is kept; all decide "     \
			"alike.",                                                                  \
		.type = LULL_OPTION_CHOICE, .choices = lull_resting_layouts, .value = "linked",    \
		.live = true, LULL_OPTION_MEMBER(settings, member.kalman_layout),                  \
	}

#endif
