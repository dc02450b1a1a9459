/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * View: what comes in, for those who look on through a Unix socket.
 *
 * Images become small JPEG pictures on a thread of the view's own, which holds one image per stream
 * at most; so neither a slow viewer nor the encoder makes the receiver wait. lull-cam(1) tells what
 * goes through the socket.
 * Threads: open, take and close from one thread.
 * Memory:  what a picture needs, and per client up to a few megabytes.
 */
#ifndef LULL_CAMERA_VIEW_H
#define LULL_CAMERA_VIEW_H

#include <lull/camera.h>

#include "camera/spec.h"
#include "host/error.h"

struct camera_view; /* opaque */

/** All of it borrowed until close. */
struct camera_view_config {
	const char *path;
	const char *program; /**< name and version */
	const char *backend;
	struct lull_receiver *receiver;
	const struct cam_spec *specs; /**< one per stream */
	uint32_t spec_count;
};

/**
 * Listen; a socket that nobody listens on is replaced. 0 or -errno and the sentence.
 */
int camera_view_open(struct camera_view **view, const struct camera_view_config *config,
		     struct lull_error *error);
/**
 * Offer an image.
 *
 * @param view  NULL: nobody looks on
 * @return is it the view's now? Then it puts it back, before close at the latest
 */
bool camera_view_take(struct camera_view *view, struct lull_camera_image *image);
/** Remove the socket, put back all images. NULL is ignored. */
void camera_view_close(struct camera_view *view);

#endif
