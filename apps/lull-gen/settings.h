/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-gen can be told, and the table that tells it.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_GEN_SETTINGS_H
#define LULL_GEN_SETTINGS_H

#include <lull/traffic.h>

#include "program/rows.h"

#define GEN_PORTS_MAX 32
#define GEN_PORT_LAST UINT16_MAX
#define GEN_PATH_SIZE 4096

struct gen_settings {
	struct lull_devices devices;
	uint16_t tx_port, rx_port;
	uint32_t ring, burst;
	struct lull_cpu_list cpus;

	struct lull_arrival_config arrival;
	uint32_t flows;
	char pcap[GEN_PATH_SIZE];
	double pcap_speed; /* 0: as fast as possible */
	uint64_t pcap_loop;
	bool rx_only, tx_only;

	uint64_t count, duration_ns, drain_ns, link_wait_ns;
	uint64_t stats_ns;
	char json[GEN_PATH_SIZE];
};

extern const struct lull_option gen_options[];

#endif
