/* SPDX-License-Identifier: BSD-3-Clause */
/* Every format, odd sizes, padding on both sides, pixel by pixel against slow readers. */
#include "unit/pixel/picture.h"

#include "planes.h"

#define WIDTH_MAX 9
#define HEIGHT_MAX 5
#define GUARD 0xa5
#define MARGIN 6 /* of each row of a plane, beyond what is written */

/* Planes for whole groups, as GStreamer makes room. */
struct target {
	struct lull_gst_planes planes;
	uint32_t row_bytes[LULL_GST_PLANES_MAX], rows[LULL_GST_PLANES_MAX], count;
};

static void
target_add(struct target *target, uint32_t row_bytes, uint32_t rows)
{
	uint32_t plane = target->count++, stride = (row_bytes + MARGIN + 1) / 2 * 2;

	target->row_bytes[plane] = row_bytes;
	target->rows[plane] = rows;
	target->planes.stride[plane] = stride;
	target->planes.data[plane] = malloc((size_t)stride * rows);
	assert_non_null(target->planes.data[plane]);
	memset(target->planes.data[plane], GUARD, (size_t)stride * rows);
}

static const uint8_t *
target_at(const struct target *target, uint32_t plane, uint32_t byte, uint32_t row)
{
	return target->planes.data[plane] + (size_t)row * target->planes.stride[plane] + byte;
}

