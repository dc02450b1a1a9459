/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Samples: numbers into the bytes of a picture, as its pixel format packs them.
 */
#ifndef LULL_EMULATOR_SAMPLES_H
#define LULL_EMULATOR_SAMPLES_H

#include <lull/frame.h>

enum samples_order {
	SAMPLES_LITTLE, /**< a string of bits, the least significant first */
	SAMPLES_BIG,    /**< a string of bits, the most significant first */
	SAMPLES_CSI,    /**< high bytes of two, then their low nibbles */
};
/** What a sample is a measure of. */
enum samples_kind { SAMPLES_BAYER, SAMPLES_MONO, SAMPLES_RGB, SAMPLES_YUV };

struct samples {
	enum samples_order order;
	enum samples_kind kind;
	uint32_t depth;       /* bits of a sample; 16 stands in two bytes */
	uint32_t group;       /* samples of a group of pixels */
	uint32_t group_bytes; /* of a group */
	/* Of each sample of a group, one letter: R G B A Y U V; and its column there. */
	const char *letters, *columns;
};

struct samples samples_of(enum lull_pixel pixel);
/** Write sample @p index of a string that begins at @p bytes and was zeroed. */
void samples_put(const struct samples *samples, uint8_t *bytes, uint64_t index, uint32_t value);

#endif
