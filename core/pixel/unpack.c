/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wide forms put the two bytes that a sample lies in into a lane of 16 bits, push the sample to
 * the lane's top by a product (there is no shift of its own for each lane) and then down: three
 * instructions for 8 samples of any packing. A vector is loaded whole, and so reads beyond the
 * groups it uses: the last pixels of a row, whose vector would reach beyond the row, are scalar.
 */
#include "unpack.h"

#include <errno.h>
#include <string.h>

#include "format.h"
#include "geometry.h"

static void
unpack_8(const uint8_t *row, uint32_t count, uint16_t *samples)
{
	for (uint32_t i = 0; i < count; i++)
		samples[i] = row[i];
}

static void
unpack_16(const uint8_t *row, uint32_t count, uint16_t *samples)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(samples, row, (size_t)count * sizeof(*samples));
#else
	for (uint32_t i = 0; i < count; i++)
		samples[i] = (uint16_t)(row[2 * i] | row[2 * i + 1] << 8);
#endif
}

static void
unpack_10p(const uint8_t *row, uint32_t count, uint16_t *samples)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *bytes = row + i / 4 * 5 + i % 4;

		samples[i] = (uint16_t)((bytes[0] | bytes[1] << 8) >> 2 * (i % 4) & 0x3ff);
	}
}

static void
unpack_12p(const uint8_t *row, uint32_t count, uint16_t *samples)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *bytes = row + i / 2 * 3 + i % 2;

		samples[i] = (uint16_t)((bytes[0] | bytes[1] << 8) >> 4 * (i % 2) & 0xfff);
	}
}

static void
unpack_12_csi(const uint8_t *row, uint32_t count, uint16_t *samples)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *bytes = row + i / 2 * 3;

		samples[i] = (uint16_t)(bytes[i % 2] << 4 | (bytes[2] >> 4 * (i % 2) & 0xf));
	}
}

static void
unpack_14p(const uint8_t *row, uint32_t count, uint16_t *samples)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *bytes = row + i / 4 * 7 + i % 4 * 14 / 8;
		uint32_t shift = i % 4 * 14 % 8;
		uint32_t value = bytes[0] | (uint32_t)bytes[1] << 8;

		if (shift > 2)
			value |= (uint32_t)bytes[2] << 16;
		samples[i] = (uint16_t)(value >> shift & 0x3fff);
	}
}

/* High byte, the low bits of both in one byte, high byte. */
static inline __attribute__((always_inline)) void
unpack_nibbles(const uint8_t *row, uint32_t count, uint32_t low_bits, uint16_t *samples)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *pair = row + i / 2 * 3;
		uint32_t low = pair[1] >> i % 2 * 4 & ((1u << low_bits) - 1);

		samples[i] = (uint16_t)((uint32_t)pair[i % 2 * 2] << low_bits | low);
	}
}

static void
unpack_10_nibbles(const uint8_t *row, uint32_t count, uint16_t *samples)
{
	unpack_nibbles(row, count, 2, samples);
}

static void
unpack_12_nibbles(const uint8_t *row, uint32_t count, uint16_t *samples)
{
	unpack_nibbles(row, count, 4, samples);
}

static void
unpack_10_csi(const uint8_t *row, uint32_t count, uint16_t *samples)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *bytes = row + i / 4 * 5;

		samples[i] = (uint16_t)(bytes[i % 4] << 2 | (bytes[4] >> 2 * (i % 4) & 3));
	}
}

#ifdef __x86_64__
typedef uint8_t unpack_bytes __attribute__((vector_size(16)));
typedef uint16_t unpack_lanes __attribute__((vector_size(16)));

#define UNPACK_LANES 8
/* Pixels that fill 16 bytes at 10 bits each, rounded up to a group; at 12 bits they fill more. */
#define UNPACK_READ 16

/*
 * 8 samples are (step) bytes. Of a lane, bits in (above) are the sample's upper ones and only move
 * down; the rest is lane * (factor), moved down and cut by (below).
 */
#define UNPACK_WIDE(name, scalar, step, factor, shift, above, below, ...)                          \
	__attribute__((target("avx2"))) static void name(const uint8_t *row, uint32_t count,       \
							 uint16_t *samples)                        \
	{                                                                                          \
		for (; count >= UNPACK_READ; count -= UNPACK_LANES, row += (step)) {               \
			unpack_bytes bytes;                                                        \
			unpack_lanes lanes;                                                        \
			memcpy(&bytes, row, sizeof(bytes));                                        \
			bytes = __builtin_shufflevector(bytes, bytes, __VA_ARGS__);                \
			lanes = (unpack_lanes)bytes;                                               \
			lanes = (lanes & (above)) >> (shift) |                                     \
				(lanes * (unpack_lanes)factor >> (shift) & (below));               \
			memcpy(samples, &lanes, sizeof(lanes));                                    \
			samples += UNPACK_LANES;                                                   \
		}                                                                                  \
		scalar(row, count, samples);                                                       \
	}