static uint32_t
target_get16(const struct target *target, uint32_t plane, uint32_t x, uint32_t y)
{
	const uint8_t *at = target_at(target, plane, 2 * x, y);

	return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

/* Nothing beside the rows of the last plane was touched. */
static void
target_free(struct target *target)
{
	for (uint32_t plane = 0; plane < target->count; plane++) {
		const uint8_t *end =
			target_at(target, plane, target->row_bytes[plane], target->rows[plane] - 1);

		for (uint32_t i = 0; i < MARGIN; i++)
			assert_int_equal(end[i], GUARD);
		free(target->planes.data[plane]);
	}
}

static uint32_t
whole(uint32_t pixels, uint32_t group)
{
	return (pixels + group - 1) / group;
}

typedef void each_size(struct lull_prng *prng, enum lull_pixel pixel, uint32_t width,
		       uint32_t height, uint32_t padding);

static void
for_sizes(enum lull_pixel pixel, each_size *test)
{
	struct lull_prng prng;

	lull_prng_init(&prng, PICTURE_SEED, pixel);
	for (uint32_t width = 1; width <= WIDTH_MAX; width++)
		for (uint32_t height = 1; height <= HEIGHT_MAX; height++)
			for (uint32_t padding = 0; padding <= 7; padding += 7)
				test(&prng, pixel, width, height, padding);
}

static void
fill(struct target *target, const struct picture *picture, lull_gst_fill *with)
{
	const struct lull_pixel_view view = { .shrink = 1 };

	with(&picture->geometry, picture->bytes, &target->planes, &view);
}

/* ---- formats ---- */

static void
rows_of(struct lull_prng *prng, enum lull_pixel pixel, uint32_t width, uint32_t height,
	uint32_t padding)
{
	struct target target = { .count = 0 };
	struct picture picture;
	uint32_t bytes;

	picture_init(&picture, prng, pixel, width, height, padding);
	bytes = picture.row_bytes - padding;
	target_add(&target, bytes, whole(height, picture.group.rows));
	fill(&target, &picture, lull_gst_fill_rows);
	for (uint32_t row = 0; row < target.rows[0]; row++)
		assert_memory_equal(target_at(&target, 0, 0, row),
				    picture.bytes + (size_t)row * picture.row_bytes, bytes);
	target_free(&target);
	picture_free(&picture);
}

TEST(fill_rows__every_format)
{
	for (uint32_t pixel = LULL_PIXEL_UNKNOWN + 1; pixel < LULL_PIXEL_COUNT; pixel++)
		for_sizes((enum lull_pixel)pixel, rows_of);
}

static void
samples_of(struct lull_prng *prng, enum lull_pixel pixel, uint32_t width, uint32_t height,
	   uint32_t padding)
{
	uint32_t shift = 16 - picture_sample_bits(pixel);
	struct target grey = { .count = 0 }, bayer = { .count = 0 };
	struct picture picture;

	picture_init(&picture, prng, pixel, width, height, padding);
	target_add(&grey, 2 * width, height);
	target_add(&bayer, 2 * width, height);
	fill(&grey, &picture, lull_gst_fill_grey);
	fill(&bayer, &picture, lull_gst_fill_bayer);
	for (uint32_t y = 0; y < height; y++) {
		for (uint32_t x = 0; x < width; x++) {
			uint32_t sample = picture_sample(&picture, x, y);

			assert_int_equal(target_get16(&grey, 0, x, y),
					 LULL_MIN(sample, 0xffffu >> shift) << shift);
			assert_int_equal(target_get16(&bayer, 0, x, y), sample);
		}
	}
	target_free(&grey);
	target_free(&bayer);
	picture_free(&picture);
}

TEST(fill_samples__range)
{
	for (uint32_t pixel = 0; pixel < LULL_PIXEL_COUNT; pixel++)
		if (picture_sample_bits((enum lull_pixel)pixel) > 0)
			for_sizes((enum lull_pixel)pixel, samples_of);
}

static void
gbr12_of(struct lull_prng *prng, enum lull_pixel pixel, uint32_t width, uint32_t height,
	 uint32_t padding)
{
	static const uint32_t planes[] = { 2, 0, 1 }; /* of red, green, blue */
	struct target target = { .count = 0 };
	struct picture picture;

	picture_init(&picture, prng, pixel, width, height, padding);
	for (uint32_t i = 0; i < 3; i++)
		target_add(&target, 2 * width, height);
	fill(&target, &picture, lull_gst_fill_gbr12);
	for (uint32_t y = 0; y < height; y++) {
		for (uint32_t i = 0; i < 3 * width; i++) {
			const uint8_t *group = picture_group(&picture, i / 3, y);
			uint32_t first = 36 * (i / 3 % 2) + 12 * (i % 3);

			assert_int_equal(target_get16(&target, planes[i % 3], i / 3, y),
					 picture_bits_big(group, first, 12));
		}
	}
	target_free(&target);
	picture_free(&picture);
}

TEST(fill_gbr12__planes)
{
	for_sizes(LULL_PIXEL_RGB12_4175, gbr12_of);
}

static void
y212_of(struct lull_prng *prng, enum lull_pixel pixel, uint32_t width, uint32_t height,
	uint32_t padding)
{
	static const uint32_t places[] = { 1, 0, 3, 2 }; /* of Y0 Cb Y1 Cr on the wire */
	struct target target = { .count = 0 };
	struct picture picture;

	picture_init(&picture, prng, pixel, width, height, padding);
	target_add(&target, 8 * whole(width, 2), height);
	fill(&target, &picture, lull_gst_fill_y212);
	for (uint32_t y = 0; y < height; y++) {
		for (uint32_t i = 0; i < 4 * whole(width, 2); i++) {
			const uint8_t *group = picture_group(&picture, i / 4 * 2, y);

			assert_int_equal(target_get16(&target, 0, i, y),
					 picture_bits_big(group, 12 * places[i % 4], 12) << 4);
		}
	}
	target_free(&target);
	picture_free(&picture);
}

TEST(fill_y212__order)
{
	for_sizes(LULL_PIXEL_UYVY12_4175, y212_of);
}

static void
i420_of(struct lull_prng *prng, enum lull_pixel pixel, uint32_t width, uint32_t height,
	uint32_t padding)
{
	uint32_t columns = whole(width, 2), rows = whole(height, 2);
	struct target target = { .count = 0 };
	struct picture picture;

	picture_init(&picture, prng, pixel, width, height, padding);
	target_add(&target, 2 * columns, 2 * rows);
	target_add(&target, columns, rows);
	target_add(&target, columns, rows);
	fill(&target, &picture, lull_gst_fill_i420);
	for (uint32_t y = 0; y < height; y++) {
		for (uint32_t x = 0; x < width; x++) {
			const uint8_t *group = picture_group(&picture, x, y);

			assert_int_equal(*target_at(&target, 0, x, y), group[y % 2 * 2 + x % 2]);
			assert_int_equal(*target_at(&target, 1, x / 2, y / 2), group[4]);
			assert_int_equal(*target_at(&target, 2, x / 2, y / 2), group[5]);
		}
	}
	target_free(&target);
	picture_free(&picture);
}

TEST(fill_i420__planes)
{
	for_sizes(LULL_PIXEL_YUV420_4175, i420_of);
}

static void
y41b_of(struct lull_prng *prng, enum lull_pixel pixel, uint32_t width, uint32_t height,
	uint32_t padding)
{
	static const uint32_t places[] = { 1, 2, 4, 5 };
	uint32_t columns = whole(width, 4);
	struct target target = { .count = 0 };
	struct picture picture;

	picture_init(&picture, prng, pixel, width, height, padding);
	target_add(&target, 4 * columns, height);
	target_add(&target, columns, height);
	target_add(&target, columns, height);
	fill(&target, &picture, lull_gst_fill_y41b);
	for (uint32_t y = 0; y < height; y++) {
		for (uint32_t x = 0; x < width; x++) {
			const uint8_t *group = picture_group(&picture, x, y);

			assert_int_equal(*target_at(&target, 0, x, y), group[places[x % 4]]);
			assert_int_equal(*target_at(&target, 1, x / 4, y), group[0]);
			assert_int_equal(*target_at(&target, 2, x / 4, y), group[3]);
		}
	}
	target_free(&target);
	picture_free(&picture);
}

TEST(fill_y41b__planes)
{
	for_sizes(LULL_PIXEL_YUV411_4175, y41b_of);
}

static void
rgb_of(struct lull_prng *prng, enum lull_pixel pixel, uint32_t width, uint32_t height,
       uint32_t padding)
{
	struct target target = { .count = 0 };
	uint8_t rgb[3 * WIDTH_MAX * HEIGHT_MAX];
	struct picture picture;

	picture_init(&picture, prng, pixel, width, height, padding);
	target_add(&target, 3 * width, height);
	fill(&target, &picture, lull_gst_fill_rgb);
	assert_int_equal(lull_pixel_to_rgb(&picture.geometry, picture.bytes, rgb, NULL), 0);
	for (uint32_t y = 0; y < height; y++)
		assert_memory_equal(target_at(&target, 0, 0, y), rgb + 3 * width * y, 3 * width);
	target_free(&target);
	picture_free(&picture);
}

TEST(fill_rgb__every_format)
{
	for (uint32_t pixel = LULL_PIXEL_UNKNOWN + 1; pixel < LULL_PIXEL_COUNT; pixel++)
		for_sizes((enum lull_pixel)pixel, rgb_of);
}
