/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <string.h>

#include <lull/pixel.h>

static const struct pixel {
	const char *name;
	struct lull_pixel_group group;
} pixels[] = {
	[LULL_PIXEL_UNKNOWN] = { "unknown", { 0, 0, 0 } },
	[LULL_PIXEL_MONO8] = { "mono8", { 1, 1, 1 } },
	[LULL_PIXEL_MONO10P] = { "mono10p", { 5, 4, 1 } },
	[LULL_PIXEL_MONO12P] = { "mono12p", { 3, 2, 1 } },
	[LULL_PIXEL_MONO16] = { "mono16", { 2, 1, 1 } },
	[LULL_PIXEL_BAYER_RG8] = { "bayer-rg8", { 1, 1, 1 } },
	[LULL_PIXEL_BAYER_GR8] = { "bayer-gr8", { 1, 1, 1 } },
	[LULL_PIXEL_BAYER_GB8] = { "bayer-gb8", { 1, 1, 1 } },
	[LULL_PIXEL_BAYER_BG8] = { "bayer-bg8", { 1, 1, 1 } },
	[LULL_PIXEL_BAYER_RG12P] = { "bayer-rg12p", { 3, 2, 1 } },
	[LULL_PIXEL_BAYER_GR12P] = { "bayer-gr12p", { 3, 2, 1 } },
	[LULL_PIXEL_BAYER_GB12P] = { "bayer-gb12p", { 3, 2, 1 } },
	[LULL_PIXEL_BAYER_BG12P] = { "bayer-bg12p", { 3, 2, 1 } },
	[LULL_PIXEL_BAYER_RG16] = { "bayer-rg16", { 2, 1, 1 } },
	[LULL_PIXEL_BAYER_GR16] = { "bayer-gr16", { 2, 1, 1 } },
	[LULL_PIXEL_BAYER_GB16] = { "bayer-gb16", { 2, 1, 1 } },
	[LULL_PIXEL_BAYER_BG16] = { "bayer-bg16", { 2, 1, 1 } },
	[LULL_PIXEL_RAW12_CSI] = { "raw12-csi", { 3, 2, 1 } },
	[LULL_PIXEL_RGB8] = { "rgb8", { 3, 1, 1 } },
	[LULL_PIXEL_RGBA8] = { "rgba8", { 4, 1, 1 } },
	[LULL_PIXEL_BGR8] = { "bgr8", { 3, 1, 1 } },
	[LULL_PIXEL_BGRA8] = { "bgra8", { 4, 1, 1 } },
	[LULL_PIXEL_RGB12_4175] = { "rgb12", { 9, 2, 1 } },
	[LULL_PIXEL_YUV444] = { "yuv444", { 3, 1, 1 } },
	[LULL_PIXEL_UYVY8] = { "uyvy8", { 4, 2, 1 } },
	[LULL_PIXEL_UYVY10_4175] = { "uyvy10", { 5, 2, 1 } },
	[LULL_PIXEL_UYVY12_4175] = { "uyvy12", { 6, 2, 1 } },
	[LULL_PIXEL_YUV420_4175] = { "yuv420", { 6, 2, 2 } },
	[LULL_PIXEL_YUV411_4175] = { "yuv411", { 6, 4, 1 } },
};
static_assert(sizeof(pixels) / sizeof(pixels[0]) == LULL_PIXEL_COUNT, "one row for each");

static const struct pixel *
pixel_row(enum lull_pixel pixel)
{
	uint32_t index = (uint32_t)pixel;

	return &pixels[index < LULL_PIXEL_COUNT ? index : LULL_PIXEL_UNKNOWN];
}

const char *
lull_pixel_name(enum lull_pixel pixel)
{
	return pixel_row(pixel)->name;
}

enum lull_pixel
lull_pixel_find(const char *name)
{
	for (uint32_t i = 0; i < LULL_PIXEL_COUNT; i++)
		if (strcmp(name, pixels[i].name) == 0)
			return (enum lull_pixel)i;
	return LULL_PIXEL_UNKNOWN;
}

struct lull_pixel_group
lull_pixel_group(enum lull_pixel pixel)
{
	return pixel_row(pixel)->group;
}
