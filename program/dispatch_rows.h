/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Dispatch rows: what a pipeline can be told, be it of real packets or of simulated ones.
 *
 * Each takes a member of the settings (LULL_SETTINGS); @p changes says whether it can be changed
 * while the program runs.
 */
#ifndef LULL_CLI_DISPATCH_ROWS_H
#define LULL_CLI_DISPATCH_ROWS_H

#include <lull/dispatch.h>

#include "row.h"

/** Names of schedulers and of enum lull_order, and what schedulers say of themselves. */
const char *lull_dispatch_scheduler_name(uint32_t index);
const char *lull_dispatch_scheduler_help(uint32_t index);
const char *lull_dispatch_order_name(uint32_t index);

/** Row order, @p usual as .value has it. */
#define LULL_ORDER_OPTION(member, usual)                                                           \
	LULL_ROW_CHOICE("order", member,                                                           \
			"Order of the packets of a flow. none: reordering is only counted. "       \
			"drain: a flow moves only when its old worker holds none of its "          \
			"packets. resequence: the output restores the order.",                     \
			.value = usual, .choice = lull_dispatch_order_name)

/** Rows threshold, sticky-enter and sticky-leave. */
#define LULL_THRESHOLD_OPTIONS(threshold_pct, enter_pct, leave_pct, changes)                       \
	LULL_ROW_REAL("threshold", "PERCENT", threshold_pct,                                       \
		      "subflow, ahrw: load of a ring, in percent, above which packets go to "      \
		      "other workers.",                                                            \
		      .value = "25", .real_low = 0.01, .real_high = 100, .live = changes),         \
		LULL_ROW_REAL(                                                                     \
			"sticky-enter", "PERCENT", enter_pct,                                      \
			"sticky: load, in percent, above which a worker gives flows away; 0: "     \
			"from measured rates.",                                                    \
			.value = "0", .real_high = 100, .live = changes),                          \
		LULL_ROW_REAL(                                                                     \
			"sticky-leave", "PERCENT", leave_pct,                                      \
			"sticky: load, in percent, below which a worker takes its flows back; "    \
			"0: from measured rates.",                                                 \
			.value = "0", .real_high = 100, .live = changes)

/** Rows flush-burst and flush-time. */
#define LULL_FLUSH_OPTIONS(pkts, ns, most, changes)                                                \
	LULL_ROW_COUNT("flush-burst", "PACKETS", pkts,                                             \
		       "Number of packets for a worker that are sent together.", .value = "32",    \
		       .low = 1, .high = most, .live = changes),                                   \
		LULL_ROW_TIME("flush-time", ns, "Time after which fewer packets are sent too.",    \
			      .value = "20", .unit = "us", .low = 1, .high = LULL_NS_PER_S,        \
			      .live = changes)

/** Rows resequence-delay and resequence-window. */
#define LULL_RESEQUENCE_OPTIONS(ns, pkts)                                                          \
	LULL_ROW_TIME("resequence-delay", ns,                                                      \
		      "resequence: longest time for which a packet waits for an earlier one.",     \
		      .value = "2", .unit = "ms", .low = LULL_NS_PER_US, .high = LULL_NS_PER_S),   \
		LULL_ROW_COUNT("resequence-window", "PACKETS", pkts,                               \
			       "resequence: largest number of packets that wait.",                 \
			       .value = "4096", .low = 1, .high = 65536)

#endif
