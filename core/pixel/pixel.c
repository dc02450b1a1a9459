/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <string.h>

#include "format.h"

#define FORMAT(name_, bytes_, columns_, rows_, bits_, packing_, colours_, letters_, places_)       \
	{                                                                                          \
		.name = name_, .group = { bytes_, columns_, rows_ }, .bits = bits_,                \
		.packing = LULL_PACKING_##packing_, .colours = LULL_COLOURS_##colours_,            \
		.letters = letters_, .columns = places_                                            \
	}
#define MONO(name, bytes, columns, bits, packing)                                                  \
	FORMAT(name, bytes, columns, 1, bits, packing, MONO, "YYYY", "0123")
#define BAYER(name, bytes, columns, bits, packing, mosaic)                                         \
	FORMAT(name, bytes, columns, 1, bits, packing, BAYER, mosaic, "0123")
/* It does not say whether there is a mosaic. */
#define RAW(name, bytes, columns, bits)                                                            \
	FORMAT(name, bytes, columns, 1, bits, CSI, MONO, "YYYY", "0123")
#define COLOUR(name, bytes, columns, bits, packing, letters, places)                               \
	FORMAT(name, bytes, columns, 1, bits, packing, RGB, letters, places)
#define YUV(name, bytes, columns, rows, bits, letters, places)                                     \
	FORMAT(name, bytes, columns, rows, bits, BIG, YUV, letters, places)

