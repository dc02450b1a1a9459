/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "case.h"
#include "base/prng.h"
#include "pixel/geometry.h"

#define SEED 4175

static uint64_t
bytes_of(uint32_t width, uint32_t height, uint32_t row_bytes, enum lull_pixel pixel)
{
	const struct lull_frame_geometry geometry = {
		.width = width, .height = height, .row_bytes = row_bytes, .pixel = pixel
	};

	return lull_frame_bytes(&geometry);
}

TEST(bytes__counts_whole_groups)
{
	assert_true(bytes_of(1920, 1280, 0, LULL_PIXEL_BAYER_RG12P) == 3686400);
	assert_true(bytes_of(3, 3, 0, LULL_PIXEL_MONO12P) == 18);
	assert_true(bytes_of(5, 3, 0, LULL_PIXEL_YUV420_4175) == 3 * 6 * 2);
	assert_true(bytes_of(5, 3, 20, LULL_PIXEL_YUV420_4175) == 40);
	assert_true(bytes_of(1, 1, 0, LULL_PIXEL_MONO8) == 1);
}

TEST(bytes__refuses)
{
	assert_true(bytes_of(0, 1, 0, LULL_PIXEL_MONO8) == 0);
	assert_true(bytes_of(1, 0, 0, LULL_PIXEL_MONO8) == 0);
	assert_true(bytes_of(65536, 1, 0, LULL_PIXEL_MONO8) == 0);
	assert_true(bytes_of(1, 65536, 0, LULL_PIXEL_MONO8) == 0);
	assert_true(bytes_of(UINT32_MAX, UINT32_MAX, 0, LULL_PIXEL_MONO8) == 0);
	assert_true(bytes_of(10, 1, 9, LULL_PIXEL_MONO8) == 0);
	assert_true(bytes_of(10, 1, 0, LULL_PIXEL_UNKNOWN) == 0);
	assert_true(bytes_of(10, 3, 13, LULL_PIXEL_UNKNOWN) == 39);
	assert_true(bytes_of(65535, 65535, 0, LULL_PIXEL_RGB8) == 0); /* 12 GB: not in 32 bits */
	assert_true(bytes_of(65535, 65535, 0, LULL_PIXEL_MONO8) == 65535ull * 65535);
	assert_true(bytes_of(1, 2, UINT32_MAX, LULL_PIXEL_MONO8) == 0);
	assert_true(bytes_of(1, 65535, 65536, LULL_PIXEL_MONO8) == 65535ull * 65536);
	assert_true(bytes_of(1, 1, UINT32_MAX, LULL_PIXEL_MONO8) == UINT32_MAX);
}

TEST(divide__is_exact)
{
	struct lull_prng prng;

	printf("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	for (uint32_t i = 0; i < 200000; i++) {
		uint32_t divisor =
			(uint32_t)(lull_prng_u64(&prng) >> (32 + lull_prng_below(&prng, 32)));
		uint64_t inverse, multiple;

		divisor = LULL_MAX(divisor, 1);
		inverse = UINT64_MAX / divisor + 1;
		multiple = lull_prng_below(&prng, LULL_FRAME_BYTES_MAX / divisor + 1) * divisor;
		assert_true(lull_frame_divide(multiple, divisor, inverse) == multiple / divisor);
		if (multiple > 0)
			assert_true(lull_frame_divide(multiple - 1, divisor, inverse) ==
				    (multiple - 1) / divisor);
		assert_true(lull_frame_divide(LULL_FRAME_BYTES_MAX, divisor, inverse) ==
			    LULL_FRAME_BYTES_MAX / divisor);
	}
}

/* Each pixel byte has its place, padding that of the row's end. */
TEST(place__skips_padding)
{
	const struct lull_frame_geometry geometry = {
		.width = 4, .height = 3, .row_bytes = 9, .pixel = LULL_PIXEL_MONO12P
	};
	struct lull_frame_layout layout;
	uint64_t place = 0;

	assert_true(lull_frame_layout_init(&layout, &geometry));
	assert_true(lull_frame_padded(&layout));
	for (uint64_t offset = 0; offset < layout.bytes; offset++) {
		assert_true(lull_frame_place(&layout, offset) == place);
		if (offset % 9 >= 6)
			continue;
		assert_true(lull_frame_offset(&layout, place) == offset);
		assert_true(lull_frame_offset_end(&layout, place + 1) == offset + 1);
		assert_true(lull_frame_rows(&layout, place++) == offset / 9);
	}
	assert_true(lull_frame_place(&layout, layout.bytes) == layout.pixel_bytes);
	assert_true(place == layout.pixel_bytes);
}

TEST(equal__looks_at_every_member)
{
	const struct lull_frame_geometry a = { 1, 2, 3, 4, 5, LULL_PIXEL_RGB8, LULL_PIXEL_BT601 };
	struct lull_frame_geometry b[7] = { a, a, a, a, a, a, a };

	assert_true(lull_frame_geometry_equal(&a, &b[0]));
	b[0].width++;
	b[1].height++;
	b[2].x_offset++;
	b[3].y_offset++;
	b[4].row_bytes++;
	b[5].pixel = LULL_PIXEL_BGR8;
	b[6].matrix = LULL_PIXEL_BT709;
	for (uint32_t i = 0; i < 7; i++)
		assert_false(lull_frame_geometry_equal(&a, &b[i]));
}