#define FACTOR_10P                                                                                 \
	{                                                                                          \
		64, 16, 4, 1, 64, 16, 4, 1                                                         \
	}
#define FACTOR_12                                                                                  \
	{                                                                                          \
		16, 1, 16, 1, 16, 1, 16, 1                                                         \
	}

UNPACK_WIDE(unpack_10p_avx2, unpack_10p, 10, FACTOR_10P, 6, 0, 0x3ff, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6,
	    6, 7, 7, 8, 8, 9)
UNPACK_WIDE(unpack_12p_avx2, unpack_12p, 12, FACTOR_12, 4, 0, 0xfff, 0, 1, 1, 2, 3, 4, 4, 5, 6, 7,
	    7, 8, 9, 10, 10, 11)
UNPACK_WIDE(unpack_12_csi_avx2, unpack_12_csi, 12, FACTOR_12, 4, 0xff00, 0xf, 2, 0, 2, 1, 5, 3, 5,
	    4, 8, 6, 8, 7, 11, 9, 11, 10)
#else
#define unpack_10p_avx2 unpack_10p
#define unpack_12p_avx2 unpack_12p
#define unpack_12_csi_avx2 unpack_12_csi
#endif

/* 8 and 16 bits are left to the compiler and the C library. */
static const struct unpack {
	enum lull_packing packing;
	uint8_t bits;
	lull_unpack_row *scalar, *wide;
} unpacks[] = {
	{ LULL_PACKING_LITTLE, 8, unpack_8, unpack_8 },
	{ LULL_PACKING_LITTLE, 10, unpack_10p, unpack_10p_avx2 },
	{ LULL_PACKING_LITTLE, 12, unpack_12p, unpack_12p_avx2 },
	{ LULL_PACKING_LITTLE, 14, unpack_14p, unpack_14p },
	{ LULL_PACKING_NIBBLES, 10, unpack_10_nibbles, unpack_10_nibbles },
	{ LULL_PACKING_NIBBLES, 12, unpack_12_nibbles, unpack_12_nibbles },
	{ LULL_PACKING_CSI, 10, unpack_10_csi, unpack_10_csi },
	{ LULL_PACKING_CSI, 12, unpack_12_csi, unpack_12_csi_avx2 },
};
static const struct unpack unpack_words = { LULL_PACKING_WORDS, 16, unpack_16, unpack_16 };

static const struct unpack *
unpack_of(enum lull_pixel pixel)
{
	const struct lull_pixel_format *format = lull_pixel_format(pixel);

	if (format->colours == LULL_COLOURS_RGB || format->colours == LULL_COLOURS_YUV)
		return NULL;
	if (format->packing == LULL_PACKING_WORDS)
		return &unpack_words;
	for (uint32_t i = 0; i < sizeof(unpacks) / sizeof(unpacks[0]); i++)
		if (unpacks[i].packing == format->packing && unpacks[i].bits == format->bits)
			return &unpacks[i];
	return NULL;
}

uint32_t
lull_unpack_bits(enum lull_pixel pixel)
{
	return unpack_of(pixel) == NULL ? 0 : lull_pixel_format(pixel)->bits;
}

lull_unpack_row *
lull_unpack_function(enum lull_pixel pixel, enum lull_lanes lanes)
{
	const struct unpack *unpack = unpack_of(pixel);

	if (unpack == NULL || (lanes == LULL_LANES_AVX2 && !lull_lanes_wide(lanes)))
		return NULL;
	return lull_lanes_wide(lanes) ? unpack->wide : unpack->scalar;
}

int
lull_pixel_unpack(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		  uint16_t *samples)
{
	lull_unpack_row *unpack = lull_unpack_function(geometry->pixel, LULL_LANES_BEST);
	struct lull_frame_layout layout;

	if (!lull_frame_layout_init(&layout, geometry))
		return -EINVAL;
	if (unpack == NULL)
		return -ENOTSUP;
	for (uint32_t row = 0; row < geometry->height; row++) {
		unpack(picture, geometry->width, samples);
		picture += layout.row_bytes;
		samples += geometry->width;
	}
	return 0;
}
