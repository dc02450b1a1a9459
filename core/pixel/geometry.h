/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Geometry: where the rows of a picture lie, and its bytes with and without padding.
 *
 * Two kinds of positions. An *offset* counts all bytes of the picture, as senders and buffers do; a
 * *place* counts pixel bytes only, so that rows follow each other without a gap and what is missing
 * never names padding. Without padding the two are the same number.
 */
#ifndef LULL_FRAME_GEOMETRY_H
#define LULL_FRAME_GEOMETRY_H

#include <lull/pixel.h>

struct lull_frame_layout {
	uint64_t bytes;                     /**< of the picture, padding included */
	uint64_t pixel_bytes;               /**< of them pixels */
	uint32_t row_bytes;                 /**< from one row of groups to the next */
	uint32_t used_bytes;                /**< of a row, without its padding */
	uint32_t rows;                      /**< of groups */
	uint32_t group_rows;                /**< rows of pixels in one of groups */
	uint64_t row_inverse, used_inverse; /**< for lull_frame_divide() */
};

/** False: a member is out of range, or the picture has more than LULL_FRAME_BYTES_MAX. */
bool lull_frame_layout_init(struct lull_frame_layout *layout,
			    const struct lull_frame_geometry *geometry);
bool lull_frame_geometry_equal(const struct lull_frame_geometry *a,
			       const struct lull_frame_geometry *b);

/**
 * dividend / divisor for dividends up to 2^32, with inverse = UINT64_MAX / divisor + 1: that is
 * 2^64 / divisor rounded up by less than 1, so the product is too large by less than dividend, and
 * dividend * divisor < 2^64 keeps that from reaching the next whole number. 1 has no inverse.
 */
static inline uint64_t
lull_frame_divide(uint64_t dividend, uint32_t divisor, uint64_t inverse)
{
	__extension__ typedef unsigned __int128 wide;

	return divisor == 1 ? dividend : (uint64_t)((wide)dividend * inverse >> 64);
}

static inline bool
lull_frame_padded(const struct lull_frame_layout *layout)
{
	return layout->row_bytes != layout->used_bytes;
}

/** The place of @p offset; of the row's end when it lies in padding. Up to layout->bytes. */
static inline uint64_t
lull_frame_place(const struct lull_frame_layout *layout, uint64_t offset)
{
	uint64_t row, column;

	if (!lull_frame_padded(layout))
		return offset;
	row = lull_frame_divide(offset, layout->row_bytes, layout->row_inverse);
	column = offset - row * layout->row_bytes;
	return row * layout->used_bytes + LULL_MIN(column, layout->used_bytes);
}

/** Whole rows of groups in @p place bytes of pixels. */
static inline uint64_t
lull_frame_rows(const struct lull_frame_layout *layout, uint64_t place)
{
	return lull_frame_divide(place, layout->used_bytes, layout->used_inverse);
}

static inline uint64_t
lull_frame_offset(const struct lull_frame_layout *layout, uint64_t place)
{
	uint64_t padding = layout->row_bytes - layout->used_bytes;

	return padding == 0 ? place : place + lull_frame_rows(layout, place) * padding;
}

/** The offset behind the byte before @p place, which is not 0. */
static inline uint64_t
lull_frame_offset_end(const struct lull_frame_layout *layout, uint64_t place)
{
	return lull_frame_offset(layout, place - 1) + 1;
}

#endif
