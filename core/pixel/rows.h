/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rows: a picture as rows of groups of pixels, for protocols that count lines and columns.
 */
#ifndef LULL_ROWS_H
#define LULL_ROWS_H

#include <lull/pixel.h>

struct lull_frame_rows {
	uint32_t count;       /* rows of groups */
	uint32_t row_bytes;   /* of one row, without padding */
	uint32_t stride;      /* from row to row */
	uint32_t group_bytes; /* 1..15 */
	uint64_t reciprocal;  /* of group_bytes, for 16 bit numbers */
	uint8_t column_shift; /* a group has 1 << this columns */
	uint8_t row_shift;    /* a group has 1 << this rows */
	uint64_t bytes;       /* of the picture */
};

/** false: no such picture (see lull_frame_bytes()). */
bool lull_frame_rows_of(const struct lull_frame_geometry *geometry, struct lull_frame_rows *rows);

/** Is @p bytes (below 1 << 16) a number of whole groups? */
static inline bool
lull_frame_rows_whole(const struct lull_frame_rows *rows, uint32_t bytes)
{
	uint32_t groups = (uint32_t)((bytes * rows->reciprocal) >> 32);

	return groups * rows->group_bytes == bytes;
}

#endif
