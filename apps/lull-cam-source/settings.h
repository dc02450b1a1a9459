/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-cam-source can be told, and the table that tells it.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_CAM_SOURCE_SETTINGS_H
#define LULL_CAM_SOURCE_SETTINGS_H

#include <lull/frame.h>

#include "program/rows.h"
#include "spec.h"

#define SOURCE_CAMERAS_MAX 32
#define SOURCE_PATH_SIZE 4096

enum source_protocol {
	SOURCE_RFC4175,
	SOURCE_GVSP,
	SOURCE_CMP,
	SOURCE_RVF,
};
enum source_apart { SOURCE_APART_PORTS, SOURCE_APART_ADDRESSES };
enum source_stamp { SOURCE_STAMP_DUE, SOURCE_STAMP_SENT };
enum source_resend { SOURCE_RESEND_ANSWER, SOURCE_RESEND_LOSSY, SOURCE_RESEND_IGNORE };

struct source_settings {
	enum source_protocol protocol;
	char interface[16];
	struct spec_address bind, to;
	uint32_t cameras;
	enum source_apart apart;
	uint16_t control_port;
	uint64_t stream_id;
	struct lull_cpu_list cpus;

	uint32_t width, height, row_bytes;
	uint32_t pixel_choice; /* 0 is the first real pixel, see source_settings_geometry() */
	uint32_t pattern;
	uint32_t packet_bytes;
	uint64_t first, first_packet;
	bool interlaced, field_rows, extended, all_in;

	double rate;
	struct spec_pace pace;
	uint64_t stagger_ns;
	enum source_stamp stamp;
	bool sent_stamp, segment;

	struct spec_loss lose;
	uint32_t duplicate_ppm;
	struct spec_delay reorder, late;
	enum source_resend resend;
	uint32_t memory_frames;
	uint64_t seed;
	char log[SOURCE_PATH_SIZE];
	bool log_frames;

	uint64_t frames, duration_ns, linger_ns;
	uint64_t stats_ns;
	char json[SOURCE_PATH_SIZE];
};

extern const struct lull_option source_options[];

/** Of the picture of every frame. */
struct lull_frame_geometry source_settings_geometry(const struct source_settings *settings);
/** Do packets go without IP? */
bool source_settings_ethernet(const struct source_settings *settings);
/** Does a client decide where the pictures go, and when? */
bool source_settings_controlled(const struct source_settings *settings);

#endif
