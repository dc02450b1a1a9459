/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Picture: pixels as a PNG file.
 *
 * Threads: any. Memory: libpng's while it writes.
 */
#ifndef LULL_CAM_PICTURE_H
#define LULL_CAM_PICTURE_H

#include <stdint.h>
#include <stdio.h>

/**
 * Write @p width x @p height pixels of @p channels (1: grey, 3: RGB) bytes each.
 *
 * @param row_bytes  from one row to the next
 * @return 0, -ENOMEM or -EIO
 */
int cam_picture_write(FILE *out, const uint8_t *pixels, uint32_t width, uint32_t height,
		      uint32_t channels, uint64_t row_bytes);

#endif
