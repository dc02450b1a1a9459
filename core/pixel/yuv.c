/* SPDX-License-Identifier: BSD-3-Clause */
#include "yuv.h"

/* Cb and Cr of pixel i at i rounded down, so all pixels of a group get them. */
static void
yuv_read_444(const uint8_t *bytes, uint32_t count, struct lull_yuv_row *yuv)
{
	for (uint32_t i = 0; i < count; i++, bytes += 3) {
		yuv->cb[i] = (uint16_t)(bytes[0] << 4);
		yuv->y[i] = (uint16_t)(bytes[1] << 4);
		yuv->cr[i] = (uint16_t)(bytes[2] << 4);
	}
}

/* Cb Y0 Cr Y1. An odd last pixel leaves half of its group in the row, which is not shown. */
static void
yuv_put_422(struct lull_yuv_row *yuv, uint32_t i, uint32_t cb, uint32_t y0, uint32_t cr,
	    uint32_t y1)
{
	yuv->cb[i] = yuv->cb[i + 1] = (uint16_t)cb;
	yuv->cr[i] = yuv->cr[i + 1] = (uint16_t)cr;
	yuv->y[i] = (uint16_t)y0;
	yuv->y[i + 1] = (uint16_t)y1;
}

static void
yuv_read_422(const uint8_t *bytes, uint32_t count, struct lull_yuv_row *yuv)
{
	for (uint32_t i = 0; i < count; i += 2, bytes += 4)
		yuv_put_422(yuv, i, (uint32_t)bytes[0] << 4, (uint32_t)bytes[1] << 4,
			    (uint32_t)bytes[2] << 4, (uint32_t)bytes[3] << 4);
}

/* Y0 Cb Y1 Cr. */
static void
yuv_read_yuyv(const uint8_t *bytes, uint32_t count, struct lull_yuv_row *yuv)
{
	for (uint32_t i = 0; i < count; i += 2, bytes += 4)
		yuv_put_422(yuv, i, (uint32_t)bytes[1] << 4, (uint32_t)bytes[0] << 4,
			    (uint32_t)bytes[3] << 4, (uint32_t)bytes[2] << 4);
}

