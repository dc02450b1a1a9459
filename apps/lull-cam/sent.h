/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sent: how long frames took since their sender let go of their last bytes.
 *
 * For senders on this machine that write the time into the picture, lull-cam-source --sent-stamp.
 * Threads: one. Memory: 32 KiB per stream, when asked for.
 */
#ifndef LULL_CAM_SENT_H
#define LULL_CAM_SENT_H

#include <lull/camera.h>

struct cam_sent {
	struct cam_sent_stream {
		struct lull_histogram done;    /* until the frame was given */
		struct lull_histogram fetched; /* until the application had it */
	} * streams;                           /* NULL: not asked for */
};

/** 0 or -ENOMEM. */
int cam_sent_open(struct cam_sent *sent, uint32_t stream_count);
void cam_sent_close(struct cam_sent *sent);
/**
 * Count an image, right after it was fetched. Left out are those that are not complete, and stamps
 * that are none: in the future, or more than a minute old.
 */
void cam_sent_take(struct cam_sent *sent, const struct lull_camera_image *image);

#endif
