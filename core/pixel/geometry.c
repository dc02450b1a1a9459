/* SPDX-License-Identifier: BSD-3-Clause */
#include "geometry.h"

static bool
side_valid(uint32_t side)
{
	return side >= 1 && side <= LULL_FRAME_SIDE_MAX;
}

static uint32_t
groups_of(uint32_t pixels, uint32_t size)
{
	return (pixels + size - 1) / size;
}

bool
lull_frame_layout_init(struct lull_frame_layout *layout, const struct lull_frame_geometry *geometry)
{
	struct lull_pixel_group group = lull_pixel_group(geometry->pixel);
	uint32_t used_bytes = geometry->row_bytes, row_bytes;

	if (!side_valid(geometry->width) || !side_valid(geometry->height))
		return false;
	/* pixels that have no name here: their rows are taken as they are */
	if (group.bytes == 0)
		group.rows = 1;
	else
		used_bytes = groups_of(geometry->width, group.columns) * group.bytes;
	row_bytes = geometry->row_bytes == 0 ? used_bytes : geometry->row_bytes;
	if (used_bytes == 0 || row_bytes < used_bytes)
		return false;
	*layout = (struct lull_frame_layout){
		.row_bytes = row_bytes,
		.used_bytes = used_bytes,
		.rows = groups_of(geometry->height, group.rows),
		.group_rows = group.rows,
		.row_inverse = UINT64_MAX / row_bytes + 1,
		.used_inverse = UINT64_MAX / used_bytes + 1,
	};
	layout->bytes = (uint64_t)layout->rows * row_bytes;
	layout->pixel_bytes = (uint64_t)layout->rows * used_bytes;
	return layout->bytes <= LULL_FRAME_BYTES_MAX;
}

uint64_t
lull_frame_bytes(const struct lull_frame_geometry *geometry)
{
	struct lull_frame_layout layout;

	return lull_frame_layout_init(&layout, geometry) ? layout.bytes : 0;
}

bool
lull_frame_geometry_equal(const struct lull_frame_geometry *a, const struct lull_frame_geometry *b)
{
	return a->width == b->width && a->height == b->height && a->x_offset == b->x_offset &&
	       a->y_offset == b->y_offset && a->row_bytes == b->row_bytes && a->pixel == b->pixel &&
	       a->matrix == b->matrix;
}
