/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * View picture: a frame as a small JPEG picture.
 *
 * Threads: one per struct. Memory: grows to the largest preview, freed by close.
 */
#ifndef LULL_CAMERA_VIEW_PICTURE_H
#define LULL_CAMERA_VIEW_PICTURE_H

#include <lull/frame.h>

#include "jpeg.h"

struct view_picture {
	struct view_jpeg jpeg;
	uint8_t *rgb;
	size_t rgb_room;
	/* what the two hold; 0: nothing */
	uint32_t shrink, quality;
	/* the preview: jpeg.bytes; 0 x 0 when none can be made */
	uint32_t width, height;
	size_t bytes;
};

/** As view_jpeg_open(). */
int view_picture_open(struct view_picture *picture);
void view_picture_close(struct view_picture *picture);
/** Another frame comes. */
void view_picture_forget(struct view_picture *picture);
/**
 * Make the preview of @p frame, as wide as @p width at most as far as LULL_PIXEL_SHRINK_MAX
 * suffices. Made once for what is asked in the same words.
 */
void view_picture_make(struct view_picture *picture, const struct lull_frame *frame,
		       struct lull_pixel_view view, uint32_t width, uint32_t quality);

#endif
