/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Dispatch rows: what a pipeline can be told, be it of real packets or of simulated ones.
 *
 * Each takes the type of the program's settings and a member; @p live says whether it can be
 * changed while the program runs.
 */
#ifndef LULL_CLI_DISPATCH_ROWS_H
#define LULL_CLI_DISPATCH_ROWS_H

#include "options.h"

/** Names of enum lull_order. */
#define LULL_ORDER_NAMES "none", "drain", "resequence", NULL

/** Row order, @p names an array of LULL_ORDER_NAMES, @p usual as .value has it. */
#define LULL_ORDER_OPTION(settings, member, names, usual)                                          \
	{                                                                                          \
		.key = "order",                                                                    \
		.help = "Order of the packets of a flow. none: reordering is only counted. "       \
			"drain: "                                                                  \
			"a flow moves only when its old worker holds none of its packets. "        \
			"resequence: the output restores the order.",                              \
		.type = LULL_OPTION_CHOICE, .value = usual, .choices = names,                      \
		LULL_OPTION_MEMBER(settings, member),                                              \
	}

/** Rows threshold, sticky-enter and sticky-leave. */
#define LULL_THRESHOLD_OPTIONS(settings, threshold_pct, enter_pct, leave_pct, changes)             \
	{ .key = "threshold",                                                                      \
	  .argument = "PERCENT",                                                                   \
	  .help = "subflow, ahrw: load of a ring, in percent, above which packets go to other "    \
		  "workers.",                                                                      \
	  .type = LULL_OPTION_REAL,                                                                \
	  .value = "25",                                                                           \
	  .real_low = 0.01,                                                                        \
	  .real_high = 100,                                                                        \
	  .live = changes,                                                                         \
	  LULL_OPTION_MEMBER(settings, threshold_pct) },                                           \
		{ .key = "sticky-enter",                                                           \
		  .argument = "PERCENT",                                                           \
		  .help = "sticky: load, in percent, above which a worker gives flows away; 0: "   \
			  "from measured rates.",                                                  \
		  .type = LULL_OPTION_REAL,                                                        \
		  .value = "0",                                                                    \
		  .real_high = 100,                                                                \
		  .live = changes,                                                                 \
		  LULL_OPTION_MEMBER(settings, enter_pct) },                                       \
	{                                                                                          \
		.key = "sticky-leave", .argument = "PERCENT",                                      \
		.help = "sticky: load, in percent, below which a worker takes its flows back; 0: " \
			"from measured rates.",                                                    \
		.type = LULL_OPTION_REAL, .value = "0", .real_high = 100, .live = changes,         \
		LULL_OPTION_MEMBER(settings, leave_pct),                                           \
	}

/** Rows flush-burst and flush-time. */
#define LULL_FLUSH_OPTIONS(settings, pkts, ns, most, changes)                                      \
	{ .key = "flush-burst",                                                                    \
	  .argument = "PACKETS",                                                                   \
	  .help = "Number of packets for a worker that are sent together.",                        \
	  .type = LULL_OPTION_COUNT,                                                               \
	  .value = "32",                                                                           \
	  .low = 1,                                                                                \
	  .high = most,                                                                            \
	  .live = changes,                                                                         \
	  LULL_OPTION_MEMBER(settings, pkts) },                                                    \
	{                                                                                          \
		.key = "flush-time", .argument = "TIME",                                           \
		.help = "Time after which fewer packets are sent too.",                            \
		.type = LULL_OPTION_DURATION, .value = "20", .unit = "us", .low = 1,               \
		.high = LULL_NS_PER_S, .live = changes, LULL_OPTION_MEMBER(settings, ns),          \
	}

/** Rows resequence-delay and resequence-window. */
#define LULL_RESEQUENCE_OPTIONS(settings, ns, pkts)                                                \
	{ .key = "resequence-delay",                                                               \
	  .argument = "TIME",                                                                      \
	  .help = "resequence: longest time for which a packet waits for an earlier one.",         \
	  .type = LULL_OPTION_DURATION,                                                            \
	  .value = "2",                                                                            \
	  .unit = "ms",                                                                            \
	  .low = LULL_NS_PER_US,                                                                   \
	  .high = LULL_NS_PER_S,                                                                   \
	  LULL_OPTION_MEMBER(settings, ns) },                                                      \
	{                                                                                          \
		.key = "resequence-window", .argument = "PACKETS",                                 \
		.help = "resequence: largest number of packets that wait.",                        \
		.type = LULL_OPTION_COUNT, .value = "4096", .low = 1, .high = 65536,               \
		LULL_OPTION_MEMBER(settings, pkts),                                                \
	}

#endif
