/* SPDX-License-Identifier: BSD-3-Clause */
#include "planes.h"

#include <string.h>

#include "pixel/geometry.h"
#include "pixel/unpack.h"

/* Of a valid geometry. */
static struct lull_frame_layout
planes_layout(const struct lull_frame_geometry *geometry)
{
	struct lull_frame_layout layout = { .rows = 0 };

	lull_frame_layout_init(&layout, geometry);
	return layout;
}

static uint8_t *
planes_row(const struct lull_gst_planes *planes, uint32_t plane, uint32_t row)
{
	return planes->data[plane] + (size_t)row * planes->stride[plane];
}

/* Rows that were written without padding, from the last on to where they belong. */
static void
planes_spread(const struct lull_gst_planes *planes, uint32_t row_bytes, uint32_t rows)
{
	if (planes->stride[0] == row_bytes)
		return;
	for (uint32_t row = rows; row-- > 1;)
		memmove(planes_row(planes, 0, row), planes->data[0] + (size_t)row * row_bytes,
			row_bytes);
}

static void
planes_put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

/* Sample @p i of a string of big endian 12-bit samples. */
static uint32_t
planes_get12(const uint8_t *bytes, uint32_t i)
{
	const uint8_t *pair = bytes + i / 2 * 3;

	return i % 2 == 0 ? (uint32_t)pair[0] << 4 | pair[1] >> 4 :
			    (uint32_t)(pair[1] & 0xf) << 8 | pair[2];
}

void
lull_gst_fill_rows(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		   const struct lull_gst_planes *planes, const struct lull_pixel_view *view)
{
	struct lull_frame_layout layout = planes_layout(geometry);
	uint32_t bytes = LULL_MIN(layout.used_bytes, planes->stride[0]);

	(void)view;
	for (uint32_t row = 0; row < layout.rows; row++, picture += layout.row_bytes)
		memcpy(planes_row(planes, 0, row), picture, bytes);
}

static void
planes_samples(const struct lull_frame_geometry *geometry, const uint8_t *picture,
	       const struct lull_gst_planes *planes, uint32_t shift)
{
	uint16_t *samples = (uint16_t *)(void *)planes->data[0];
	size_t count = (size_t)geometry->width * geometry->height;
	uint16_t most = (uint16_t)(UINT16_MAX >> shift);

	lull_pixel_unpack(geometry, picture, samples);
	/* Those of 16 bits may be brighter than their format has it. */
	if (shift > 0)
		for (size_t i = 0; i < count; i++)
			samples[i] = (uint16_t)(LULL_MIN(samples[i], most) << shift);
	planes_spread(planes, geometry->width * 2, geometry->height);
}

void
lull_gst_fill_grey(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		   const struct lull_gst_planes *planes, const struct lull_pixel_view *view)
{
	(void)view;
	planes_samples(geometry, picture, planes, 16 - lull_unpack_bits(geometry->pixel));
}

void
lull_gst_fill_bayer(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		    const struct lull_gst_planes *planes, const struct lull_pixel_view *view)
{
	(void)view;
	planes_samples(geometry, picture, planes, 0);
}

void
lull_gst_fill_gbr12(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		    const struct lull_gst_planes *planes, const struct lull_pixel_view *view)
{
	struct lull_frame_layout layout = planes_layout(geometry);

	(void)view;
	for (uint32_t row = 0; row < geometry->height; row++, picture += layout.row_bytes) {
		uint8_t *green = planes_row(planes, 0, row), *blue = planes_row(planes, 1, row);
		uint8_t *red = planes_row(planes, 2, row);

		for (uint32_t i = 0; i < geometry->width; i++) {
			planes_put16(red + 2 * i, planes_get12(picture, 3 * i));
			planes_put16(green + 2 * i, planes_get12(picture, 3 * i + 1));
			planes_put16(blue + 2 * i, planes_get12(picture, 3 * i + 2));
		}
	}
}

void
lull_gst_fill_y212(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		   const struct lull_gst_planes *planes, const struct lull_pixel_view *view)
{
	struct lull_frame_layout layout = planes_layout(geometry);

	(void)view;
	for (uint32_t row = 0; row < layout.rows; row++, picture += layout.row_bytes) {
		const uint8_t *group = picture, *end = picture + layout.used_bytes;
		uint8_t *out = planes_row(planes, 0, row);

		for (; group < end; group += 6, out += 8) {
			planes_put16(out, planes_get12(group, 1) << 4);
			planes_put16(out + 2, planes_get12(group, 0) << 4);
			planes_put16(out + 4, planes_get12(group, 3) << 4);
			planes_put16(out + 6, planes_get12(group, 2) << 4);
		}
	}
}

/* Y00 Y01 Y10 Y11 Cb Cr. An odd last row has a second one in its groups, and so has the plane. */
void
lull_gst_fill_i420(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		   const struct lull_gst_planes *planes, const struct lull_pixel_view *view)
{
	struct lull_frame_layout layout = planes_layout(geometry);
	uint32_t groups = layout.used_bytes / 6;

	(void)view;
	for (uint32_t row = 0; row < layout.rows; row++, picture += layout.row_bytes) {
		uint8_t *above = planes_row(planes, 0, 2 * row);
		uint8_t *below = planes_row(planes, 0, 2 * row + 1);
		uint8_t *cb = planes_row(planes, 1, row), *cr = planes_row(planes, 2, row);
		const uint8_t *group = picture;

		for (uint32_t i = 0; i < groups; i++, group += 6) {
			above[2 * i] = group[0];
			above[2 * i + 1] = group[1];
			below[2 * i] = group[2];
			below[2 * i + 1] = group[3];
			cb[i] = group[4];
			cr[i] = group[5];
		}
	}
}

/* Cb Y0 Y1 Cr Y2 Y3. */
void
lull_gst_fill_y41b(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		   const struct lull_gst_planes *planes, const struct lull_pixel_view *view)
{
	struct lull_frame_layout layout = planes_layout(geometry);
	uint32_t groups = layout.used_bytes / 6;

	(void)view;
	for (uint32_t row = 0; row < layout.rows; row++, picture += layout.row_bytes) {
		uint8_t *y = planes_row(planes, 0, row);
		uint8_t *cb = planes_row(planes, 1, row), *cr = planes_row(planes, 2, row);
		const uint8_t *group = picture;

		for (uint32_t i = 0; i < groups; i++, group += 6) {
			cb[i] = group[0];
			y[4 * i] = group[1];
			y[4 * i + 1] = group[2];
			cr[i] = group[3];
			y[4 * i + 2] = group[4];
			y[4 * i + 3] = group[5];
		}
	}
}

void
lull_gst_fill_rgb(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		  const struct lull_gst_planes *planes, const struct lull_pixel_view *view)
{
	lull_pixel_to_rgb(geometry, picture, planes->data[0], view);
	planes_spread(planes, geometry->width * 3, geometry->height);
}
