/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Picture: random pictures of any format, and slow readers of single pixels to compare with. They
 * read bit by bit, as the formats are described, and share nothing with core/frame but the layout.
 */
#ifndef TEST_PICTURE_H
#define TEST_PICTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/frame.h>

#include "case.h"
#include "base/prng.h"

#define PICTURE_SEED 20

struct picture {
	struct lull_frame_geometry geometry;
	struct lull_pixel_group group;
	uint32_t row_bytes;
	uint64_t size;
	uint8_t *bytes; /* exactly so many, for the sanitizer */
};

static inline void
picture_init(struct picture *picture, struct lull_prng *prng, enum lull_pixel pixel, uint32_t width,
	     uint32_t height, uint32_t padding)
{
	struct lull_pixel_group group = lull_pixel_group(pixel);

	*picture = (struct picture){ .group = group };
	picture->row_bytes = (width + group.columns - 1) / group.columns * group.bytes + padding;
	picture->geometry = (struct lull_frame_geometry){
		.width = width,
		.height = height,
		.pixel = pixel,
		.row_bytes = padding == 0 ? 0 : picture->row_bytes,
	};
	picture->size = (uint64_t)((height + group.rows - 1) / group.rows) * picture->row_bytes;
	assert_int_equal(lull_frame_bytes(&picture->geometry), picture->size);
	picture->bytes = malloc(picture->size);
	assert_non_null(picture->bytes);
	for (uint64_t i = 0; i < picture->size; i++)
		picture->bytes[i] = (uint8_t)lull_prng_u64(prng);
}

static inline void
picture_free(struct picture *picture)
{
	free(picture->bytes);
}

/* The group of pixel x, y. */
static inline uint8_t *
picture_group(const struct picture *picture, uint32_t x, uint32_t y)
{
	return picture->bytes + (uint64_t)(y / picture->group.rows) * picture->row_bytes +
	       (uint64_t)(x / picture->group.columns) * picture->group.bytes;
}

/* Bits of a byte string that begins with the highest bit of its first byte. */
static inline uint32_t
picture_bits_big(const uint8_t *bytes, uint32_t first, uint32_t count)
{
	uint32_t value = 0;

	for (uint32_t bit = first; bit < first + count; bit++)
		value = value << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1u);
	return value;
}

/* ... with the lowest bit of its first byte, and samples with their lowest bit. */
static inline uint32_t
picture_bits_little(const uint8_t *bytes, uint32_t first, uint32_t count)
{
	uint32_t value = 0;

	for (uint32_t i = 0; i < count; i++)
		value |= (bytes[(first + i) / 8] >> ((first + i) % 8) & 1u) << i;
	return value;
}

/* Bits of a sample, by the format's name; 0: a colour format. */
static inline uint32_t
picture_sample_bits(enum lull_pixel pixel)
{
	const char *name = lull_pixel_name(pixel);
	const char *bits = name + strcspn(name, "0123456789");

	if (strncmp(name, "mono", 4) != 0 && strncmp(name, "bayer", 5) != 0 &&
	    strncmp(name, "raw", 3) != 0)
		return 0;
	return (uint32_t)strtoul(bits, NULL, 10);
}

/* A mono, Bayer or raw pixel. */
static inline uint32_t
picture_sample(const struct picture *picture, uint32_t x, uint32_t y)
{
	uint32_t bits = picture_sample_bits(picture->geometry.pixel);
	uint32_t at = x % picture->group.columns;
	const uint8_t *group = picture_group(picture, x, y);

	const char *name = lull_pixel_name(picture->geometry.pixel);
	uint32_t low = bits - 8;

	if (strstr(name, "-csi") != NULL) /* high bytes, then their low bits */
		return picture_bits_big(group, 8 * at, 8) << low |
		       picture_bits_little(group, 8 * picture->group.columns + low * at, low);
	if (strstr(name, "-packed") != NULL) /* high byte, low bits of both, high byte */
		return picture_bits_big(group, 16 * at, 8) << low |
		       picture_bits_little(group, 8 + 4 * at, low);
	if (bits > 8 && name[strlen(name) - 1] != 'p') /* in 16, whatever the upper ones are */
		return picture_bits_little(group, 16 * at, 16);
	return picture_bits_little(group, bits * at, bits);
}

/* 'r', 'g' or 'b': of pixel x, y by the name of its Bayer format; 0: it is none. */
static inline char
picture_colour(enum lull_pixel pixel, uint32_t x, uint32_t y)
{
	const char *name = lull_pixel_name(pixel);
	char colour;

	if (strncmp(name, "bayer-", 6) != 0)
		return 0;
	if (y % 2 == 0)
		return name[6 + x % 2];
	/* the second row has what the first one lacks, and green below a colour */
	colour = name[6] == 'g' ? name[7] : name[6];
	if (name[6 + x % 2] != 'g')
		return 'g';
	return colour == 'r' ? 'b' : 'r';
}

#endif
