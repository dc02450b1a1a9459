/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-cam can be told.
 *
 * Threads: plain data. Memory: the caller's struct, copied whole.
 */
#ifndef LULL_CAM_SETTINGS_H
#define LULL_CAM_SETTINGS_H

#include <limits.h>

#include "program/resting.h"
#include "program/rows.h"

enum cam_format { CAM_FORMAT_RAW, CAM_FORMAT_PNG };

struct cam_settings {
	char backend[512], eal[512];
	uint32_t ring_pkts;    /* 0: the library's */
	uint64_t socket_bytes; /* 0: the library's */
	struct lull_cpu_list cpu;
	bool direct;
	bool check, unchecked, discover;

	struct lull_option_list streams, controls;
	uint32_t cameras;
	bool resend, help_stream, man_stream;

	struct lull_resting resting;

	uint64_t frames, duration_ns, stats_ns;
	char record[PATH_MAX];
	uint32_t format; /* enum cam_format */
	bool sent_stamp;
	char view[PATH_MAX];
	char packets[PATH_MAX];
	uint32_t packets_when; /* enum cam_packets_when */
	uint64_t packets_room;
	char missing[PATH_MAX], json[PATH_MAX];
};

extern const struct lull_option cam_options[];

/** 0, or -errno and the sentence: settings that contradict each other. */
int cam_settings_check(const struct cam_settings *settings, struct lull_error *error);

#endif
