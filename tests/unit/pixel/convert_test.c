/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "picture.h"

/* Around the ends of vectors, groups and strips. */
static const uint32_t widths[] = { 1, 2, 3, 4, 5, 16, 17, 33, 1023, 1024, 1025, 1026, 2049 };
#define WIDTHS (sizeof(widths) / sizeof(widths[0]))

static uint8_t *
rgb_of(const struct picture *picture, const struct lull_pixel_view *view)
{
	uint32_t shrink = view == NULL || view->shrink == 0 ? 1 : view->shrink;
	size_t size = (size_t)3 * (picture->geometry.width / shrink) *
		      (picture->geometry.height / shrink);
	uint8_t *rgb = malloc(size);

	assert_non_null(rgb);
	memset(rgb, 0x5a, size);
	assert_int_equal(lull_pixel_to_rgb(&picture->geometry, picture->bytes, rgb, view), 0);
	return rgb;
}

/* The next pixel of the same colour on the other side of an edge. */
static uint32_t
mirrored(int64_t at, uint32_t side)
{
	if (side == 1)
		return 0;
	if (at < 0)
		return 1;
	return at < (int64_t)side ? (uint32_t)at : side - 2;
}

static uint32_t
sample_8(const struct picture *picture, int64_t x, int64_t y)
{
	uint32_t sample = picture_sample(picture, mirrored(x, picture->geometry.width),
					 mirrored(y, picture->geometry.height)) >>
			  (picture_sample_bits(picture->geometry.pixel) - 8);

	return LULL_MIN(sample, 255u);
}

/* Mean of those around a pixel that have the colour, by where they lie, not by what is there. */
static uint32_t
bayer_channel(const struct picture *picture, uint32_t x, uint32_t y, char colour)
{
	enum lull_pixel pixel = picture->geometry.pixel;
	uint32_t sum = 0, count = 0;

	if (picture_colour(pixel, x, y) == colour)
		return sample_8(picture, x, y);
	for (int32_t i = 0; i < 9; i++) {
		int32_t dx = i % 3 - 1, dy = i / 3 - 1;

		if (picture_colour(pixel, x + 2 + (uint32_t)dx, y + 2 + (uint32_t)dy) == colour) {
			sum += sample_8(picture, (int64_t)x + dx, (int64_t)y + dy);
			count++;
		}
	}
	return (sum + count / 2) / count;
}

/* Red, green or blue of a pixel; not of YUV. */
static uint32_t
channel_of(const struct picture *picture, uint32_t x, uint32_t y, uint32_t channel)
{
	const uint8_t *group = picture_group(picture, x, y);
	const char *name = lull_pixel_name(picture->geometry.pixel);
	uint32_t bits = (uint32_t)strtoul(name + 3, NULL, 10);
	uint32_t place = name[0] == 'b' ? 2 - channel : channel;

	if ((strncmp(name, "rgb", 3) == 0 || strncmp(name, "bgr", 3) == 0) && bits > 8 &&
	    picture->geometry.pixel != LULL_PIXEL_RGB12_4175) {
		uint32_t words = name[strlen(name) - 1] != 'p';
		uint32_t first =
			words ? 16 * place : bits * (3 * (x % picture->group.columns) + place);
		uint32_t value = picture_bits_little(group, first, words ? 16 : bits) >> (bits - 8);

		return LULL_MIN(value, 255u);
	}
	switch (picture->geometry.pixel) {
	case LULL_PIXEL_RGB8:
	case LULL_PIXEL_RGBA8:
		return group[channel];
	case LULL_PIXEL_BGR8:
	case LULL_PIXEL_BGRA8:
		return group[2 - channel];
	case LULL_PIXEL_RGB12_4175:
		return picture_bits_big(group, 36 * (x % 2) + 12 * channel, 8);
	default:
		if (picture_colour(picture->geometry.pixel, x, y) == 0)
			return sample_8(picture, x, y);
		return bayer_channel(picture, x, y, "rgb"[channel]);
	}
}

static bool
is_yuv(enum lull_pixel pixel)
{
	return strpbrk(lull_pixel_name(pixel), "uv") != NULL && pixel != LULL_PIXEL_UNKNOWN;
}

