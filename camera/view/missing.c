/* SPDX-License-Identifier: BSD-3-Clause */
#include "missing.h"

/* Rows of groups of pixels, as they lie in the picture. */
struct rows {
	struct lull_pixel_group group;
	uint32_t width, height;
	uint64_t stride, used; /* bytes from row to row, and of them pixels */
};

static struct rows
rows_of(const struct lull_frame_geometry *geometry)
{
	struct rows rows = {
		.group = lull_pixel_group(geometry->pixel),
		.width = geometry->width,
		.height = geometry->height,
	};

	if (rows.group.columns == 0)
		return rows;
	rows.used = ((uint64_t)geometry->width + rows.group.columns - 1) / rows.group.columns *
		    rows.group.bytes;
	rows.stride = geometry->row_bytes != 0 ? geometry->row_bytes : rows.used;
	return rows;
}

/* Bytes @p begin up to @p end of each of the rows @p first up to @p last, none of them empty. */
static void
missing_add(struct view_missing *missing, const struct rows *rows, uint64_t first, uint64_t last,
	    uint64_t begin, uint64_t end)
{
	uint64_t x = begin / rows->group.bytes * rows->group.columns;
	uint64_t y = first * rows->group.rows;
	uint64_t right = (end + rows->group.bytes - 1) / rows->group.bytes * rows->group.columns;
	uint64_t bottom = LULL_MIN(last * rows->group.rows, rows->height);
	struct view_rectangle *before =
		missing->count > 0 ? &missing->rectangles[missing->count - 1] : NULL;

	right = LULL_MIN(right, rows->width);
	if (x >= right || y >= bottom)
		return;
	if (before != NULL && before->x == x && before->width == right - x &&
	    before->y + before->height == y) {
		before->height += (uint32_t)(bottom - y);
		return;
	}
	if (missing->count == VIEW_MISSING_MAX) {
		missing->more = true;
		return;
	}
	missing->rectangles[missing->count++] = (struct view_rectangle){
		.x = (uint32_t)x,
		.y = (uint32_t)y,
		.width = (uint32_t)(right - x),
		.height = (uint32_t)(bottom - y),
	};
}

/* A span is the end of a row, whole rows and the beginning of one; each may be empty. */
static void
missing_span(struct view_missing *missing, const struct rows *rows,
	     const struct lull_frame_span *span)
{
	uint64_t end = span->offset + span->bytes;
	uint64_t first = span->offset / rows->stride, last = end / rows->stride;
	uint64_t begin = span->offset % rows->stride;

	end = LULL_MIN(end % rows->stride, rows->used);
	if (first == last) {
		if (begin < end)
			missing_add(missing, rows, first, first + 1, begin, end);
		return;
	}
	if (begin > 0) {
		if (begin < rows->used)
			missing_add(missing, rows, first, first + 1, begin, rows->used);
		first++;
	}
	if (first < last)
		missing_add(missing, rows, first, last, 0, rows->used);
	if (end > 0)
		missing_add(missing, rows, last, last + 1, 0, end);
}

void
view_missing_find(const struct lull_frame *frame, struct view_missing *missing)
{
	struct rows rows = rows_of(&frame->geometry);

	missing->count = 0;
	missing->more = frame->missing_more;
	if (rows.stride == 0) { /* pixels nobody knows */
		missing->more = missing->more || frame->missing_count > 0;
		return;
	}
	for (uint32_t i = 0; i < frame->missing_count; i++)
		missing_span(missing, &rows, &frame->missing[i]);
}
