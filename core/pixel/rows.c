/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"

static uint8_t
shift_of(uint32_t power)
{
	return (uint8_t)__builtin_ctz(power);
}

/* Pixels without a name have no groups: no rows to count them in. */
bool
lull_frame_rows_of(const struct lull_frame_geometry *geometry, struct lull_frame_rows *rows)
{
	struct lull_pixel_group group = lull_pixel_group(geometry->pixel);
	uint64_t bytes = lull_frame_bytes(geometry);

	if (bytes == 0 || group.bytes == 0)
		return false;
	rows->column_shift = shift_of(group.columns);
	rows->row_shift = shift_of(group.rows);
	rows->group_bytes = group.bytes;
	/* Rounded up: exact for dividends below 1 << 16, as the error stays below 2^20 of 2^32. */
	rows->reciprocal = UINT32_MAX / group.bytes + 1ULL;
	rows->count = (geometry->height + group.rows - 1) >> rows->row_shift;
	rows->row_bytes =
		((geometry->width + group.columns - 1) >> rows->column_shift) * group.bytes;
	rows->stride = geometry->row_bytes != 0 ? geometry->row_bytes : rows->row_bytes;
	rows->bytes = bytes;
	return true;
}
