/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * View missing: what is missing of a picture, as rectangles to draw over it.
 *
 * Threads: any. Memory: the caller's struct.
 */
#ifndef LULL_CAMERA_VIEW_MISSING_H
#define LULL_CAMERA_VIEW_MISSING_H

#include <lull/frame.h>

#define VIEW_MISSING_MAX 512

struct view_missing {
	uint32_t count;
	bool more; /**< some are left out, or name pixels that are there */
	struct view_rectangle {
		uint32_t x, y, width, height; /**< pixels of the picture */
	} rectangles[VIEW_MISSING_MAX];
};

/**
 * Pixels that any missing byte belongs to, row by row; a rectangle goes down as far as the same
 * columns are missing. Padding of rows belongs to no pixel.
 */
void view_missing_find(const struct lull_frame *frame, struct view_missing *missing);

#endif
