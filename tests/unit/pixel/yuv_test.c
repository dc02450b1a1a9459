/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "picture.h"

#include "pixel/yuv.h"

static const struct format {
	enum lull_pixel pixel;
	uint32_t bits;
	const char
		*order; /* of the samples in a group: of which component; rows after each other */
} formats[] = {
	{ LULL_PIXEL_YUV444, 8, "uyv" },         { LULL_PIXEL_UYVY8, 8, "uyvy" },
	{ LULL_PIXEL_UYVY10_4175, 10, "uyvy" },  { LULL_PIXEL_UYVY12_4175, 12, "uyvy" },
	{ LULL_PIXEL_YUV420_4175, 8, "yyyyuv" }, { LULL_PIXEL_YUV411_4175, 8, "uyyvyy" },
	{ LULL_PIXEL_YUYV8, 8, "yuyv" },
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* Component @p which of pixel x, y, as a number of 8 bits and a fraction. */
static double
component(const struct picture *picture, const struct format *format, uint32_t x, uint32_t y,
	  char which)
{
	const uint8_t *group = picture_group(picture, x, y);
	uint32_t skip = 0, place = 0;

	if (which == 'y')
		skip = y % picture->group.rows * picture->group.columns +
		       x % picture->group.columns;
	while (format->order[place] != which || skip-- > 0)
		place++;
	return ldexp(picture_bits_big(group, place * format->bits, format->bits),
		     8 - (int)format->bits);
}

/* By the equations that define Y, Cb and Cr of limited range, solved for red, green and blue. */
static void
exact_rgb(double y, double cb, double cr, enum lull_pixel_matrix matrix, double rgb[3])
{
	double red = matrix == LULL_PIXEL_BT709 ? 0.2126 : 0.299;
	double blue = matrix == LULL_PIXEL_BT709 ? 0.0722 : 0.114;

	y = (y - 16) / 219;
	rgb[0] = y + (cr - 128) / 224 * 2 * (1 - red);
	rgb[2] = y + (cb - 128) / 224 * 2 * (1 - blue);
	rgb[1] = (y - red * rgb[0] - blue * rgb[2]) / (1 - red - blue);
	for (uint32_t i = 0; i < 3; i++)
		rgb[i] = fmin(fmax(rgb[i] * 255, 0), 255);
}

static void
check_picture(struct picture *picture, const struct format *format, enum lull_pixel_matrix matrix)
{
	uint32_t width = picture->geometry.width, height = picture->geometry.height;
	struct lull_pixel_view view = { .matrix = matrix };
	uint8_t *rgb = malloc((size_t)3 * width * height);

	assert_non_null(rgb);
	assert_int_equal(lull_pixel_to_rgb(&picture->geometry, picture->bytes, rgb, &view), 0);
	for (uint32_t i = 0; i < width * height; i++) {
		uint32_t x = i % width, y = i / width;
		double exact[3];

		exact_rgb(component(picture, format, x, y, 'y'),
			  component(picture, format, x, y, 'u'),
			  component(picture, format, x, y, 'v'), matrix, exact);
		/* rounded; factors of 14 bits may turn what lies next to a half */
		for (uint32_t channel = 0; channel < 3; channel++)
			assert_true(fabs(rgb[3 * i + channel] - exact[channel]) < 0.52);
	}
	free(rgb);
}

/* All formats and both matrices, odd sizes, more than a strip, padding. */
TEST(to_rgb__by_definition)
{
	static const uint32_t widths[] = { 1, 2, 3, 4, 5, 7, 64, 1025, 2051 };
	struct lull_prng prng;

	lull_prng_init(&prng, PICTURE_SEED, 3);
	for (uint32_t trial = 0; trial < 9 * 2 * FORMATS; trial++) {
		const struct format *format = &formats[trial / 18];
		struct picture picture;

		picture_init(&picture, &prng, format->pixel, widths[trial % 9], 1 + trial % 5,
			     trial % 3 * 7);
		check_picture(&picture, format, (enum lull_pixel_matrix)(trial / 9 % 3));
		picture_free(&picture);
	}
}

/* Full bars as they are printed in tables, which round Y, Cb and Cr: 2 of 255 apart. */
TEST(to_rgb__bars)
{
	static const struct {
		enum lull_pixel_matrix matrix;
		uint8_t y, cb, cr, rgb[3];
	} bars[] = {
		{ LULL_PIXEL_BT601, 16, 128, 128, { 0, 0, 0 } },
		{ LULL_PIXEL_BT601, 235, 128, 128, { 255, 255, 255 } },
		{ LULL_PIXEL_BT601, 81, 90, 240, { 255, 0, 0 } },
		{ LULL_PIXEL_BT601, 145, 54, 34, { 0, 255, 0 } },
		{ LULL_PIXEL_BT601, 41, 240, 110, { 0, 0, 255 } },
		{ LULL_PIXEL_BT709, 235, 128, 128, { 255, 255, 255 } },
		{ LULL_PIXEL_BT709, 63, 102, 240, { 255, 0, 0 } },
		{ LULL_PIXEL_BT709, 173, 42, 26, { 0, 255, 0 } },
		{ LULL_PIXEL_BT709, 32, 240, 118, { 0, 0, 255 } },
		/* beyond what RGB has: cut, not wrapped */
		{ LULL_PIXEL_BT601, 255, 255, 255, { 255, 125, 255 } },
		{ LULL_PIXEL_BT601, 0, 0, 0, { 0, 136, 0 } },
	};

	for (uint32_t i = 0; i < sizeof(bars) / sizeof(bars[0]); i++) {
		const struct lull_frame_geometry geometry = { .width = 2,
							      .height = 1,
							      .pixel = LULL_PIXEL_UYVY8 };
		const struct lull_pixel_view view = { .matrix = bars[i].matrix };
		const uint8_t bytes[] = { bars[i].cb, bars[i].y, bars[i].cr, bars[i].y };
		uint8_t rgb[6];

		assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, &view), 0);
		for (uint32_t k = 0; k < 6; k++)
			assert_in_range(rgb[k] + 2, bars[i].rgb[k % 3], bars[i].rgb[k % 3] + 4);
	}
}

