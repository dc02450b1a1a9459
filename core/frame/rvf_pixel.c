/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame/rvf.h"

#define DEPTH_8 1
#define DEPTH_10 2
#define DEPTH_12 3
#define DEPTH_16 4
#define YCBCR 1
#define SRGB 2
#define GRAY 4

/*
 * How the bits of 10 and 12 bit pixels are packed is not told on the wire. What is assumed here
 * may be overruled by the pixel of the configuration.
 */
static const struct rvf_pixel codes[LULL_PIXEL_COUNT] = {
	[LULL_PIXEL_MONO8] = { DEPTH_8, 0, GRAY },
	[LULL_PIXEL_MONO10P] = { DEPTH_10, 0, GRAY },
	[LULL_PIXEL_MONO12P] = { DEPTH_12, 0, GRAY },
	[LULL_PIXEL_MONO16] = { DEPTH_16, 0, GRAY },
	[LULL_PIXEL_BAYER_GR8] = { DEPTH_8, 8, SRGB },
	[LULL_PIXEL_BAYER_RG8] = { DEPTH_8, 9, SRGB },
	[LULL_PIXEL_BAYER_BG8] = { DEPTH_8, 10, SRGB },
	[LULL_PIXEL_BAYER_GB8] = { DEPTH_8, 11, SRGB },
	[LULL_PIXEL_BAYER_GR12P] = { DEPTH_12, 8, SRGB },
	[LULL_PIXEL_BAYER_RG12P] = { DEPTH_12, 9, SRGB },
	[LULL_PIXEL_BAYER_BG12P] = { DEPTH_12, 10, SRGB },
	[LULL_PIXEL_BAYER_GB12P] = { DEPTH_12, 11, SRGB },
	[LULL_PIXEL_BAYER_GR16] = { DEPTH_16, 8, SRGB },
	[LULL_PIXEL_BAYER_RG16] = { DEPTH_16, 9, SRGB },
	[LULL_PIXEL_BAYER_BG16] = { DEPTH_16, 10, SRGB },
	[LULL_PIXEL_BAYER_GB16] = { DEPTH_16, 11, SRGB },
	[LULL_PIXEL_RGB8] = { DEPTH_8, 4, SRGB },
	[LULL_PIXEL_RGBA8] = { DEPTH_8, 7, SRGB },
	[LULL_PIXEL_RGB12_4175] = { DEPTH_12, 4, SRGB },
	[LULL_PIXEL_YUV444] = { DEPTH_8, 4, YCBCR },
	[LULL_PIXEL_UYVY8] = { DEPTH_8, 3, YCBCR },
	[LULL_PIXEL_UYVY10_4175] = { DEPTH_10, 3, YCBCR },
	[LULL_PIXEL_UYVY12_4175] = { DEPTH_12, 3, YCBCR },
	[LULL_PIXEL_YUV411_4175] = { DEPTH_8, 1, YCBCR },
};

struct rvf_pixel
lull_rvf_code(enum lull_pixel pixel)
{
	struct rvf_pixel code = codes[pixel];

	return code.depth != 0 ? code : (struct rvf_pixel){ RVF_USER, RVF_USER, RVF_USER };
}

enum lull_pixel
lull_rvf_pixel(struct rvf_pixel code)
{
	bool rgb = code.colour == SRGB;

	for (unsigned int i = 0; i < LULL_PIXEL_COUNT; i++) {
		if (codes[i].depth == 0 || codes[i].depth != code.depth ||
		    codes[i].format != code.format)
			continue;
		/* The colour space tells apart only what has three full colours. */
		if (code.format != 4 || rgb == (codes[i].colour == SRGB))
			return (enum lull_pixel)i;
	}
	return LULL_PIXEL_UNKNOWN;
}
