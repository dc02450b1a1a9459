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
			"Promise about the packets of one flow. none: reordering is counted. "     \
			"drain: a flow changes its worker only when the old one holds none of "    \
			"it. resequence: order is restored at the output.",                        \
			.value = usual, .choice = lull_dispatch_order_name)

/** Rows threshold, sticky-enter and sticky-leave. */
#define LULL_THRESHOLD_OPTIONS(threshold_pct, enter_pct, leave_pct, changes)                       \
	LULL_ROW_REAL("threshold", "PERCENT", threshold_pct,                                       \
		      "subflow, ahrw: load of a ring above which a worker is relieved, percent.",  \
		      .value = "25", .real_low = 0.01, .real_high = 100, .live = changes),         \
		LULL_ROW_REAL(                                                                     \
			"sticky-enter", "PERCENT", enter_pct,                                      \
			"sticky: load above which a worker gives flows away, percent; 0: from "    \
			"the fill and drain rates measured.",                                      \
			.value = "0", .real_high = 100, .live = changes),                          \
		LULL_ROW_REAL(                                                                     \
			"sticky-leave", "PERCENT", leave_pct,                                      \
			"sticky: load below which a worker takes its flows back, percent; 0: "     \
			"from the fill and drain rates measured.",                                 \
			.value = "0", .real_high = 100, .live = changes)

/** Rows flush-burst and flush-time. */
#define LULL_FLUSH_OPTIONS(pkts, ns, most, changes)                                                \
	LULL_ROW_COUNT("flush-burst", "PACKETS", pkts,                                             \
		       "So many packets for a worker are sent at once.", .value = "32", .low = 1,  \
		       .high = most, .live = changes),                                             \
		LULL_ROW_TIME("flush-time", ns,                                                    \
			      "Fewer packets for a worker are sent after this time.",              \
			      .value = "20", .unit = "us", .low = 1, .high = LULL_NS_PER_S,        \
			      .live = changes)

/** Rows resequence-delay and resequence-window. */
#define LULL_RESEQUENCE_OPTIONS(ns, pkts)                                                          \
	LULL_ROW_TIME("resequence-delay", ns,                                                      \
		      "resequence: longest time a packet waits for an earlier one.", .value = "2", \
		      .unit = "ms", .low = LULL_NS_PER_US, .high = LULL_NS_PER_S),                 \
		LULL_ROW_COUNT("resequence-window", "PACKETS", pkts,                               \
			       "resequence: most packets that wait.", .value = "4096", .low = 1,   \
			       .high = 65536)

#endif
