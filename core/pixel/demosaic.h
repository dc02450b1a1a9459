/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Demosaic: a row of 8-bit Bayer samples to red, green and blue, bilinear.
 *
 * A colour that a pixel does not have is the mean of the 2 or 4 nearest samples that have it,
 * rounded.
 */
#ifndef LULL_FRAME_DEMOSAIC_H
#define LULL_FRAME_DEMOSAIC_H

#include <lull/pixel.h>

#include "lanes.h"

/** What a row of Bayer pixels begins with. */
struct lull_demosaic_phase {
	bool blue;  /**< the row has blue and green pixels, else red and green ones */
	bool green; /**< its first pixel is a green one */
};
/** False: @p pixel is not a Bayer format. */
bool lull_demosaic_phase(enum lull_pixel pixel, uint32_t row, struct lull_demosaic_phase *phase);

/** Samples from [-1] to [count] of each. */
struct lull_demosaic_rows {
	const uint8_t *above, *here, *below;
};
/** Writes 3 * @p count bytes. */
typedef void lull_demosaic_row(const struct lull_demosaic_rows *rows,
			       struct lull_demosaic_phase phase, uint32_t count, uint8_t *rgb);
/** NULL: this CPU does not have @p lanes. */
lull_demosaic_row *lull_demosaic_function(enum lull_lanes lanes);

#endif
