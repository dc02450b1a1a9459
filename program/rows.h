/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rows: what stands alike in the option tables of several programs.
 *
 * Each takes the type of the program's settings, whose members have the names used here.
 */
#ifndef LULL_CLI_ROWS_H
#define LULL_CLI_ROWS_H

#include "options.h"

/** Rows vdev, pci and eal; @p headline as .group has it, @p role of a memif, as a literal. */
#define LULL_PORT_OPTIONS(settings, headline, role)                                                \
	{                                                                                          \
		.key = "vdev",                                                                     \
		.group = headline,                                                                 \
		.argument = "DEVICE",                                                              \
		.help = "DPDK virtual device, like net_af_packet0,iface=veth0 or "                 \
			"net_memif0,role=" role                                                    \
			". May stand more than once; ports count from 0 in this order.",           \
		.type = LULL_OPTION_LIST,                                                          \
		LULL_OPTION_MEMBER(settings, vdev),                                                \
	},                                                                                         \
		LULL_PCI_OPTIONS(settings)

/** Rows pci and eal. */
#define LULL_PCI_OPTIONS(settings)                                                                 \
	{                                                                                          \
		.key = "pci",                                                                      \
		.argument = "ADDRESS",                                                             \
		.help = "PCI address of a NIC bound to a driver for DPDK. May stand more than "    \
			"once.",                                                                   \
		.type = LULL_OPTION_LIST,                                                          \
		LULL_OPTION_MEMBER(settings, pci),                                                 \
	},                                                                                         \
	{                                                                                          \
		.key = "eal", .argument = "ARGUMENTS",                                             \
		.help = "Further arguments for DPDK's environment, split like a shell does.",      \
		.type = LULL_OPTION_TEXT, LULL_OPTION_MEMBER(settings, eal),                       \
	}

/** Row burst, @p most as .high has it. */
#define LULL_BURST_OPTION(settings, most)                                                          \
	{                                                                                          \
		.key = "burst", .argument = "PACKETS", .help = "Most packets of one receive.",     \
		.type = LULL_OPTION_COUNT, .value = "32", .low = 1, .high = most,                  \
		LULL_OPTION_MEMBER(settings, burst),                                               \
	}

/** Row stats. */
#define LULL_STATS_OPTION(settings)                                                                \
	{                                                                                          \
		.key = "stats", .argument = "TIME",                                                \
		.help = "Time between progress lines on stderr, 0: none.",                         \
		.type = LULL_OPTION_DURATION, .value_help = "1 s on a terminal, otherwise 0",      \
		.unit = "s", LULL_OPTION_MEMBER(settings, stats_ns),                               \
	}

/** Row json. */
#define LULL_JSON_OPTION(settings)                                                                 \
	{                                                                                          \
		.key = "json", .argument = "FILE",                                                 \
		.help = "Write the result as JSON, - is stdout.", .type = LULL_OPTION_TEXT,        \
		.file = true, LULL_OPTION_MEMBER(settings, json),                                  \
	}

#endif
