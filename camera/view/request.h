/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * View request: what previews a client wants, told as a line of JSON.
 *
 * Threads: any. Memory: the caller's struct.
 */
#ifndef LULL_CAMERA_VIEW_WISH_H
#define LULL_CAMERA_VIEW_WISH_H

#include <stddef.h>
#include <stdint.h>

#include "host/error.h"

#define VIEW_REQUEST_DEFAULT                                                                       \
	{                                                                                          \
		.width = 640, .quality = 80, .rate = 15                                            \
	}

struct view_request {
	uint32_t width;   /**< of a preview at most, 16..65535 pixels */
	uint32_t quality; /**< of JPEG, 1..100 */
	double rate;      /**< previews per second and camera, 0..1000; 0: none */
};

/**
 * Read {"width":640,"rate":15,"quality":80}, or some of it, into @p request. 0, or -EINVAL, the
 * sentence and no change.
 */
int view_request_read(struct view_request *request, const char *line, size_t length,
		      struct lull_error *error);

#endif
