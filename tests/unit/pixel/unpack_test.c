/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "picture.h"

#include "pixel/unpack.h"

/* Every way there is, every format, every rest of a vector; rows end where their memory ends. */
TEST(unpack_row__bit_by_bit)
{
	struct lull_prng prng;
	uint32_t formats = 0;

	lull_prng_init(&prng, PICTURE_SEED, 0);
	for (enum lull_lanes lanes = LULL_LANES_BEST; lanes <= LULL_LANES_AVX2; lanes++) {
		for (uint32_t i = 0; i < LULL_PIXEL_COUNT; i++) {
			enum lull_pixel pixel = (enum lull_pixel)i;
			lull_unpack_row *unpack = lull_unpack_function(pixel, lanes);

			assert_int_equal(lull_unpack_bits(pixel), picture_sample_bits(pixel));
			if (unpack == NULL)
				continue;
			formats++;
			for (uint32_t count = 1; count <= 70; count++) {
				uint16_t samples[71] = { [70] = 0 };
				struct picture picture;

				picture_init(&picture, &prng, pixel, count, 1, 0);
				samples[count] = 0xabcd;
				unpack(picture.bytes, count, samples);
				for (uint32_t x = 0; x < count; x++)
					assert_int_equal(samples[x],
							 picture_sample(&picture, x, 0));
				assert_int_equal(samples[count], 0xabcd);
				picture_free(&picture);
			}
		}
	}
	if (!lull_lanes_wide(LULL_LANES_AVX2))
		printf("this CPU has no AVX2\n");
	assert_int_equal(formats, lull_lanes_wide(LULL_LANES_AVX2) ? 3 * 48 : 2 * 48);
}

TEST(unpack_function__none)
{
	assert_null(lull_unpack_function(LULL_PIXEL_RGB8, LULL_LANES_BEST));
	assert_null(lull_unpack_function(LULL_PIXEL_UNKNOWN, LULL_LANES_BEST));
	assert_null(lull_unpack_function(LULL_PIXEL_COUNT, LULL_LANES_SCALAR));
	assert_int_equal(lull_unpack_bits(LULL_PIXEL_COUNT), 0);
	assert_int_equal(lull_unpack_function(LULL_PIXEL_MONO12P, LULL_LANES_AVX2) != NULL,
			 lull_lanes_wide(LULL_LANES_AVX2));
	assert_false(lull_lanes_wide(LULL_LANES_SCALAR));
}

TEST(unpack__known_bytes)
{
	static const struct {
		enum lull_pixel pixel;
		uint8_t bytes[8];
		uint32_t width;
		uint16_t samples[4];
	} known[] = {
		{ LULL_PIXEL_MONO8, { 0, 255, 7 }, 3, { 0, 255, 7 } },
		{ LULL_PIXEL_MONO10P, { 0x01, 0x08, 0x30, 0xc0, 0xff }, 4, { 1, 2, 3, 0x3ff } },
		{ LULL_PIXEL_MONO12P, { 0xbc, 0xfa, 0xde }, 2, { 0xabc, 0xdef } },
		{ LULL_PIXEL_BAYER_BG12P, { 0xff, 0x0f, 0x00 }, 2, { 0xfff, 0 } },
		{ LULL_PIXEL_RAW12_CSI, { 0xab, 0xde, 0xfc }, 2, { 0xabc, 0xdef } },
		{ LULL_PIXEL_RAW10_CSI,
		  { 0xab, 0xcd, 0xef, 0x12, 0xe4 },
		  4,
		  { 0x2ac, 0x335, 0x3be, 0x4b } },
		{ LULL_PIXEL_MONO12, { 0xbc, 0x0a, 0xef, 0x0d }, 2, { 0xabc, 0xdef } },
		{ LULL_PIXEL_MONO14P,
		  { 0x01, 0x80, 0x00, 0x30, 0x00, 0xfc, 0xff },
		  4,
		  { 1, 2, 3, 0x3fff } },
		{ LULL_PIXEL_MONO10_PACKED, { 0xab, 0x32, 0xcd }, 2, { 0x2ae, 0x337 } },
		{ LULL_PIXEL_MONO12_PACKED, { 0xab, 0xfc, 0xde }, 2, { 0xabc, 0xdef } },
		{ LULL_PIXEL_BAYER_RG12_PACKED, { 0xab, 0xfc, 0xde }, 2, { 0xabc, 0xdef } },
		{ LULL_PIXEL_BAYER_RG10P, { 0x01, 0x08, 0x30, 0xc0, 0xff }, 4, { 1, 2, 3, 0x3ff } },
		{ LULL_PIXEL_BAYER_GR16, { 0x34, 0x12, 0xff, 0x00 }, 2, { 0x1234, 0xff } },
	};

	for (uint32_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct lull_frame_geometry geometry = { .pixel = known[i].pixel,
							.width = known[i].width,
							.height = 1 };
		uint16_t samples[4];

		assert_int_equal(lull_pixel_unpack(&geometry, known[i].bytes, samples), 0);
		for (uint32_t x = 0; x < known[i].width; x++)
			assert_int_equal(samples[x], known[i].samples[x]);
	}
}

/* Rows follow each other in the samples, whatever lies between them in the picture. */
TEST(unpack__rows)
{
	static const uint32_t widths[] = { 1, 2, 3, 17, 40, 101 };
	struct lull_prng prng;

	lull_prng_init(&prng, PICTURE_SEED, 1);
	for (uint32_t trial = 0; trial < 6 * 3 * LULL_PIXEL_COUNT; trial++) {
		enum lull_pixel pixel = (enum lull_pixel)(trial / 18);
		uint32_t width = widths[trial % 6], height = 1 + trial % 5;
		uint16_t *samples = malloc(sizeof(*samples) * width * height);
		struct picture picture;

		assert_non_null(samples);
		if (picture_sample_bits(pixel) > 0) {
			picture_init(&picture, &prng, pixel, width, height, trial / 6 % 3 * 5);
			assert_int_equal(
				lull_pixel_unpack(&picture.geometry, picture.bytes, samples), 0);
			for (uint32_t i = 0; i < width * height; i++)
				assert_int_equal(samples[i],
						 picture_sample(&picture, i % width, i / width));
			picture_free(&picture);
		}
		free(samples);
	}
}

TEST(unpack__refused)
{
	struct lull_frame_geometry geometry = { .width = 2, .height = 1 };
	uint8_t bytes[16] = { 0 };
	uint16_t samples[2] = { 77, 77 };

	geometry.pixel = LULL_PIXEL_RGB8;
	assert_int_equal(lull_pixel_unpack(&geometry, bytes, samples), -ENOTSUP);
	geometry.pixel = LULL_PIXEL_UYVY12_4175;
	assert_int_equal(lull_pixel_unpack(&geometry, bytes, samples), -ENOTSUP);
	geometry.pixel = LULL_PIXEL_UNKNOWN;
	geometry.row_bytes = 4;
	assert_int_equal(lull_pixel_unpack(&geometry, bytes, samples), -ENOTSUP);
	geometry.pixel = LULL_PIXEL_MONO16;
	geometry.row_bytes = 3;
	assert_int_equal(lull_pixel_unpack(&geometry, bytes, samples), -EINVAL);
	geometry.row_bytes = 0;
	geometry.width = 0;
	assert_int_equal(lull_pixel_unpack(&geometry, bytes, samples), -EINVAL);
	assert_int_equal(samples[0], 77);
	assert_int_equal(samples[1], 77);
}