TEST(to_rgb__pixel_by_pixel)
{
	struct lull_prng prng;

	lull_prng_init(&prng, PICTURE_SEED, 4);
	for (uint32_t trial = 0; trial < 2 * WIDTHS * LULL_PIXEL_COUNT; trial++) {
		enum lull_pixel pixel = (enum lull_pixel)(trial / (2 * WIDTHS));
		uint32_t width = widths[trial % WIDTHS], height = 1 + trial % 7;
		struct picture picture;
		uint8_t *rgb;

		if (pixel == LULL_PIXEL_UNKNOWN || is_yuv(pixel))
			continue;
		picture_init(&picture, &prng, pixel, width, height, trial % 3 * 3);
		rgb = rgb_of(&picture, NULL);
		for (uint32_t i = 0; i < 3 * width * height; i++)
			assert_int_equal(rgb[i],
					 channel_of(&picture, i / 3 % width, i / 3 / width, i % 3));
		free(rgb);
		picture_free(&picture);
	}
}

static void
put_sample(struct picture *picture, uint32_t x, uint32_t y, uint32_t value)
{
	const char *name = lull_pixel_name(picture->geometry.pixel);
	uint32_t bits = picture_sample_bits(picture->geometry.pixel);
	uint32_t at = x % picture->group.columns;
	uint8_t *group = picture_group(picture, x, y);

	if (strstr(name, "-packed") != NULL) {
		group[2 * at] = (uint8_t)(value >> (bits - 8));
		return;
	}
	if (name[strlen(name) - 1] != 'p' && bits > 8)
		bits = 16;
	for (uint32_t i = 0; i < bits; i++) {
		uint32_t bit = bits * at + i;

		group[bit / 8] &= (uint8_t) ~(1u << bit % 8);
		group[bit / 8] |= (uint8_t)((value >> i & 1) << bit % 8);
	}
}

/* A field of one colour is that colour up to its edges, in every Bayer format. */
TEST(to_rgb__flat_field)
{
	static const uint8_t colour[] = { 201, 102, 53 };
	struct lull_prng prng;

	lull_prng_init(&prng, PICTURE_SEED, 5);
	for (uint32_t i = 0; i < LULL_PIXEL_COUNT; i++) {
		enum lull_pixel pixel = (enum lull_pixel)i;
		uint32_t width = 1031, height = 5;
		struct picture picture;
		uint8_t *rgb;

		if (picture_colour(pixel, 0, 0) == 0)
			continue;
		picture_init(&picture, &prng, pixel, width, height, 0);
		for (uint32_t k = 0; k < width * height; k++) {
			char letter = picture_colour(pixel, k % width, k / width);
			uint32_t value = colour[letter == 'r' ? 0 : letter == 'g' ? 1 : 2];

			put_sample(&picture, k % width, k / width,
				   value << (picture_sample_bits(pixel) - 8));
		}
		rgb = rgb_of(&picture, NULL);
		for (uint32_t k = 0; k < 3 * width * height; k++)
			assert_int_equal(rgb[k], colour[k % 3]);
		free(rgb);
		picture_free(&picture);
	}
}

/* Formats that say how many bits of 16 they use are as bright as those of 16. */
TEST(to_rgb__significant_bits)
{
	static const struct {
		enum lull_pixel pixel;
		uint32_t bits;
	} formats[] = {
		{ LULL_PIXEL_MONO10, 10 },      { LULL_PIXEL_MONO12, 12 },
		{ LULL_PIXEL_MONO14, 14 },      { LULL_PIXEL_MONO16, 16 },
		{ LULL_PIXEL_BAYER_RG10, 10 },  { LULL_PIXEL_BAYER_BG12, 12 },
		{ LULL_PIXEL_RGB10_WORDS, 10 }, { LULL_PIXEL_BGR12_WORDS, 12 },
		{ LULL_PIXEL_RGB16_WORDS, 16 },
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct lull_frame_geometry geometry = { .width = 2,
							.height = 2,
							.pixel = formats[i].pixel };
		uint32_t half = 1u << (formats[i].bits - 1);
		uint8_t bytes[24], rgb[12];

		for (uint32_t k = 0; k < 12; k++) {
			bytes[2 * k] = (uint8_t)half;
			bytes[2 * k + 1] = (uint8_t)(half >> 8);
		}
		assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, NULL), 0);
		for (uint32_t k = 0; k < 12; k++)
			assert_int_equal(rgb[k], 128);
	}
}

