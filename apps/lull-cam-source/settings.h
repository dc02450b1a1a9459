/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-cam-source can be told, and the table that tells it.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_CAM_SOURCE_SETTINGS_H
#define LULL_CAM_SOURCE_SETTINGS_H

#include "camera/emulator/config.h"
#include "program/rows.h"

#define SOURCE_PATH_SIZE 4096

struct source_settings {
	struct lull_emulator_config emulator;
	uint32_t pixel_choice; /* 0 is the first real pixel */
	char log[SOURCE_PATH_SIZE];
	struct lull_cpu_list cpus;
	uint64_t duration_ns, stats_ns;
	char json[SOURCE_PATH_SIZE];
};

extern const struct lull_option source_options[];

#endif
