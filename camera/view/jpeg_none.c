/* SPDX-License-Identifier: BSD-3-Clause */
/* For builds without libturbojpeg: opening fails, so the rest is never called. */
#include <errno.h>

#include "jpeg.h"

int
view_jpeg_open(struct view_jpeg *jpeg)
{
	*jpeg = (struct view_jpeg){ .compressor = NULL };
	return -ENOTSUP;
}

void
view_jpeg_close(struct view_jpeg *jpeg)
{
	(void)jpeg;
}

size_t
view_jpeg_write(struct view_jpeg *jpeg, const uint8_t *rgb, uint32_t width, uint32_t height,
		uint32_t quality)
{
	(void)jpeg;
	(void)rgb;
	(void)width;
	(void)height;
	(void)quality;
	return 0;
}