static const struct lull_pixel_format formats[] = {
	[LULL_PIXEL_UNKNOWN] = { .name = "unknown" },
	[LULL_PIXEL_MONO8] = MONO("mono8", 1, 1, 8, LITTLE),
	[LULL_PIXEL_MONO10P] = MONO("mono10p", 5, 4, 10, LITTLE),
	[LULL_PIXEL_MONO12P] = MONO("mono12p", 3, 2, 12, LITTLE),
	[LULL_PIXEL_MONO16] = MONO("mono16", 2, 1, 16, WORDS),
	[LULL_PIXEL_BAYER_RG8] = BAYER("bayer-rg8", 1, 1, 8, LITTLE, "RGGB"),
	[LULL_PIXEL_BAYER_GR8] = BAYER("bayer-gr8", 1, 1, 8, LITTLE, "GRBG"),
	[LULL_PIXEL_BAYER_GB8] = BAYER("bayer-gb8", 1, 1, 8, LITTLE, "GBRG"),
	[LULL_PIXEL_BAYER_BG8] = BAYER("bayer-bg8", 1, 1, 8, LITTLE, "BGGR"),
	[LULL_PIXEL_BAYER_RG12P] = BAYER("bayer-rg12p", 3, 2, 12, LITTLE, "RGGB"),
	[LULL_PIXEL_BAYER_GR12P] = BAYER("bayer-gr12p", 3, 2, 12, LITTLE, "GRBG"),
	[LULL_PIXEL_BAYER_GB12P] = BAYER("bayer-gb12p", 3, 2, 12, LITTLE, "GBRG"),
	[LULL_PIXEL_BAYER_BG12P] = BAYER("bayer-bg12p", 3, 2, 12, LITTLE, "BGGR"),
	[LULL_PIXEL_BAYER_RG16] = BAYER("bayer-rg16", 2, 1, 16, WORDS, "RGGB"),
	[LULL_PIXEL_BAYER_GR16] = BAYER("bayer-gr16", 2, 1, 16, WORDS, "GRBG"),
	[LULL_PIXEL_BAYER_GB16] = BAYER("bayer-gb16", 2, 1, 16, WORDS, "GBRG"),
	[LULL_PIXEL_BAYER_BG16] = BAYER("bayer-bg16", 2, 1, 16, WORDS, "BGGR"),
	[LULL_PIXEL_RAW12_CSI] = RAW("raw12-csi", 3, 2, 12),
	[LULL_PIXEL_RGB8] = COLOUR("rgb8", 3, 1, 8, BIG, "RGB", "000"),
	[LULL_PIXEL_RGBA8] = COLOUR("rgba8", 4, 1, 8, BIG, "RGBA", "0000"),
	[LULL_PIXEL_BGR8] = COLOUR("bgr8", 3, 1, 8, BIG, "BGR", "000"),
	[LULL_PIXEL_BGRA8] = COLOUR("bgra8", 4, 1, 8, BIG, "BGRA", "0000"),
	[LULL_PIXEL_RGB12_4175] = COLOUR("rgb12", 9, 2, 12, BIG, "RGBRGB", "000111"),
	[LULL_PIXEL_YUV444] = YUV("yuv444", 3, 1, 1, 8, "UYV", "000"),
	[LULL_PIXEL_UYVY8] = YUV("uyvy8", 4, 2, 1, 8, "UYVY", "0001"),
	[LULL_PIXEL_UYVY10_4175] = YUV("uyvy10", 5, 2, 1, 10, "UYVY", "0001"),
	[LULL_PIXEL_UYVY12_4175] = YUV("uyvy12", 6, 2, 1, 12, "UYVY", "0001"),
	[LULL_PIXEL_YUV420_4175] = YUV("yuv420", 6, 2, 2, 8, "YYYYUV", "010100"),
	[LULL_PIXEL_YUV411_4175] = YUV("yuv411", 6, 4, 1, 8, "UYYVYY", "001023"),
	[LULL_PIXEL_MONO10] = MONO("mono10", 2, 1, 10, WORDS),
	[LULL_PIXEL_MONO12] = MONO("mono12", 2, 1, 12, WORDS),
	[LULL_PIXEL_MONO14] = MONO("mono14", 2, 1, 14, WORDS),
	[LULL_PIXEL_MONO14P] = MONO("mono14p", 7, 4, 14, LITTLE),
	[LULL_PIXEL_MONO10_PACKED] = MONO("mono10-packed", 3, 2, 10, NIBBLES),
	[LULL_PIXEL_MONO12_PACKED] = MONO("mono12-packed", 3, 2, 12, NIBBLES),
	[LULL_PIXEL_BAYER_RG10] = BAYER("bayer-rg10", 2, 1, 10, WORDS, "RGGB"),
	[LULL_PIXEL_BAYER_GR10] = BAYER("bayer-gr10", 2, 1, 10, WORDS, "GRBG"),
	[LULL_PIXEL_BAYER_GB10] = BAYER("bayer-gb10", 2, 1, 10, WORDS, "GBRG"),
	[LULL_PIXEL_BAYER_BG10] = BAYER("bayer-bg10", 2, 1, 10, WORDS, "BGGR"),
	[LULL_PIXEL_BAYER_RG12] = BAYER("bayer-rg12", 2, 1, 12, WORDS, "RGGB"),
	[LULL_PIXEL_BAYER_GR12] = BAYER("bayer-gr12", 2, 1, 12, WORDS, "GRBG"),
	[LULL_PIXEL_BAYER_GB12] = BAYER("bayer-gb12", 2, 1, 12, WORDS, "GBRG"),
	[LULL_PIXEL_BAYER_BG12] = BAYER("bayer-bg12", 2, 1, 12, WORDS, "BGGR"),
	[LULL_PIXEL_BAYER_RG14] = BAYER("bayer-rg14", 2, 1, 14, WORDS, "RGGB"),
	[LULL_PIXEL_BAYER_GR14] = BAYER("bayer-gr14", 2, 1, 14, WORDS, "GRBG"),
	[LULL_PIXEL_BAYER_GB14] = BAYER("bayer-gb14", 2, 1, 14, WORDS, "GBRG"),
	[LULL_PIXEL_BAYER_BG14] = BAYER("bayer-bg14", 2, 1, 14, WORDS, "BGGR"),
	[LULL_PIXEL_BAYER_RG10P] = BAYER("bayer-rg10p", 5, 4, 10, LITTLE, "RGGB"),
	[LULL_PIXEL_BAYER_GR10P] = BAYER("bayer-gr10p", 5, 4, 10, LITTLE, "GRBG"),
	[LULL_PIXEL_BAYER_GB10P] = BAYER("bayer-gb10p", 5, 4, 10, LITTLE, "GBRG"),
	[LULL_PIXEL_BAYER_BG10P] = BAYER("bayer-bg10p", 5, 4, 10, LITTLE, "BGGR"),
	[LULL_PIXEL_BAYER_RG10_PACKED] = BAYER("bayer-rg10-packed", 3, 2, 10, NIBBLES, "RGGB"),
	[LULL_PIXEL_BAYER_GR10_PACKED] = BAYER("bayer-gr10-packed", 3, 2, 10, NIBBLES, "GRBG"),
	[LULL_PIXEL_BAYER_GB10_PACKED] = BAYER("bayer-gb10-packed", 3, 2, 10, NIBBLES, "GBRG"),
	[LULL_PIXEL_BAYER_BG10_PACKED] = BAYER("bayer-bg10-packed", 3, 2, 10, NIBBLES, "BGGR"),
	[LULL_PIXEL_BAYER_RG12_PACKED] = BAYER("bayer-rg12-packed", 3, 2, 12, NIBBLES, "RGGB"),
	[LULL_PIXEL_BAYER_GR12_PACKED] = BAYER("bayer-gr12-packed", 3, 2, 12, NIBBLES, "GRBG"),
	[LULL_PIXEL_BAYER_GB12_PACKED] = BAYER("bayer-gb12-packed", 3, 2, 12, NIBBLES, "GBRG"),
	[LULL_PIXEL_BAYER_BG12_PACKED] = BAYER("bayer-bg12-packed", 3, 2, 12, NIBBLES, "BGGR"),
	[LULL_PIXEL_RAW10_CSI] = RAW("raw10-csi", 5, 4, 10),
	[LULL_PIXEL_RGB10_WORDS] = COLOUR("rgb10-16", 6, 1, 10, WORDS, "RGB", "000"),
	[LULL_PIXEL_RGB12_WORDS] = COLOUR("rgb12-16", 6, 1, 12, WORDS, "RGB", "000"),
	[LULL_PIXEL_RGB14_WORDS] = COLOUR("rgb14-16", 6, 1, 14, WORDS, "RGB", "000"),
	[LULL_PIXEL_RGB16_WORDS] = COLOUR("rgb16", 6, 1, 16, WORDS, "RGB", "000"),
	[LULL_PIXEL_RGB10P] = COLOUR("rgb10p", 15, 4, 10, LITTLE, "RGBRGBRGBRGB", "000111222333"),
	[LULL_PIXEL_RGB12P] = COLOUR("rgb12p", 9, 2, 12, LITTLE, "RGBRGB", "000111"),
	[LULL_PIXEL_BGR10_WORDS] = COLOUR("bgr10-16", 6, 1, 10, WORDS, "BGR", "000"),
	[LULL_PIXEL_BGR12_WORDS] = COLOUR("bgr12-16", 6, 1, 12, WORDS, "BGR", "000"),
	[LULL_PIXEL_BGR14_WORDS] = COLOUR("bgr14-16", 6, 1, 14, WORDS, "BGR", "000"),
	[LULL_PIXEL_BGR16_WORDS] = COLOUR("bgr16", 6, 1, 16, WORDS, "BGR", "000"),
	[LULL_PIXEL_BGR10P] = COLOUR("bgr10p", 15, 4, 10, LITTLE, "BGRBGRBGRBGR", "000111222333"),
	[LULL_PIXEL_BGR12P] = COLOUR("bgr12p", 9, 2, 12, LITTLE, "BGRBGR", "000111"),
	[LULL_PIXEL_YUYV8] = YUV("yuyv8", 4, 2, 1, 8, "YUYV", "0010"),
};
static_assert(sizeof(formats) / sizeof(formats[0]) == LULL_PIXEL_COUNT, "one row for each");

const struct lull_pixel_format *
lull_pixel_format(enum lull_pixel pixel)
{
	uint32_t index = (uint32_t)pixel;

	return &formats[index < LULL_PIXEL_COUNT ? index : LULL_PIXEL_UNKNOWN];
}

const char *
lull_pixel_name(enum lull_pixel pixel)
{
	return lull_pixel_format(pixel)->name;
}

enum lull_pixel
lull_pixel_find(const char *name)
{
	for (uint32_t i = 0; i < LULL_PIXEL_COUNT; i++)
		if (strcmp(name, formats[i].name) == 0)
			return (enum lull_pixel)i;
	return LULL_PIXEL_UNKNOWN;
}

struct lull_pixel_group
lull_pixel_group(enum lull_pixel pixel)
{
	return lull_pixel_format(pixel)->group;
}