/* 12 bits in 16: the upper 8 of the 12, white above; packed pixels know their bits themselves. */
TEST(to_rgb__bits)
{
	struct lull_frame_geometry geometry = { .width = 3,
						.height = 1,
						.pixel = LULL_PIXEL_MONO16 };
	const uint8_t bytes[] = { 0x34, 0x02, 0xff, 0x0f, 0x00, 0x10 };
	struct lull_pixel_view view = { .bits = 12 };
	uint8_t rgb[9];

	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, &view), 0);
	assert_int_equal(rgb[0], 0x23);
	assert_int_equal(rgb[3], 0xff);
	assert_int_equal(rgb[6], 0xff);
	view.bits = 0;
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, &view), 0);
	assert_int_equal(rgb[0], 0x02);
	assert_int_equal(rgb[8], 0x10);
	geometry.pixel = LULL_PIXEL_MONO12P;
	view.bits = 8;
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, &view), 0);
	assert_int_equal(rgb[0], 0x23);
	assert_int_equal(rgb[3], 0xff);
	assert_int_equal(rgb[6], 0x00);
}

/* Every format: the mean of squares of the picture in full. */
TEST(to_rgb__shrink)
{
	struct lull_prng prng;

	lull_prng_init(&prng, PICTURE_SEED, 6);
	for (uint32_t trial = 0; trial < LULL_PIXEL_SHRINK_MAX * LULL_PIXEL_COUNT; trial++) {
		enum lull_pixel pixel = (enum lull_pixel)(trial / LULL_PIXEL_SHRINK_MAX);
		struct lull_pixel_view view = { .shrink = 1 + trial % LULL_PIXEL_SHRINK_MAX };
		uint32_t shrink = view.shrink, width = 1037, height = 2 * shrink + trial % 3;
		uint32_t columns = width / shrink, rows = height / shrink;
		struct picture picture;
		uint8_t *full, *rgb;

		if (pixel == LULL_PIXEL_UNKNOWN)
			continue;
		picture_init(&picture, &prng, pixel, width, height, 1);
		full = rgb_of(&picture, NULL);
		rgb = rgb_of(&picture, &view);
		for (uint32_t i = 0; i < 3 * columns * rows; i++) {
			uint32_t x = i / 3 % columns * shrink, y = i / 3 / columns * shrink;
			uint32_t sum = shrink * shrink / 2;

			for (uint32_t k = 0; k < shrink * shrink; k++)
				sum += full[3 * ((y + k / shrink) * width + x + k % shrink) +
					    i % 3];
			assert_int_equal(rgb[i], sum / (shrink * shrink));
		}
		free(rgb);
		free(full);
		picture_free(&picture);
	}
}

TEST(to_rgb__refused)
{
	struct lull_frame_geometry geometry = { .width = 4, .height = 2 };
	struct lull_pixel_view view = { .shrink = 0 };
	uint8_t bytes[8] = { 0 }, rgb[24] = { 77 };

	geometry.row_bytes = 4;
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, NULL), -ENOTSUP);
	geometry.pixel = LULL_PIXEL_COUNT;
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, NULL), -ENOTSUP);
	geometry.pixel = LULL_PIXEL_MONO8;
	geometry.row_bytes = 3;
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, NULL), -EINVAL);
	geometry.row_bytes = 0;
	view.shrink = 3; /* no square of 3 rows */
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, &view), -EINVAL);
	geometry = (struct lull_frame_geometry){ .width = 40,
						 .height = 40,
						 .pixel = LULL_PIXEL_MONO8 };
	view.shrink = LULL_PIXEL_SHRINK_MAX + 1;
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, &view), -EINVAL);
	view = (struct lull_pixel_view){ .bits = 7 };
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, &view), -EINVAL);
	view.bits = 17;
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, &view), -EINVAL);
	view = (struct lull_pixel_view){ .matrix = (enum lull_pixel_matrix)3 };
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, &view), -EINVAL);
	view.matrix = LULL_PIXEL_MATRIX_UNTOLD;
	geometry.matrix = (enum lull_pixel_matrix)3;
	assert_int_equal(lull_pixel_to_rgb(&geometry, bytes, rgb, &view), -EINVAL);
	assert_int_equal(rgb[0], 77);
}
