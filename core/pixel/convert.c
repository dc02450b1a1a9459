/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A picture is converted in strips of up to STRIP_COLUMNS columns from top to bottom, so that the
 * three rows a Bayer pixel is made of, and the sums of a shrunk one, fit on the stack and in the
 * cache whatever the width.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "demosaic.h"
#include "format.h"
#include "geometry.h"
#include "unpack.h"
#include "yuv.h"

#define STRIP_COLUMNS 1024
#define GROUP_COLUMNS_MAX 4 /* strips begin with a group in every format */
#define MARGIN GROUP_COLUMNS_MAX
#define LINES 4 /* rows of samples kept: a power of two, and three are needed */
#define CHANNELS 3
static_assert(STRIP_COLUMNS >= GROUP_COLUMNS_MAX * LULL_PIXEL_SHRINK_MAX, "a square fits");
static_assert(STRIP_COLUMNS <= LULL_YUV_COLUMNS_MAX, "a strip fits");
static_assert(LULL_PIXEL_SHRINK_MAX * UINT8_MAX <= UINT16_MAX, "the sum of a column fits");

struct convert {
	const struct lull_frame_geometry *geometry;
	const uint8_t *picture;
	uint32_t row_bytes;
	enum lull_pixel_matrix matrix;
	uint32_t shrink, cut_bits;   /* that samples have above 8 */
	lull_unpack_row *unpack;     /* NULL: colours */
	lull_demosaic_row *demosaic; /* NULL: no Bayer pixels */
	void (*cut)(const uint16_t *samples, uint32_t cut_bits, uint32_t count, uint8_t *out);
	uint32_t begin, end; /* columns of the strip */
	uint32_t lines_end;  /* rows before this one have been read into lines */
	uint8_t lines[LINES][MARGIN + STRIP_COLUMNS + MARGIN];
	struct lull_yuv_row yuv;
	uint8_t row[CHANNELS * STRIP_COLUMNS];
	uint16_t sums[CHANNELS * STRIP_COLUMNS];
};

/* Where column @p column, the first of a group, of pixel row @p row lies. */
static const uint8_t *
convert_source(const struct convert *convert, uint32_t row, uint32_t column)
{
	struct lull_pixel_group group = lull_pixel_group(convert->geometry->pixel);

	return convert->picture + (uint64_t)(row / group.rows) * convert->row_bytes +
	       (uint64_t)(column / group.columns) * group.bytes;
}

/* One body, for the compiler to make vectors of: 8 samples at once, or 32 with AVX2. */
static inline __attribute__((always_inline)) void
convert_cut_body(const uint16_t *samples, uint32_t cut_bits, uint32_t count, uint8_t *restrict out)
{
	for (uint32_t i = 0; i < count; i++) {
		uint16_t sample = (uint16_t)(samples[i] >> cut_bits);

		out[i] = (uint8_t)(sample > UINT8_MAX ? UINT8_MAX : sample);
	}
}

