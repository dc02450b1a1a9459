/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * View JPEG: red, green and blue as a JPEG picture.
 *
 * Threads: one per struct. Memory: grows to the largest picture, freed by close.
 */
#ifndef LULL_CAMERA_VIEW_JPEG_H
#define LULL_CAMERA_VIEW_JPEG_H

#include <stddef.h>
#include <stdint.h>

struct view_jpeg {
	void *compressor;
	uint8_t *bytes; /**< the picture */
	size_t room;
};

/** 0, -ENOMEM, or -ENOTSUP: built without the library. */
int view_jpeg_open(struct view_jpeg *jpeg);
void view_jpeg_close(struct view_jpeg *jpeg);
/**
 * Write rows of @p width x 3 bytes to jpeg->bytes.
 *
 * @param quality  1..100
 * @return how many bytes; 0: no memory
 */
size_t view_jpeg_write(struct view_jpeg *jpeg, const uint8_t *rgb, uint32_t width, uint32_t height,
		       uint32_t quality);

#endif
