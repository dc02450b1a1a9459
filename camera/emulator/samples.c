/* SPDX-License-Identifier: BSD-3-Clause */
#include "samples.h"

/* Raw pixels do not say what they are; the usual mosaic. */
static const char *
samples_letters(const struct lull_pixel_format *format)
{
	return format->packing == LULL_PACKING_CSI ? "RGGB" : format->letters;
}

struct samples
samples_of(enum lull_pixel pixel)
{
	const struct lull_pixel_format *format = lull_pixel_format(pixel);
	uint32_t step = lull_pixel_format_step(format);

	return (struct samples){
		.packing = format->packing,
		.colours =
			format->packing == LULL_PACKING_CSI ? LULL_COLOURS_BAYER : format->colours,
		.depth = format->bits,
		.step = step,
		.group_columns = format->group.columns,
		.group_bytes = format->group.bytes,
		.group = format->packing == LULL_PACKING_NIBBLES ? format->group.columns :
								   format->group.bytes * 8u / step,
		.letters = samples_letters(format),
		.columns = format->columns,
	};
}

/* The upper 8 bits in a byte of their own, the others beside those of the group. */
static void
samples_put_parted(const struct samples *samples, uint8_t *bytes, uint64_t index, uint32_t value)
{
	uint32_t low_bits = samples->depth - 8, place = index % samples->group_columns;
	uint8_t *group = bytes + index / samples->group_columns * samples->group_bytes;
	bool csi = samples->packing == LULL_PACKING_CSI;
	uint32_t low = value & ((1u << low_bits) - 1);

	group[csi ? place : 2 * place] = (uint8_t)(value >> low_bits);
	group[csi ? samples->group_columns : 1] |= (uint8_t)(low << place * (csi ? low_bits : 4));
}

void
samples_put(const struct samples *samples, uint8_t *bytes, uint64_t index, uint32_t value)
{
	uint64_t bit = index * samples->step;
	uint32_t shift = bit & 7, bits = samples->step;

	if (samples->packing == LULL_PACKING_CSI || samples->packing == LULL_PACKING_NIBBLES) {
		samples_put_parted(samples, bytes, index, value);
		return;
	}
	bytes += bit / 8;
	if (samples->packing != LULL_PACKING_BIG) {
		value <<= shift;
		for (uint32_t left = bits + shift; left > 0; value >>= 8) {
			*bytes++ |= (uint8_t)value;
			left -= left < 8 ? left : 8;
		}
	} else {
		value <<= 32 - bits - shift;
		for (uint32_t left = bits + shift; left > 0; value <<= 8) {
			*bytes++ |= (uint8_t)(value >> 24);
			left -= left < 8 ? left : 8;
		}
	}
}
