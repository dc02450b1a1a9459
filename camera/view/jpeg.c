/* SPDX-License-Identifier: BSD-3-Clause */
#include "jpeg.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <turbojpeg.h>

int
view_jpeg_open(struct view_jpeg *jpeg)
{
	*jpeg = (struct view_jpeg){ .compressor = tjInitCompress() };
	return jpeg->compressor != NULL ? 0 : -ENOMEM;
}

void
view_jpeg_close(struct view_jpeg *jpeg)
{
	if (jpeg->compressor != NULL)
		tjDestroy(jpeg->compressor);
	free(jpeg->bytes);
	*jpeg = (struct view_jpeg){ .compressor = NULL };
}

static bool
jpeg_grow(struct view_jpeg *jpeg, size_t room)
{
	uint8_t *bytes;

	if (room <= jpeg->room)
		return true;
	bytes = realloc(jpeg->bytes, room);
	if (bytes == NULL)
		return false;
	jpeg->bytes = bytes;
	jpeg->room = room;
	return true;
}

size_t
view_jpeg_write(struct view_jpeg *jpeg, const uint8_t *rgb, uint32_t width, uint32_t height,
		uint32_t quality)
{
	unsigned long most = tjBufSize((int)width, (int)height, TJSAMP_420), length = most;

	if (most == (unsigned long)-1 || !jpeg_grow(jpeg, most) ||
	    tjCompress2(jpeg->compressor, rgb, (int)width, 0, (int)height, TJPF_RGB, &jpeg->bytes,
			&length, TJSAMP_420, (int)quality, TJFLAG_NOREALLOC | TJFLAG_FASTDCT) != 0)
		return 0;
	return length;
}
