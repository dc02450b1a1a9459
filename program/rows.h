/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rows: what stands alike in the option tables of several programs.
 *
 * Each takes the type of the program's settings, whose members have the names used here.
 */
#ifndef LULL_CLI_ROWS_H
#define LULL_CLI_ROWS_H

#include "cpus.h"
#include "options.h"
#include "traffic_spec.h"

/** Devices that DPDK is started with. */
struct lull_devices {
	struct lull_option_list vdev, pci;
	char eal[1024];
};

/** Rows vdev, pci and eal; @p headline as .group has it, @p role of a memif, as a literal. */
#define LULL_PORT_OPTIONS(settings, headline, role)                                                \
	{                                                                                          \
		.key = "vdev",                                                                     \
		.group = headline,                                                                 \
		.argument = "DEVICE",                                                              \
		.help = "DPDK virtual device, such as net_af_packet0,iface=veth0 or "              \
			"net_memif0,role=" role ". Ports are numbered from 0 in this order.",      \
		.type = LULL_OPTION_LIST,                                                          \
		LULL_OPTION_MEMBER(settings, devices.vdev),                                        \
	},                                                                                         \
		LULL_PCI_OPTIONS(settings)

/** Rows pci and eal. */
#define LULL_PCI_OPTIONS(settings)                                                                 \
	{                                                                                          \
		.key = "pci",                                                                      \
		.argument = "ADDRESS",                                                             \
		.help = "PCI address of a NIC that is bound to a driver for DPDK.",                \
		.type = LULL_OPTION_LIST,                                                          \
		LULL_OPTION_MEMBER(settings, devices.pci),                                         \
	},                                                                                         \
	{                                                                                          \
		.key = "eal", .argument = "ARGUMENTS",                                             \
		.help = "Further EAL arguments, split into words as in a shell.",                  \
		.type = LULL_OPTION_TEXT, LULL_OPTION_MEMBER(settings, devices.eal),               \
	}

/** Row burst, @p most as .high has it. */
#define LULL_BURST_OPTION(settings, most)                                                          \
	{                                                                                          \
		.key = "burst", .argument = "PACKETS",                                             \
		.help = "Largest number of packets per "                                           \
			"receive.",                                                                \
		.type = LULL_OPTION_COUNT, .value = "32", .low = 1, .high = most,                  \
		LULL_OPTION_MEMBER(settings, burst),                                               \
	}

/** Row stats. */
#define LULL_STATS_OPTION(settings)                                                                \
	{                                                                                          \
		.key = "stats", .argument = "TIME",                                                \
		.help = "Time between progress lines on stderr; 0: no lines.",                     \
		.type = LULL_OPTION_DURATION, .value_help = "1 s on a terminal, otherwise 0",      \
		.unit = "s", LULL_OPTION_MEMBER(settings, stats_ns),                               \
	}

/** Row duration, of @p member; @p end says when it ends without one. */
#define LULL_DURATION_OPTION(settings, end)                                                        \
	{                                                                                          \
		.key = "duration", .group = "Run", .argument = "TIME",                             \
		.help = "End after this time; 0: " end ".", .type = LULL_OPTION_DURATION,          \
		.value = "0", .unit = "s", LULL_OPTION_MEMBER(settings, duration_ns),              \
	}

/** Row cpus, by default the CPUs that @p usual tells; @p whose as a literal. */
#define LULL_CPUS_OPTION(settings, member, name, whose, usual)                                     \
	{                                                                                          \
		.key = name, .argument = "LIST", .help = whose, .type = LULL_OPTION_CUSTOM,        \
		.value_help = usual, .parse = lull_cpus_parse, .print = lull_cpus_print,           \
		.joined = true, LULL_OPTION_MEMBER(settings, member),                              \
	}

/** Rows traffic-size and seed; @p arrival is a struct lull_arrival_config. */
#define LULL_TRAFFIC_SIZE_OPTION(settings, arrival)                                                \
	{                                                                                          \
		.key = "traffic-size", .argument = "SIZES",                                        \
		.help = "Packet sizes on the wire with CRC, in bytes, with weights if there are "  \
			"several: 64 or 64:7,594:4,1518:1.",                                       \
		.type = LULL_OPTION_CUSTOM, .value = "64", .parse = lull_traffic_size_parse,       \
		.print = lull_traffic_size_print, .joined = true,                                  \
		LULL_OPTION_MEMBER(settings, arrival),                                             \
	}
#define LULL_TRAFFIC_SEED_OPTION(settings, arrival)                                                \
	{                                                                                          \
		.key = "seed", .argument = "N",                                                    \
		.help = "Seed of the traffic: the same seed makes the same times and sizes.",      \
		.type = LULL_OPTION_COUNT, .value = "1",                                           \
		LULL_OPTION_MEMBER(settings, arrival.seed),                                        \
	}

/** Row json. */
#define LULL_JSON_OPTION(settings)                                                                 \
	{                                                                                          \
		.key = "json", .argument = "FILE",                                                 \
		.help = "Write the result as JSON to FILE; - is stdout.",                          \
		.type = LULL_OPTION_TEXT, .file = true, LULL_OPTION_MEMBER(settings, json),        \
	}

#endif