static void
convert_cut(const uint16_t *samples, uint32_t cut_bits, uint32_t count, uint8_t *out)
{
	convert_cut_body(samples, cut_bits, count, out);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void
convert_cut_avx2(const uint16_t *samples, uint32_t cut_bits, uint32_t count, uint8_t *out)
{
	convert_cut_body(samples, cut_bits, count, out);
}
#else
#define convert_cut_avx2 convert_cut
#endif

/* 8-bit samples of the strip and, for Bayer pixels, of the columns beside it; [0]: column begin. */
static uint8_t *
convert_samples(struct convert *convert, uint32_t row)
{
	uint32_t begin = convert->begin, end = convert->end, width = convert->geometry->width;
	uint32_t from = begin == 0 ? 0 : begin - MARGIN;
	uint32_t count = LULL_MIN(end + 1, width) - from, cut_bits = convert->cut_bits;
	uint8_t *line = convert->lines[row % LINES] + MARGIN;
	uint8_t *out = begin == 0 ? line : line - MARGIN;
	uint16_t samples[MARGIN + STRIP_COLUMNS + MARGIN];

	convert->unpack(convert_source(convert, row, from), count, samples);
	convert->cut(samples, cut_bits, count, out);
	/* mirrored, so that the colours keep their order; 1 column stands for its neighbours */
	if (begin == 0)
		line[-1] = line[width > 1 ? 1 : 0];
	if (end == width)
		line[end - begin] = end - begin > 1 ? line[end - begin - 2] : line[-(begin > 0)];
	return line;
}

static const uint8_t *
convert_line(const struct convert *convert, uint32_t row)
{
	return convert->lines[row % LINES] + MARGIN;
}

static void
convert_bayer(struct convert *convert, uint32_t row, uint8_t *rgb)
{
	uint32_t last = convert->geometry->height - 1;
	uint32_t above = row > 0 ? row - 1 : LULL_MIN(1, last);
	uint32_t below = row < last ? row + 1 : last - LULL_MIN(1, last);
	struct lull_demosaic_phase phase;
	struct lull_demosaic_rows rows;

	for (; convert->lines_end <= LULL_MAX(row, below); convert->lines_end++)
		convert_samples(convert, convert->lines_end);
	rows = (struct lull_demosaic_rows){
		.above = convert_line(convert, above),
		.here = convert_line(convert, row),
		.below = convert_line(convert, below),
	};
	lull_demosaic_phase(convert->geometry->pixel, row, &phase);
	convert->demosaic(&rows, phase, convert->end - convert->begin, rgb);
}

static void
convert_grey(struct convert *convert, uint32_t row, uint8_t *rgb)
{
	const uint8_t *line = convert_samples(convert, row);
	uint32_t count = convert->end - convert->begin;

	for (uint32_t i = 0; i < count; i++)
		rgb[CHANNELS * i] = rgb[CHANNELS * i + 1] = rgb[CHANNELS * i + 2] = line[i];
}

/* @p red and @p blue: their places among the @p step bytes of a pixel; green is [1]. */
static inline void
convert_bytes(const uint8_t *bytes, uint32_t step, uint32_t red, uint32_t blue, uint32_t count,
	      uint8_t *rgb)
{
	for (uint32_t i = 0; i < count; i++, bytes += step) {
		rgb[CHANNELS * i] = bytes[red];
		rgb[CHANNELS * i + 1] = bytes[1];
		rgb[CHANNELS * i + 2] = bytes[blue];
	}
}

/* The upper 8 of each 12 bits; the whole of the row's groups, but no more than the strip's. */
static void
convert_rgb12(const uint8_t *bytes, uint32_t count, uint8_t *rgb)
{
	for (uint32_t i = 0; i < CHANNELS * count; i++) {
		const uint8_t *pair = bytes + i / 2 * 3;

		rgb[i] = i % 2 == 0 ? pair[0] : (uint8_t)(pair[1] << 4 | pair[2] >> 4);
	}
}

/* The upper 8 of @p bits in 16; brighter ones are white. */
static void
convert_words(const uint8_t *words, uint32_t bits, uint32_t red, uint32_t count, uint8_t *rgb)
{
	for (uint32_t i = 0; i < count; i++, words += 2 * CHANNELS, rgb += CHANNELS)
		for (uint32_t channel = 0; channel < CHANNELS; channel++) {
			const uint8_t *word = words + 2 * (red == 0 ? channel : 2 - channel);
			uint32_t value = (word[0] | (uint32_t)word[1] << 8) >> (bits - 8);

			rgb[channel] = (uint8_t)LULL_MIN(value, (uint32_t)UINT8_MAX);
		}
}

/* The upper 8 of each @p bits of a string that begins with the least significant bit. */
static void
convert_bits(const uint8_t *bytes, uint32_t bits, uint32_t red, uint32_t count, uint8_t *rgb)
{
	for (uint32_t i = 0; i < CHANNELS * count; i++) {
		uint32_t place = i % CHANNELS, sample = i - place + (red == 0 ? place : 2 - place);
		uint32_t first = sample * bits + bits - 8;
		const uint8_t *at = bytes + first / 8;
		uint32_t value = at[0];

		if (first % 8 != 0)
			value |= (uint32_t)at[1] << 8;
		rgb[i] = (uint8_t)(value >> first % 8);
	}
}

static void
convert_rgb(const struct lull_pixel_format *format, const uint8_t *source, uint32_t count,
	    uint8_t *rgb)
{
	uint32_t red = format->letters[0] == 'R' ? 0 : 2;

	if (format->packing == LULL_PACKING_WORDS)
		convert_words(source, format->bits, red, count, rgb);
	else if (format->packing == LULL_PACKING_LITTLE)
		convert_bits(source, format->bits, red, count, rgb);
	else if (format->bits != 8)
		convert_rgb12(source, count, rgb);
	else if (red == 0 && format->group.bytes == CHANNELS)
		memcpy(rgb, source, (size_t)CHANNELS * count);
	else
		convert_bytes(source, format->group.bytes, red, 2 - red, count, rgb);
}

static void
convert_colour(struct convert *convert, uint32_t row, uint8_t *rgb)
{
	const struct lull_pixel_format *format = lull_pixel_format(convert->geometry->pixel);
	const uint8_t *source = convert_source(convert, row, convert->begin);
	uint32_t count = convert->end - convert->begin;

	if (format->colours == LULL_COLOURS_RGB) {
		convert_rgb(format, source, count, rgb);
		return;
	}
	lull_yuv_read(convert->geometry->pixel, source, row, count, &convert->yuv);
	lull_yuv_to_rgb(&convert->yuv, convert->matrix, LULL_LANES_BEST, count, rgb);
}

static void
convert_row(struct convert *convert, uint32_t row, uint8_t *rgb)
{
	if (convert->demosaic != NULL)
		convert_bayer(convert, row, rgb);
	else if (convert->unpack != NULL)
		convert_grey(convert, row, rgb);
	else
		convert_colour(convert, row, rgb);
}

/* Means of the squares whose first row is @p row. */
static void
convert_shrunk(struct convert *convert, uint32_t row, uint8_t *rgb)
{
	uint32_t shrink = convert->shrink, area = shrink * shrink;
	uint32_t count = (convert->end - convert->begin) / shrink;
	uint32_t inverse = UINT32_MAX / area + 1; /* exact: sum * area < 2^32 */
	uint16_t *sums = convert->sums;           /* of columns */

	memset(sums, 0, sizeof(*sums) * CHANNELS * count * shrink);
	for (uint32_t end = row + shrink; row < end; row++) {
		convert_row(convert, row, convert->row);
		for (uint32_t i = 0; i < CHANNELS * count * shrink; i++)
			sums[i] = (uint16_t)(sums[i] + convert->row[i]);
	}
	for (uint32_t i = 0; i < count; i++, sums += CHANNELS * shrink) {
		for (uint32_t channel = 0; channel < CHANNELS; channel++) {
			uint64_t sum = area / 2;

			for (uint32_t k = 0; k < shrink; k++)
				sum += sums[CHANNELS * k + channel];
			*rgb++ = (uint8_t)(sum * inverse >> 32);
		}
	}
}

static void
convert_strip(struct convert *convert, uint8_t *rgb)
{
	uint32_t shrink = convert->shrink;
	size_t rgb_row_bytes = (size_t)(convert->geometry->width / shrink) * CHANNELS;

	convert->lines_end = 0;
	rgb += (size_t)(convert->begin / shrink) * CHANNELS;
	for (uint32_t row = 0; row + shrink <= convert->geometry->height; row += shrink) {
		if (shrink == 1)
			convert_row(convert, row, rgb);
		else
			convert_shrunk(convert, row, rgb);
		rgb += rgb_row_bytes;
	}
}

/* Whoever looks has the last word. */
static enum lull_pixel_matrix
convert_matrix(const struct lull_frame_geometry *geometry, const struct lull_pixel_view *view)
{
	if (view->matrix != LULL_PIXEL_MATRIX_UNTOLD)
		return view->matrix;
	return geometry->matrix != LULL_PIXEL_MATRIX_UNTOLD ? geometry->matrix : LULL_PIXEL_BT601;
}

/* 0, -EINVAL or -ENOTSUP. */
static int
convert_init(struct convert *convert, const struct lull_frame_geometry *geometry,
	     const struct lull_pixel_view *view)
{
	uint32_t sample_bits = lull_unpack_bits(geometry->pixel);
	uint32_t bits = view->bits == 0 ? 16 : view->bits;
	uint32_t shrink = view->shrink == 0 ? 1 : view->shrink;
	struct lull_demosaic_phase phase;
	struct lull_frame_layout layout;

	if (!lull_frame_layout_init(&layout, geometry) || bits < 8 || bits > 16 ||
	    view->matrix > LULL_PIXEL_BT709 || geometry->matrix > LULL_PIXEL_BT709 ||
	    shrink > LULL_PIXEL_SHRINK_MAX || shrink > geometry->width || shrink > geometry->height)
		return -EINVAL;
	if (lull_pixel_group(geometry->pixel).bytes == 0)
		return -ENOTSUP;
	convert->geometry = geometry;
	convert->row_bytes = layout.row_bytes;
	convert->matrix = convert_matrix(geometry, view);
	convert->shrink = shrink;
	convert->unpack = lull_unpack_function(geometry->pixel, LULL_LANES_BEST);
	convert->cut = lull_lanes_wide(LULL_LANES_BEST) ? convert_cut_avx2 : convert_cut;
	convert->cut_bits = 0;
	if (sample_bits > 0)
		convert->cut_bits = (sample_bits == 16 ? bits : sample_bits) - 8;
	convert->demosaic = NULL;
	if (lull_demosaic_phase(geometry->pixel, 0, &phase))
		convert->demosaic = lull_demosaic_function(LULL_LANES_BEST);
	return 0;
}

int
lull_pixel_to_rgb(const struct lull_frame_geometry *geometry, const uint8_t *picture, uint8_t *rgb,
		  const struct lull_pixel_view *view)
{
	static const struct lull_pixel_view defaults = { .shrink = 1 };
	uint32_t step, width;
	struct convert convert;
	int error = convert_init(&convert, geometry, view == NULL ? &defaults : view);

	if (error != 0)
		return error;
	convert.picture = picture;
	/* strips of whole groups and whole squares; the last one without what fills no square */
	step = GROUP_COLUMNS_MAX * convert.shrink;
	step = STRIP_COLUMNS / step * step;
	width = geometry->width / convert.shrink * convert.shrink;
	for (convert.begin = 0; convert.begin < width; convert.begin = convert.end) {
		convert.end = LULL_MIN(convert.begin + step, width);
		convert_strip(&convert, rgb);
	}
	return 0;
}
