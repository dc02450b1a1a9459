/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "case.h"
#include "camera/view/missing.h"

#define SPANS_MAX 2000

struct fixture {
	struct lull_frame frame;
	struct lull_frame_span spans[SPANS_MAX];
	struct view_missing found;
};

static struct fixture *
missing_of(enum lull_pixel pixel, uint32_t width, uint32_t height, uint32_t row_bytes)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	fixture->frame.geometry = (struct lull_frame_geometry){
		.pixel = pixel,
		.width = width,
		.height = height,
		.row_bytes = row_bytes,
	};
	fixture->frame.missing = fixture->spans;
	return fixture;
}

static void
missing_span(struct fixture *fixture, uint64_t offset, uint64_t bytes)
{
	fixture->spans[fixture->frame.missing_count++] = (struct lull_frame_span){ offset, bytes };
}

static void
missing_is(const struct fixture *fixture, uint32_t index, uint32_t x, uint32_t y, uint32_t width,
	   uint32_t height)
{
	const struct view_rectangle *rectangle = &fixture->found.rectangles[index];

	assert_true(index < fixture->found.count);
	assert_int_equal(rectangle->x, x);
	assert_int_equal(rectangle->y, y);
	assert_int_equal(rectangle->width, width);
	assert_int_equal(rectangle->height, height);
}

static void
missing_find(struct fixture *fixture, uint32_t count, bool more)
{
	view_missing_find(&fixture->frame, &fixture->found);
	assert_int_equal(fixture->found.count, count);
	assert_int_equal(fixture->found.more, more);
}

TEST(find__nothing_is_missing)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_MONO8, 10, 5, 0);

	missing_find(fixture, 0, false);
	test_free(fixture);
}

TEST(find__within_a_row)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_MONO8, 10, 5, 0);

	missing_span(fixture, 23, 4);
	missing_find(fixture, 1, false);
	missing_is(fixture, 0, 3, 2, 4, 1);
	test_free(fixture);
}

TEST(find__end_rows_and_beginning)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_MONO8, 10, 5, 0);

	missing_span(fixture, 7, 26);
	missing_find(fixture, 3, false);
	missing_is(fixture, 0, 7, 0, 3, 1);
	missing_is(fixture, 1, 0, 1, 10, 2);
	missing_is(fixture, 2, 0, 3, 3, 1);
	test_free(fixture);
}

TEST(find__all)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_BAYER_RG12P, 10, 4, 0);

	missing_span(fixture, 0, 60);
	missing_find(fixture, 1, false);
	missing_is(fixture, 0, 0, 0, 10, 4);
	test_free(fixture);
}

/* Half a byte of a group, and the group is gone; the last one of an odd row is cut. */
TEST(find__groups_cannot_be_parted)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_BAYER_RG12P, 9, 4, 0);

	missing_span(fixture, 4, 1);
	missing_span(fixture, 14, 1);
	missing_find(fixture, 2, false);
	missing_is(fixture, 0, 2, 0, 2, 1);
	missing_is(fixture, 1, 8, 0, 1, 1);
	test_free(fixture);
}

TEST(find__groups_of_several_rows)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_YUV420_4175, 8, 5, 0);

	missing_span(fixture, 18, 12); /* the end of the first two rows, the next begin */
	missing_span(fixture, 54, 6);  /* in the last row, of which there is only one */
	missing_find(fixture, 3, false);
	missing_is(fixture, 0, 6, 0, 2, 2);
	missing_is(fixture, 1, 0, 2, 2, 2);
	missing_is(fixture, 2, 2, 4, 2, 1);
	test_free(fixture);
}

TEST(find__padding_is_no_pixel)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_MONO8, 10, 5, 16);

	missing_span(fixture, 10, 6);  /* only padding */
	missing_span(fixture, 28, 6);  /* padding and the beginning of the next row */
	missing_span(fixture, 37, 10); /* up to the padding and some of it */
	missing_find(fixture, 2, false);
	missing_is(fixture, 0, 0, 2, 2, 1);
	missing_is(fixture, 1, 5, 2, 5, 1);
	test_free(fixture);
}

TEST(find__same_columns_of_rows_are_one)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_MONO8, 10, 5, 0);

	for (uint64_t row = 1; row < 4; row++)
		missing_span(fixture, 10 * row + 2, 3);
	missing_find(fixture, 1, false);
	missing_is(fixture, 0, 2, 1, 3, 3);
	test_free(fixture);
}

TEST(find__too_many)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_MONO8, 4 * SPANS_MAX, 1, 0);

	for (uint64_t i = 0; i < VIEW_MISSING_MAX; i++)
		missing_span(fixture, 4 * i, 1);
	missing_find(fixture, VIEW_MISSING_MAX, false);
	missing_span(fixture, 4 * VIEW_MISSING_MAX, 1);
	missing_find(fixture, VIEW_MISSING_MAX, true);
	test_free(fixture);
}

TEST(find__spans_that_are_too_wide)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_MONO8, 10, 5, 0);

	fixture->frame.missing_more = true;
	missing_span(fixture, 0, 10);
	missing_find(fixture, 1, true);
	test_free(fixture);
}

TEST(find__unknown_pixels)
{
	struct fixture *fixture = missing_of(LULL_PIXEL_UNKNOWN, 10, 5, 10);

	missing_find(fixture, 0, false);
	missing_span(fixture, 0, 10);
	missing_find(fixture, 0, true);
	test_free(fixture);
}
