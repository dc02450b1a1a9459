/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Control: a GigE Vision camera is found, taken, set up and kept streaming.
 *
 * On a thread and a kernel socket of its own, so that load on the images cannot starve the
 * heartbeat. The receiving thread asks for packets through a small queue.
 */
#ifndef LULL_CAMERA_CONTROL_H
#define LULL_CAMERA_CONTROL_H

#include "receiver.h"

/** Take the camera: blocks until it answered or 5 s are over. */
int camera_control_start(struct camera_stream *stream, struct lull_error *error);
/** Stop it, release its privilege. NULL is ignored. */
void camera_control_stop(struct camera_control *control);
/** The sender began anew. Receiving thread. */
void camera_control_anew(struct camera_control *control);
/** A packet came. Receiving thread. */
void camera_control_fragment(struct camera_control *control, uint64_t now_ns,
			     const struct lull_frame_fragment *fragment);
/** End of an iteration: ask for what is missing. Returns when it wants to be called again. */
uint64_t camera_control_iterate(struct camera_control *control, struct camera_stream *stream,
				uint64_t now_ns);
/** Add what it counted. Any thread. */
void camera_control_count(struct camera_control *control, struct lull_camera_counters *counters);

#endif
