/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * YUV: rows of Y, Cb and Cr in any packing to 8-bit red, green and blue.
 */
#ifndef LULL_FRAME_YUV_H
#define LULL_FRAME_YUV_H

#include <lull/pixel.h>

#include "lanes.h"

#define LULL_YUV_COLUMNS_MAX 1024

/** One of each for each pixel, 12 bits whatever the format has. */
struct lull_yuv_row {
	uint16_t y[LULL_YUV_COLUMNS_MAX], cb[LULL_YUV_COLUMNS_MAX], cr[LULL_YUV_COLUMNS_MAX];
};

/**
 * Read @p count pixels, at most LULL_YUV_COLUMNS_MAX, from the first of a group on.
 *
 * @param groups  the row of groups, at the first of them
 * @param row     of pixels in the picture: which one of the group's rows
 * @return false: @p pixel is not a YUV format
 */
bool lull_yuv_read(enum lull_pixel pixel, const uint8_t *groups, uint32_t row, uint32_t count,
		   struct lull_yuv_row *yuv);
/**
 * Limited range, ITU-R BT.601 or BT.709; rounded, and cut to 0..255. Writes 3 * @p count bytes.
 */
void lull_yuv_to_rgb(const struct lull_yuv_row *yuv, enum lull_pixel_matrix matrix,
		     enum lull_lanes lanes, uint32_t count, uint8_t *rgb);

#endif
