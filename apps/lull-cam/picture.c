/* SPDX-License-Identifier: BSD-3-Clause */
#include "picture.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>

/* Cameras are faster than the compressor: size matters less. */
#define COMPRESSION 1

static void
picture_quiet(png_structp png, png_const_charp text)
{
	(void)png;
	(void)text;
}

/* Nothing here changes after setjmp: what libpng jumps over are its own frames. */
static int
picture_rows(png_structp png, png_infop info, FILE *out, const uint8_t *pixels, uint32_t width,
	     uint32_t height, int color, uint64_t row_bytes)
{
	if (setjmp(png_jmpbuf(png)) != 0)
		return -EIO;
	png_init_io(png, out);
	png_set_compression_level(png, COMPRESSION);
	png_set_IHDR(png, info, width, height, 8, color, PNG_INTERLACE_NONE,
		     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_write_info(png, info);
	for (uint64_t row = 0; row < height; row++)
		png_write_row(png, pixels + row * row_bytes);
	png_write_end(png, info);
	return 0;
}

int
cam_picture_write(FILE *out, const uint8_t *pixels, uint32_t width, uint32_t height,
		  uint32_t channels, uint64_t row_bytes)
{
	int color = channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB;
	png_structp png =
		png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, picture_quiet, picture_quiet);
	png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
	int rc = -ENOMEM;

	if (info != NULL)
		rc = picture_rows(png, info, out, pixels, width, height, color, row_bytes);
	png_destroy_write_struct(&png, &info);
	return rc;
}
