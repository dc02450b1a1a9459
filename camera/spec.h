/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Spec: the words for one camera, "protocol=gvsp,port=20202,name=front".
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_CAMERA_SPEC_H
#define LULL_CAMERA_SPEC_H

#include <lull/camera.h>

#include "program/options.h"

struct cam_spec {
	char name[32], protocol[16];
	char address[64], source[64], control[64];
	uint16_t port;
	uint32_t width, height, row_bytes;
	uint32_t pixel;        /* enum lull_pixel */
	uint32_t matrix, bits; /* of struct lull_pixel_view */
	bool interlaced, field_rows;
	uint32_t packet_bytes, mtu;
	uint64_t stream_id;
	uint8_t virtual_channel, data_type;
	uint64_t buffer_bytes, memory_bytes;
	uint32_t buffers, open_max;
	uint64_t deadline_ns;
	uint32_t order, policy; /* enum lull_frame_order, enum lull_frame_policy */
	uint32_t pages;         /* enum lull_camera_pages */
	bool resend;
	double resend_percent;
};

/** The keys, in the form of an option table. */
extern const struct lull_option cam_spec_keys[];

/** Read @p text into @p spec, with defaults for the rest. 0 or -errno and the sentence. */
int cam_spec_parse(const char *text, struct cam_spec *spec, struct lull_error *error);
/** The stream meant; its texts are borrowed from @p spec. */
struct lull_camera_stream cam_spec_stream(const struct cam_spec *spec);
/** How its pictures are drawn. */
struct lull_pixel_view cam_spec_view(const struct cam_spec *spec);
/** What can be told, for people, or in man(7) macros. */
void cam_spec_print_keys(FILE *out, bool man);

#endif
