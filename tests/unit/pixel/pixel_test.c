/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/frame.h>

#include "case.h"

TEST(name__is_found_again)
{
	for (uint32_t i = 0; i < LULL_PIXEL_COUNT; i++) {
		const char *name = lull_pixel_name((enum lull_pixel)i);

		assert_non_null(name);
		assert_int_equal(lull_pixel_find(name), i);
	}
	assert_int_equal(lull_pixel_find("mono"), LULL_PIXEL_UNKNOWN);
	assert_string_equal(lull_pixel_name(LULL_PIXEL_BAYER_RG12P), "bayer-rg12p");
	assert_string_equal(lull_pixel_name(LULL_PIXEL_COUNT), "unknown");
}

/* Bits of a pixel as its format has them, times the pixels of a group. */
TEST(group__holds_whole_bytes)
{
	static const struct {
		enum lull_pixel pixel;
		uint32_t bits;
	} formats[] = {
		{ LULL_PIXEL_MONO8, 8 },          { LULL_PIXEL_MONO10P, 10 },
		{ LULL_PIXEL_MONO12P, 12 },       { LULL_PIXEL_MONO16, 16 },
		{ LULL_PIXEL_BAYER_BG12P, 12 },   { LULL_PIXEL_RAW12_CSI, 12 },
		{ LULL_PIXEL_RGB8, 24 },          { LULL_PIXEL_BGRA8, 32 },
		{ LULL_PIXEL_RGB12_4175, 36 },    { LULL_PIXEL_YUV444, 24 },
		{ LULL_PIXEL_UYVY8, 16 },         { LULL_PIXEL_UYVY10_4175, 20 },
		{ LULL_PIXEL_UYVY12_4175, 24 },   { LULL_PIXEL_YUV420_4175, 12 },
		{ LULL_PIXEL_YUV411_4175, 12 },   { LULL_PIXEL_MONO14P, 14 },
		{ LULL_PIXEL_MONO12, 16 },        { LULL_PIXEL_MONO12_PACKED, 12 },
		{ LULL_PIXEL_MONO10_PACKED, 12 }, { LULL_PIXEL_RGB10P, 30 },
		{ LULL_PIXEL_BGR12P, 36 },        { LULL_PIXEL_RGB16_WORDS, 48 },
		{ LULL_PIXEL_YUYV8, 16 },         { LULL_PIXEL_RAW10_CSI, 10 },
	};

	for (uint32_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct lull_pixel_group group = lull_pixel_group(formats[i].pixel);

		assert_int_equal(group.bytes * 8u, formats[i].bits * group.columns * group.rows);
	}
	assert_int_equal(lull_pixel_group(LULL_PIXEL_UNKNOWN).bytes, 0);
	assert_int_equal(lull_pixel_group(LULL_PIXEL_COUNT).bytes, 0);
}
