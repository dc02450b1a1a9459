/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Unpack: rows of one-sample pixels (mono, Bayer, raw) to 16-bit samples.
 */
#ifndef LULL_FRAME_UNPACK_H
#define LULL_FRAME_UNPACK_H

#include <lull/pixel.h>

#include "lanes.h"

/** Bits of a sample: 8, 10, 12, 14 or 16; 0: @p pixel is not one sample. */
uint32_t lull_unpack_bits(enum lull_pixel pixel);

/** @p row begins with a group and holds all groups of @p count pixels; nothing else is read. */
typedef void lull_unpack_row(const uint8_t *row, uint32_t count, uint16_t *samples);
/** NULL: @p pixel is not one sample, or this CPU does not have @p lanes. */
lull_unpack_row *lull_unpack_function(enum lull_pixel pixel, enum lull_lanes lanes);

#endif
