/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Samples: numbers into the bytes of a picture, as its pixel format packs them.
 */
#ifndef LULL_EMULATOR_SAMPLES_H
#define LULL_EMULATOR_SAMPLES_H

#include <lull/frame.h>

#include "pixel/format.h"

struct samples {
	enum lull_packing packing;
	enum lull_colours colours;
	uint32_t depth;         /* bits of a sample */
	uint32_t step;          /* bits from one to the next, of strings of bits */
	uint32_t group;         /* samples of a group of pixels */
	uint32_t group_bytes;   /* of a group */
	uint32_t group_columns; /* of a group */
	/* Of each sample of a group, one letter: R G B A Y U V; and its column there. */
	const char *letters, *columns;
};

struct samples samples_of(enum lull_pixel pixel);
/** Write sample @p index of a string that begins at @p bytes and was zeroed. */
void samples_put(const struct samples *samples, uint8_t *bytes, uint64_t index, uint32_t value);

#endif
