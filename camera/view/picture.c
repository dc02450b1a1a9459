/* SPDX-License-Identifier: BSD-3-Clause */
#include "picture.h"

#include <stdlib.h>

int
view_picture_open(struct view_picture *picture)
{
	*picture = (struct view_picture){ .rgb = NULL };
	return view_jpeg_open(&picture->jpeg);
}

void
view_picture_close(struct view_picture *picture)
{
	view_jpeg_close(&picture->jpeg);
	free(picture->rgb);
	picture->rgb = NULL;
}

void
view_picture_forget(struct view_picture *picture)
{
	picture->shrink = picture->quality = 0;
}

/* Pixels of a side that become one. */
static uint32_t
picture_shrink(const struct lull_frame_geometry *geometry, uint32_t width)
{
	uint32_t shrink = (geometry->width + width - 1) / width;
	uint32_t most = LULL_MIN(geometry->width, geometry->height);

	return LULL_MAX(LULL_MIN(shrink, LULL_MIN(most, LULL_PIXEL_SHRINK_MAX)), 1);
}

static bool
picture_rgb(struct view_picture *picture, const struct lull_frame *frame,
	    struct lull_pixel_view view)
{
	uint32_t shrink = view.shrink;
	size_t bytes;

	picture->shrink = shrink;
	picture->quality = 0;
	picture->width = frame->geometry.width / shrink;
	picture->height = frame->geometry.height / shrink;
	bytes = (size_t)picture->width * picture->height * 3;
	if (bytes > picture->rgb_room) {
		free(picture->rgb);
		picture->rgb = malloc(bytes);
		picture->rgb_room = picture->rgb != NULL ? bytes : 0;
	}
	return picture->rgb != NULL &&
	       lull_pixel_to_rgb(&frame->geometry, frame->data, picture->rgb, &view) == 0;
}

void
view_picture_make(struct view_picture *picture, const struct lull_frame *frame,
		  struct lull_pixel_view view, uint32_t width, uint32_t quality)
{
	uint32_t shrink = picture_shrink(&frame->geometry, width);
	bool good = true;

	view.shrink = shrink;
	if (shrink == picture->shrink && quality == picture->quality)
		return;
	if (shrink != picture->shrink)
		good = picture_rgb(picture, frame, view);
	picture->quality = quality;
	picture->bytes = 0;
	if (good && picture->width > 0)
		picture->bytes = view_jpeg_write(&picture->jpeg, picture->rgb, picture->width,
						 picture->height, quality);
	if (picture->bytes == 0)
		picture->width = picture->height = 0;
}
