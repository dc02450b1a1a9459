/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Format: what the samples of a pixel format are, and how they are packed; one table for all.
 */
#ifndef LULL_PIXEL_FORMAT_H
#define LULL_PIXEL_FORMAT_H

#include <lull/pixel.h>

enum lull_packing {
	LULL_PACKING_LITTLE,  /**< a string of bits, the least significant first */
	LULL_PACKING_BIG,     /**< a string of bits, the most significant first */
	LULL_PACKING_WORDS,   /**< 16 bits each, the lower byte first */
	LULL_PACKING_NIBBLES, /**< of two: high byte, low bits of both in one byte, high byte */
	LULL_PACKING_CSI,     /**< high bytes of a group, then all their low bits */
};
enum lull_colours {
	LULL_COLOURS_MONO,
	LULL_COLOURS_BAYER,
	LULL_COLOURS_RGB,
	LULL_COLOURS_YUV,
};
struct lull_pixel_format {
	const char *name;
	struct lull_pixel_group group; /**< bytes 0: unknown pixels */
	uint8_t bits;                  /**< of a sample */
	enum lull_packing packing;
	enum lull_colours colours;
	/**
	 * Of each sample of a group one letter, R G B A Y U V, and its column there. Of Bayer
	 * pixels those of columns 0 1 of even rows and 0 1 of odd ones.
	 */
	const char *letters, *columns;
};

/** Static; that of LULL_PIXEL_UNKNOWN for what is none. */
const struct lull_pixel_format *lull_pixel_format(enum lull_pixel pixel);

/** Bits from sample to sample. */
static inline uint32_t
lull_pixel_format_step(const struct lull_pixel_format *format)
{
	return format->packing == LULL_PACKING_WORDS ? 16 : format->bits;
}

#endif
