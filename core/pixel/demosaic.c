/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seen from its row every Bayer order is the same: pixels of the row's own colour alternate with
 * green ones, and the other colour lies in the rows above and below.
 */
#include "demosaic.h"

#include <string.h>

#include "format.h"

enum { RED, GREEN, BLUE, CHANNELS };

bool
lull_demosaic_phase(enum lull_pixel pixel, uint32_t row, struct lull_demosaic_phase *phase)
{
	const struct lull_pixel_format *format = lull_pixel_format(pixel);
	const char *letters = format->letters;

	if (format->colours != LULL_COLOURS_BAYER)
		return false;
	letters += row % 2 * 2;
	*phase = (struct lull_demosaic_phase){
		.blue = letters[0] == 'B' || letters[1] == 'B',
		.green = letters[0] == 'G',
	};
	return true;
}

/* Pixels from @p i on, which is even. */
static void
demosaic_from(const struct lull_demosaic_rows *rows, struct lull_demosaic_phase phase, uint32_t i,
	      uint32_t count, uint8_t *rgb)
{
	uint32_t own = phase.blue ? BLUE : RED, other = phase.blue ? RED : BLUE;
	bool green = phase.green;

	for (; i < count; i++, green = !green) {
		const uint8_t *above = rows->above + i, *here = rows->here + i;
		const uint8_t *below = rows->below + i, *left = here - 1;
		uint8_t *out = rgb + (size_t)CHANNELS * i;

		if (green) {
			out[own] = (uint8_t)((left[0] + left[2] + 1) >> 1);
			out[GREEN] = here[0];
			out[other] = (uint8_t)((above[0] + below[0] + 1) >> 1);
		} else {
			out[own] = here[0];
			out[GREEN] = (uint8_t)((left[0] + left[2] + above[0] + below[0] + 2) >> 2);
			above--;
			below--;
			out[other] =
				(uint8_t)((above[0] + above[2] + below[0] + below[2] + 2) >> 2);
		}
	}
}

static void
demosaic_scalar(const struct lull_demosaic_rows *rows, struct lull_demosaic_phase phase,
		uint32_t count, uint8_t *rgb)
{
	demosaic_from(rows, phase, 0, count, rgb);
}

#ifdef __x86_64__
#define DEMOSAIC_LANES 16
#define DEMOSAIC_WIDE __attribute__((target("avx2")))

typedef uint8_t demosaic_bytes __attribute__((vector_size(DEMOSAIC_LANES)));
typedef uint16_t demosaic_lanes __attribute__((vector_size(2 * DEMOSAIC_LANES)));

/* Every pixel is computed as both kinds; a mask takes one. */
struct demosaic_block {
	demosaic_bytes own, green, other;
};

DEMOSAIC_WIDE static inline demosaic_lanes
demosaic_load(const uint8_t *samples)
{
	demosaic_bytes bytes;

	memcpy(&bytes, samples, sizeof(bytes));
	return __builtin_convertvector(bytes, demosaic_lanes);
}

DEMOSAIC_WIDE static inline demosaic_bytes
demosaic_choose(demosaic_lanes mask, demosaic_lanes set, demosaic_lanes clear)
{
	return __builtin_convertvector((set & mask) | (clear & ~mask), demosaic_bytes);
}

/* @p greens: all bits of the lanes of green pixels. */
DEMOSAIC_WIDE static inline struct demosaic_block
demosaic_block(const struct lull_demosaic_rows *rows, uint32_t i, demosaic_lanes greens)
{
	const uint8_t *above = rows->above + i, *here = rows->here + i, *below = rows->below + i;
	demosaic_lanes self = demosaic_load(here);
	demosaic_lanes row = demosaic_load(here - 1) + demosaic_load(here + 1);
	demosaic_lanes column = demosaic_load(above) + demosaic_load(below);
	demosaic_lanes corners = demosaic_load(above - 1) + demosaic_load(above + 1) +
				 demosaic_load(below - 1) + demosaic_load(below + 1);

	return (struct demosaic_block){
		.own = demosaic_choose(greens, (row + 1) >> 1, self),
		.green = demosaic_choose(greens, self, (row + column + 2) >> 2),
		.other = demosaic_choose(greens, (column + 1) >> 1, (corners + 2) >> 2),
	};
}

/* (-1: any byte, the second shuffle puts one of the third colour there) */
DEMOSAIC_WIDE static inline void
demosaic_store(demosaic_bytes red, demosaic_bytes green, demosaic_bytes blue, uint8_t *rgb)
{
	demosaic_bytes out[CHANNELS];

	out[0] = __builtin_shufflevector(red, green, 0, 16, -1, 1, 17, -1, 2, 18, -1, 3, 19, -1, 4,
					 20, -1, 5);
	out[0] = __builtin_shufflevector(out[0], blue, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12,
					 13, 20, 15);
	out[1] = __builtin_shufflevector(red, green, 21, -1, 6, 22, -1, 7, 23, -1, 8, 24, -1, 9, 25,
					 -1, 10, 26);
	out[1] = __builtin_shufflevector(out[1], blue, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12,
					 25, 14, 15);
	out[2] = __builtin_shufflevector(red, green, -1, 11, 27, -1, 12, 28, -1, 13, 29, -1, 14, 30,
					 -1, 15, 31, -1);
	out[2] = __builtin_shufflevector(out[2], blue, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30,
					 13, 14, 31);
	memcpy(rgb, out, sizeof(out));
}

DEMOSAIC_WIDE static void
demosaic_avx2(const struct lull_demosaic_rows *rows, struct lull_demosaic_phase phase,
	      uint32_t count, uint8_t *rgb)
{
	demosaic_lanes greens;
	uint32_t i = 0;

	for (uint32_t lane = 0; lane < DEMOSAIC_LANES; lane++)
		greens[lane] = (lane % 2 == 0) == phase.green ? UINT16_MAX : 0;
	for (; i + DEMOSAIC_LANES <= count; i += DEMOSAIC_LANES) {
		struct demosaic_block block = demosaic_block(rows, i, greens);
		demosaic_bytes red = phase.blue ? block.other : block.own;
		demosaic_bytes blue = phase.blue ? block.own : block.other;

		demosaic_store(red, block.green, blue, rgb + (size_t)CHANNELS * i);
	}
	demosaic_from(rows, phase, i, count, rgb);
}
#endif

lull_demosaic_row *
lull_demosaic_function(enum lull_lanes lanes)
{
#ifdef __x86_64__
	if (lull_lanes_wide(lanes))
		return demosaic_avx2;
#endif
	return lanes == LULL_LANES_AVX2 ? NULL : demosaic_scalar;
}
