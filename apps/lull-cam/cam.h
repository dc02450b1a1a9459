/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Cam: one run of lull-cam, from the open camera to the result.
 *
 * Functions that take a void pointer get the struct cam: they are steps of the program.
 * Threads: main thread; the settings are behind the lock while telemetry runs.
 * Memory:  one struct, too large for a stack.
 */
#ifndef LULL_CAM_H
#define LULL_CAM_H

#include <lull/camera.h>
#include <lull/loop.h>

#include "camera/spec.h"
#include "packets.h"
#include "record.h"
#include "sent.h"
#include "settings.h"
#include "camera/view/view.h"
#include "program/live/live.h"

struct cam {
	struct lull_run run;
	struct cam_settings settings;
	struct cam_spec specs[LULL_CAMERA_STREAMS_MAX];
	uint32_t spec_count;

	struct lull_receiver *receiver;
	struct lull_loop *loop; /* of the receiving thread */
	struct lull_live live;
	bool telemetry_runs;
	bool class_reported; /* that it was refused */
	struct cam_record record;
	FILE *missing; /* NULL: not asked for */
	struct cam_sent sent;
	struct cam_packets packets;
	struct camera_view *view; /* NULL: not asked for */

	uint64_t fetched, partial; /* frames looked at */
};

/** Settings that contradict each other; streams become specs. */
int cam_check(void *state, struct lull_error *error);
/** Back end and streams, not started. */
int cam_open(struct cam *cam, struct lull_error *error);
/** The same and everything that is written as frames come. */
int cam_open_all(void *state, struct lull_error *error);
/** Receive until the end. */
int cam_run(void *state, struct lull_error *error);
void cam_close(void *state);
void cam_result(void *state, json_t *result);

/** The self-check as text; -EPERM and the sentence when something is wrong. */
int cam_check_print(struct cam *cam, FILE *out, struct lull_error *error);

/** Which cameras are there, as text and as JSON; -ENODEV and the sentence when there is none. */
int cam_discover_print(const struct cam *cam, FILE *out, struct lull_error *error);

/** Telemetry, from the start of the camera to its close. */
int cam_control_start(struct cam *cam, struct lull_error *error);
void cam_control_stop(struct cam *cam);
/** Telemetry of its own. */
extern const struct lull_telemetry_command cam_commands[];

/** One progress line about what happened since the last one. */
struct cam_progress {
	uint64_t now_ns;
	uint64_t pkts, bytes, cpu_ns;
	uint64_t frames[LULL_CAMERA_STREAMS_MAX], partial;
};
void cam_progress_print(struct cam *cam, struct cam_progress *last);
/** @return -ENODATA with a sentence why no image was received, and what helps */
int cam_nothing(struct cam *cam, struct lull_error *error);
/** What it came to in the end. */
void cam_summary_print(struct cam *cam);

#endif
