/* SPDX-License-Identifier: BSD-3-Clause */
#include "pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lull/base.h>

#include "base/prng.h"
#include "pixel/rows.h"
#include "samples.h"

#define WINDOWS 1024
#define STEP_GROUPS 61
#define CAMERA_FRAMES 97 /* between the pictures of two cameras */
#define TWIST 257        /* what a count begins with later than the one before */
#define STEP_ROWS 2      /* keeps the mosaic */
#define BARS 8

static const struct {
	const char *name, *summary;
} patterns[] = {
	[PATTERN_COUNTER] = { "counter", "samples count up: every byte can be verified" },
	[PATTERN_BARS] = { "bars", "slanted bars of colour that move" },
	[PATTERN_NOISE] = { "noise", "random bytes" },
	[PATTERN_GRADIENT] = { "gradient", "a grey ramp that moves" },
};

const char *
pattern_name(uint32_t index)
{
	return index < PATTERN_COUNT ? patterns[index].name : NULL;
}

const char *
pattern_summary(uint32_t index)
{
	return index < PATTERN_COUNT ? patterns[index].summary : NULL;
}

static void
pattern_count(struct pattern *pattern, uint64_t bytes, const struct samples *samples)
{
	uint64_t count = bytes / samples->group_bytes * samples->group;
	uint32_t mask = (uint32_t)((1ULL << samples->depth) - 1);

	for (uint64_t s = 0; s < count; s++)
		samples_put(samples, pattern->bytes, s,
			    (uint32_t)(s + TWIST * (s >> samples->depth)) & mask);
}

static void
pattern_noise(struct pattern *pattern, uint64_t bytes, uint64_t seed)
{
	struct lull_prng prng;

	lull_prng_init(&prng, seed, UINT32_MAX);
	for (uint64_t i = 0; i < bytes; i++)
		pattern->bytes[i] = (uint8_t)lull_prng_u64(&prng);
}

/* ---- pictures for the eye ---- */

/* How bright one of R G B (or A Y U V) is at a place along the slant, 0..255. */
static uint32_t
pattern_light(enum pattern_kind kind, char letter, uint64_t along, uint32_t width)
{
	static const uint8_t bars[BARS][3] = { { 255, 255, 255 }, { 255, 255, 0 }, { 0, 255, 255 },
					       { 0, 255, 0 },     { 255, 0, 255 }, { 255, 0, 0 },
					       { 0, 0, 255 },     { 0, 0, 0 } };
	uint32_t place = (uint32_t)(along % width);
	const uint8_t *bar = bars[(uint64_t)place * BARS / width];
	uint32_t grey = (uint32_t)((uint64_t)place * 255 / width);
	/* luma of BT.601 in 1/256 */
	int32_t y = (77 * bar[0] + 150 * bar[1] + 29 * bar[2]) / 256;

	if (letter == 'A')
		return 255;
	if (kind == PATTERN_GRADIENT)
		return letter == 'U' || letter == 'V' ? 128 : grey;
	switch (letter) {
	case 'R':
		return bar[0];
	case 'G':
		return bar[1];
	case 'B':
		return bar[2];
	case 'U':
		return (uint32_t)(128 + (bar[2] - y) * 144 / 256);
	case 'V':
		return (uint32_t)(128 + (bar[0] - y) * 182 / 256) & 255;
	default:
		return (uint32_t)y;
	}
}

/* One row of groups. */
static void
pattern_row(uint8_t *bytes, enum pattern_kind kind, const struct samples *samples,
	    const struct lull_frame_geometry *geometry, uint64_t row)
{
	struct lull_pixel_group group = lull_pixel_group(geometry->pixel);
	uint32_t groups = (geometry->width + group.columns - 1) / group.columns;
	bool mosaic = samples->colours == LULL_COLOURS_BAYER;

	for (uint32_t i = 0; i < groups * samples->group; i++) {
		uint32_t part = i % samples->group;
		uint32_t column = i / samples->group * group.columns +
				  (uint32_t)(samples->columns[part] - '0');
		char letter = mosaic ? samples->letters[(row & 1) * 2 + (column & 1)] :
				       samples->letters[part];
		uint32_t light =
			pattern_light(kind, letter, row * group.rows + column, geometry->width);

		samples_put(samples, bytes, i,
			    samples->depth > 8 ? light << (samples->depth - 8) : light);
	}
}

/* ---- all ---- */

int
pattern_open(struct pattern *pattern, enum pattern_kind kind,
	     const struct lull_frame_geometry *geometry, uint64_t seed)
{
	struct samples samples = samples_of(geometry->pixel);
	bool shown = kind == PATTERN_BARS || kind == PATTERN_GRADIENT;
	struct lull_frame_rows rows;
	uint64_t bytes, slack;

	if (!lull_frame_rows_of(geometry, &rows))
		return -EINVAL;
	pattern->windows = shown ? LULL_MAX(geometry->width / STEP_ROWS, 1) : WINDOWS;
	pattern->step_bytes =
		(uint64_t)(shown ? STEP_ROWS * rows.stride : STEP_GROUPS * samples.group_bytes);
	slack = pattern->step_bytes * pattern->windows;
	bytes = rows.bytes + slack;
	/* whole groups and a word behind them */
	pattern->bytes = calloc(1, bytes + samples.group_bytes + 8);
	if (pattern->bytes == NULL)
		return -ENOMEM;
	if (kind == PATTERN_COUNTER)
		pattern_count(pattern, bytes + samples.group_bytes, &samples);
	else if (kind == PATTERN_NOISE)
		pattern_noise(pattern, bytes, seed);
	else
		for (uint64_t row = 0; (row + 1) * rows.stride <= bytes; row++)
			pattern_row(pattern->bytes + row * rows.stride, kind, &samples, geometry,
				    row);
	return 0;
}

void
pattern_close(struct pattern *pattern)
{
	free(pattern->bytes);
	pattern->bytes = NULL;
}

static uint8_t *
pattern_window(const struct pattern *pattern, uint64_t frame, uint32_t camera)
{
	uint64_t window = (frame + (uint64_t)CAMERA_FRAMES * camera) % pattern->windows;

	return pattern->bytes + window * pattern->step_bytes;
}

const uint8_t *
pattern_picture(const struct pattern *pattern, uint64_t frame, uint32_t camera)
{
	return pattern_window(pattern, frame, camera);
}

struct pattern_stamp
pattern_stamp_set(const struct pattern *pattern, uint64_t frame, uint32_t camera, uint64_t bytes,
		  uint64_t value)
{
	struct pattern_stamp stamp = { .place = pattern_window(pattern, frame, camera) + bytes -
						sizeof(stamp.before) };

	memcpy(stamp.before, stamp.place, sizeof(stamp.before));
	for (uint32_t i = 0; i < sizeof(stamp.before); i++)
		stamp.place[i] = (uint8_t)(value >> 8 * i);
	return stamp;
}

void
pattern_stamp_clear(const struct pattern_stamp *stamp)
{
	memcpy(stamp->place, stamp->before, sizeof(stamp->before));
}