static void
yuv_read_422_10(const uint8_t *bytes, uint32_t count, struct lull_yuv_row *yuv)
{
	for (uint32_t i = 0; i < count; i += 2, bytes += 5) {
		uint64_t bits = (uint64_t)bytes[0] << 32 | (uint64_t)bytes[1] << 24 |
				(uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 8 | bytes[4];

		yuv_put_422(yuv, i, (uint32_t)(bits >> 30) << 2, (bits >> 20 & 0x3ff) << 2,
			    (bits >> 10 & 0x3ff) << 2, (bits & 0x3ff) << 2);
	}
}

static void
yuv_read_422_12(const uint8_t *bytes, uint32_t count, struct lull_yuv_row *yuv)
{
	for (uint32_t i = 0; i < count; i += 2, bytes += 6)
		yuv_put_422(yuv, i, (uint32_t)bytes[0] << 4 | bytes[1] >> 4,
			    (bytes[1] & 0xfu) << 8 | bytes[2],
			    (uint32_t)bytes[3] << 4 | bytes[4] >> 4,
			    (bytes[4] & 0xfu) << 8 | bytes[5]);
}

/* Y00 Y01 Y10 Y11 Cb Cr. */
static void
yuv_read_420(const uint8_t *bytes, uint32_t row, uint32_t count, struct lull_yuv_row *yuv)
{
	uint32_t first = row % 2 * 2;

	for (uint32_t i = 0; i < count; i += 2, bytes += 6)
		yuv_put_422(yuv, i, (uint32_t)bytes[4] << 4, (uint32_t)bytes[first] << 4,
			    (uint32_t)bytes[5] << 4, (uint32_t)bytes[first + 1] << 4);
}

/* Cb Y0 Y1 Cr Y2 Y3. */
static void
yuv_read_411(const uint8_t *bytes, uint32_t count, struct lull_yuv_row *yuv)
{
	for (uint32_t i = 0; i < count; i += 4, bytes += 6) {
		uint32_t cb = (uint32_t)bytes[0] << 4, cr = (uint32_t)bytes[3] << 4;

		yuv_put_422(yuv, i, cb, (uint32_t)bytes[1] << 4, cr, (uint32_t)bytes[2] << 4);
		yuv_put_422(yuv, i + 2, cb, (uint32_t)bytes[4] << 4, cr, (uint32_t)bytes[5] << 4);
	}
}

bool
lull_yuv_read(enum lull_pixel pixel, const uint8_t *groups, uint32_t row, uint32_t count,
	      struct lull_yuv_row *yuv)
{
	switch (pixel) {
	case LULL_PIXEL_YUV444:
		yuv_read_444(groups, count, yuv);
		return true;
	case LULL_PIXEL_UYVY8:
		yuv_read_422(groups, count, yuv);
		return true;
	case LULL_PIXEL_YUYV8:
		yuv_read_yuyv(groups, count, yuv);
		return true;
	case LULL_PIXEL_UYVY10_4175:
		yuv_read_422_10(groups, count, yuv);
		return true;
	case LULL_PIXEL_UYVY12_4175:
		yuv_read_422_12(groups, count, yuv);
		return true;
	case LULL_PIXEL_YUV420_4175:
		yuv_read_420(groups, row, count, yuv);
		return true;
	case LULL_PIXEL_YUV411_4175:
		yuv_read_411(groups, count, yuv);
		return true;
	default:
		return false;
	}
}

/*
 * Of a matrix with the weights Kr and Kb: 255/219 for Y, and 255/224 times 2(1 - Kr), 2(1 - Kb),
 * 2 Kr (1 - Kr) / Kg and 2 Kb (1 - Kb) / Kg; all times 2^14.
 */
#define YUV_FACTOR_BITS 14
#define YUV_SHIFT (YUV_FACTOR_BITS + 4) /* and from 12 bits to 8 */
static const struct yuv_factors {
	int32_t y, red_cr, green_cb, green_cr, blue_cb;
} yuv_factors[] = {
	[LULL_PIXEL_BT601] = { 19077, 26149, 6419, 13320, 33050 },
	[LULL_PIXEL_BT709] = { 19077, 29372, 3494, 8731, 34610 },
};

static inline uint8_t
yuv_channel(int32_t sum)
{
	int32_t value = (sum + (1 << (YUV_SHIFT - 1))) >> YUV_SHIFT;

	return (uint8_t)LULL_CLAMP(value, 0, 255);
}

/* One body, for the compiler to make vectors of. */
static inline __attribute__((always_inline)) void
yuv_to_rgb_body(const struct lull_yuv_row *yuv, struct yuv_factors factors, uint32_t count,
		uint8_t *restrict rgb)
{
	for (uint32_t i = 0; i < count; i++) {
		int32_t y = factors.y * (yuv->y[i] - (16 << 4));
		int32_t cb = yuv->cb[i] - (128 << 4), cr = yuv->cr[i] - (128 << 4);

		rgb[3 * i] = yuv_channel(y + factors.red_cr * cr);
		rgb[3 * i + 1] = yuv_channel(y - factors.green_cb * cb - factors.green_cr * cr);
		rgb[3 * i + 2] = yuv_channel(y + factors.blue_cb * cb);
	}
}

static void
yuv_to_rgb(const struct lull_yuv_row *yuv, struct yuv_factors factors, uint32_t count, uint8_t *rgb)
{
	yuv_to_rgb_body(yuv, factors, count, rgb);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void
yuv_to_rgb_avx2(const struct lull_yuv_row *yuv, struct yuv_factors factors, uint32_t count,
		uint8_t *rgb)
{
	yuv_to_rgb_body(yuv, factors, count, rgb);
}
#else
#define yuv_to_rgb_avx2 yuv_to_rgb
#endif

void
lull_yuv_to_rgb(const struct lull_yuv_row *yuv, enum lull_pixel_matrix matrix,
		enum lull_lanes lanes, uint32_t count, uint8_t *rgb)
{
	if (lull_lanes_wide(lanes))
		yuv_to_rgb_avx2(yuv, yuv_factors[matrix], count, rgb);
	else
		yuv_to_rgb(yuv, yuv_factors[matrix], count, rgb);
}
