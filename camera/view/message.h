/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * View message: headers of what a view tells its clients.
 *
 * Threads: any. Memory: a new object each, NULL when there is none; the caller's.
 */
#ifndef LULL_CAMERA_VIEW_MESSAGE_H
#define LULL_CAMERA_VIEW_MESSAGE_H

#include <jansson.h>

#include "view.h"
#include "missing.h"
#include "picture.h"

/** The first one: who speaks, of which streams. */
json_t *view_message_hello(const struct camera_view_config *config);
/** An image, with the preview that @p picture holds. */
json_t *view_message_image(const struct lull_camera_image *image,
			   const struct view_picture *picture, const struct view_missing *missing);

#endif
