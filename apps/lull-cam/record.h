/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Record: frames into files of a folder, and a line about each into frames.jsonl.
 *
 * Threads: one. Memory: a picture as RGB while PNG is written.
 */
#ifndef LULL_CAM_RECORD_H
#define LULL_CAM_RECORD_H

#include <limits.h>
#include <stdio.h>

#include <lull/camera.h>

#include "camera/spec.h"
#include "host/error.h"
#include "settings.h"

struct cam_record {
	const char *folder; /* NULL: nothing is recorded */
	enum cam_format format;
	FILE *index;
	uint8_t *rgb;
	uint64_t rgb_bytes;
	uint64_t files, bytes;
	bool instead; /* it was said that some frames are recorded raw */
};

/** Make the folder if need be; @p folder is borrowed. 0 or -errno and the sentence. */
int cam_record_open(struct cam_record *record, const char *folder, enum cam_format format,
		    struct lull_error *error);
/** @p spec: of its stream. */
int cam_record_frame(struct cam_record *record, const struct cam_spec *spec,
		     const struct lull_camera_image *image, struct lull_error *error);
/** 0, or -errno and the sentence: not everything reached the disk. */
int cam_record_close(struct cam_record *record, struct lull_error *error);

/**
 * A line of JSON about a frame: what it is, why it was given, which bytes are missing.
 *
 * @param file  name of what was written; NULL: nothing was
 */
void cam_record_line(FILE *out, const char *name, const char *file,
		     const struct lull_camera_image *image);

#endif