/* The geometry tells its matrix; a view that names one has the last word. */
TEST(to_rgb__matrix)
{
	const uint8_t bytes[] = { 90, 81, 240, 81 };
	uint8_t seen[3][3][6];

	for (uint32_t told = 0; told < 3; told++)
		for (uint32_t asked = 0; asked < 3; asked++) {
			const struct lull_frame_geometry geometry = {
				.width = 2,
				.height = 1,
				.pixel = LULL_PIXEL_UYVY8,
				.matrix = (enum lull_pixel_matrix)told,
			};
			const struct lull_pixel_view view = {
				.matrix = (enum lull_pixel_matrix)asked,
			};

			assert_int_equal(
				lull_pixel_to_rgb(&geometry, bytes, seen[told][asked], &view), 0);
		}
	for (uint32_t told = 0; told < 3; told++)
		for (uint32_t asked = 0; asked < 3; asked++) {
			uint32_t used = asked != 0 ? asked : told != 0 ? told : LULL_PIXEL_BT601;

			assert_memory_equal(seen[told][asked], seen[0][used], 6);
		}
	assert_memory_not_equal(seen[0][LULL_PIXEL_BT601], seen[0][LULL_PIXEL_BT709], 6);
}

/* Every rest of a vector. */
TEST(to_rgb__alike)
{
	struct lull_yuv_row yuv;
	struct lull_prng prng;

	lull_prng_init(&prng, PICTURE_SEED, 7);
	for (uint32_t count = 1; count <= 70; count++) {
		enum lull_pixel_matrix matrix =
			count % 2 == 0 ? LULL_PIXEL_BT601 : LULL_PIXEL_BT709;
		uint8_t one[3 * 71] = { 0 }, many[3 * 71] = { 0 };

		for (uint32_t i = 0; i < count; i++) {
			yuv.y[i] = lull_prng_u64(&prng) & 0xfff;
			yuv.cb[i] = lull_prng_u64(&prng) & 0xfff;
			yuv.cr[i] = lull_prng_u64(&prng) & 0xfff;
		}
		lull_yuv_to_rgb(&yuv, matrix, LULL_LANES_SCALAR, count, one);
		lull_yuv_to_rgb(&yuv, matrix, LULL_LANES_BEST, count, many);
		assert_memory_equal(one, many, sizeof(one));
		assert_int_equal(one[3 * count], 0);
	}
}
