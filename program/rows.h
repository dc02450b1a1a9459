/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rows: what stands alike in the option tables of several programs.
 *
 * The settings (LULL_SETTINGS) have members of the names used here, unless a row takes its member.
 */
#ifndef LULL_CLI_ROWS_H
#define LULL_CLI_ROWS_H

#include "cpus.h"
#include "ring.h"
#include "row.h"
#include "speed.h"
#include "traffic_spec.h"

/** Devices that DPDK is started with. */
struct lull_devices {
	struct lull_option_list vdev, pci;
	char eal[1024];
};

/** Rows vdev, pci and eal; @p headline as .group has it, @p role of a memif, as a literal. */
#define LULL_PORT_OPTIONS(headline, role)                                                          \
	LULL_ROW_LIST("vdev", "DEVICE", devices.vdev,                                              \
		      "DPDK virtual device, such as net_af_packet0,iface=veth0 or "                \
		      "net_memif0,role=" role ". Ports are numbered from 0 in this order.",        \
		      .group = headline),                                                          \
		LULL_PCI_OPTIONS
/** Rows pci and eal. */
#define LULL_PCI_OPTIONS                                                                           \
	LULL_ROW_LIST("pci", "ADDRESS", devices.pci,                                               \
		      "PCI address of a NIC that is bound to a driver for DPDK."),                 \
		LULL_ROW_TEXT("eal", "ARGUMENTS", devices.eal,                                     \
			      "Further EAL arguments, split into words as in a shell.")

/** Row ring, the descriptors of ports. */
#define LULL_RING_OPTION                                                                           \
	LULL_ROW_COUNT("ring", "PACKETS", ring,                                                    \
		       "Descriptors per queue; some drivers ignore this.", .value = "1024",        \
		       .low = 32, .high = 32768)

/** The same, where a program may choose: a struct lull_ring_size. */
#define LULL_RING_AUTO_OPTION                                                                      \
	LULL_ROW_CUSTOM("ring", "PACKETS", ring, lull_ring_size,                                   \
			"Descriptors per queue; some drivers ignore this. auto: 1024, and up to "  \
			"what the device grants where threads could not rest with that "           \
			"(governor objective, loss=zero, pps-max=link).",                          \
			.value = "auto")

/** Row burst, @p most as .high has it. */
#define LULL_BURST_OPTION(member, most)                                                            \
	LULL_ROW_COUNT("burst", "PACKETS", member, "Largest number of packets per receive.",       \
		       .value = "32", .low = 1, .high = most)

/** Row stats. */
#define LULL_STATS_OPTION                                                                          \
	LULL_ROW_TIME("stats", stats_ns, "Time between progress lines on stderr; 0: no lines.",    \
		      .value_help = "1 s on a terminal, otherwise 0", .unit = "s")

/** Row duration; @p headline as .group has it, @p end says when it ends without one. */
#define LULL_DURATION_OPTION(headline, end)                                                        \
	LULL_ROW_TIME("duration", duration_ns, "End after this time; 0: " end ".", .value = "0",   \
		      .unit = "s", .group = headline)
/** Row seed of a program that simulates. */
#define LULL_SEED_OPTION(headline)                                                                 \
	LULL_ROW_COUNT("seed", "N", seed, "The same seed gives the same run on any machine.",      \
		       .value = "1", .group = headline)

/** Row cpus, by default the CPUs that @p usual tells; @p whose as a literal. */
#define LULL_CPUS_OPTION(member, name, whose, usual)                                               \
	LULL_ROW_CUSTOM(name, "LIST", member, lull_cpus, whose, .value_help = usual, .joined = true)

/** Row traffic: @p what and the grammar; @p noun parses and prints it, .value and more follow. */
#define LULL_TRAFFIC_OPTION(member, noun, what, ...)                                               \
	LULL_ROW_CUSTOM("traffic", "SPEC", member, noun,                                           \
			what LULL_TRAFFIC_SPEC_GRAMMAR ". Rates are packets/s and take k, M, G; "  \
						       "times take ns, us, ms, s, m, h.",          \
			__VA_ARGS__)
/** Row flows; @p more as a literal. */
#define LULL_TRAFFIC_FLOWS_OPTION(more)                                                            \
	LULL_ROW_COUNT("flows", "N", flows, "Number of UDP source ports, used in turn." more,      \
		       .value = "1", .low = 1, .high = 65536)
/** Rows traffic-size and seed; @p arrival is a struct lull_arrival_config. */
#define LULL_TRAFFIC_SIZE_OPTION(arrival)                                                          \
	LULL_ROW_CUSTOM("traffic-size", "SIZES", arrival, lull_traffic_size,                       \
			"Packet sizes on the wire with CRC, in bytes, with weights if there "      \
			"are several: 64 or 64:7,594:4,1518:1.",                                   \
			.value = "64", .joined = true)
#define LULL_TRAFFIC_SEED_OPTION(arrival)                                                          \
	LULL_ROW_COUNT("seed", "N", arrival.seed,                                                  \
		       "Seed of the traffic: the same seed makes the same times and sizes.",       \
		       .value = "1")

/** Rows pcap-speed: @p noun is lull_speed, or lull_speed_max where max is a speed too. */
#define LULL_PCAP_SPEED_OPTION(noun, what)                                                         \
	LULL_ROW_CUSTOM("pcap-speed", "SPEED", pcap_speed, noun, what, .value = "original")

/** Row json. */
#define LULL_JSON_OPTION                                                                           \
	LULL_ROW_FILE("json", "FILE", json, "Write the result as JSON to FILE; - is stdout.")

#endif
