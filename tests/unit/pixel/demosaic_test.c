/* SPDX-License-Identifier: BSD-3-Clause */
#include "picture.h"

#include "pixel/demosaic.h"

#define COUNT_MAX 70

/* What a row begins with, against the letters of the format's name. */
TEST(phase__as_named)
{
	for (uint32_t i = 0; i < LULL_PIXEL_COUNT; i++) {
		enum lull_pixel pixel = (enum lull_pixel)i;

		for (uint32_t row = 0; row < 4; row++) {
			char first = picture_colour(pixel, 0, row);
			char second = picture_colour(pixel, 1, row);
			struct lull_demosaic_phase phase;

			assert_int_equal(lull_demosaic_phase(pixel, row, &phase), first != 0);
			if (first == 0)
				continue;
			assert_int_equal(phase.green, first == 'g');
			assert_int_equal(phase.blue, first == 'b' || second == 'b');
		}
	}
}

/* The pixel itself when it has the colour; else the mean of all around it that do. */
static uint32_t
mean_around(const uint8_t *const rows[3], enum lull_pixel pixel, uint32_t row, uint32_t x,
	    char colour)
{
	uint32_t sum = 0, count = 0;

	if (picture_colour(pixel, x, row) == colour)
		return rows[1][x];
	for (uint32_t y = 0; y < 3; y++) {
		for (uint32_t k = 0; k < 3; k++) {
			/* two more: x - 1 of the first column has the colour of x + 1 */
			if (picture_colour(pixel, x + k + 1, row + y + 1) != colour)
				continue;
			sum += rows[y][(ptrdiff_t)x + k - 1];
			count++;
		}
	}
	assert_true(count == 2 || count == 4);
	return (sum + count / 2) / count;
}

/* Every way there is, all orders, every rest of a vector. */
TEST(row__mean_of_neighbours)
{
	static const enum lull_pixel pixels[] = { LULL_PIXEL_BAYER_RG8, LULL_PIXEL_BAYER_GR8,
						  LULL_PIXEL_BAYER_GB8, LULL_PIXEL_BAYER_BG8 };
	struct lull_prng prng;

	lull_prng_init(&prng, PICTURE_SEED, 2);
	for (uint32_t trial = 0; trial < 3 * 4 * 2 * COUNT_MAX; trial++) {
		lull_demosaic_row *demosaic = lull_demosaic_function((enum lull_lanes)(trial % 3));
		enum lull_pixel pixel = pixels[trial / 3 % 4];
		uint32_t row = trial / 12 % 2, count = 1 + trial / 24;
		uint8_t *samples = malloc(3 * (count + 2)), *rgb = malloc(3 * count);
		const uint8_t *const rows[] = { samples + 1, samples + count + 3,
						samples + 2 * count + 5 };
		struct lull_demosaic_phase phase;

		assert_true(samples != NULL && rgb != NULL);
		for (uint32_t i = 0; i < 3 * (count + 2); i++)
			samples[i] = (uint8_t)lull_prng_u64(&prng);
		assert_true(lull_demosaic_phase(pixel, row, &phase));
		if (demosaic != NULL) {
			demosaic(&(struct lull_demosaic_rows){ rows[0], rows[1], rows[2] }, phase,
				 count, rgb);
			for (uint32_t i = 0; i < 3 * count; i++)
				assert_int_equal(
					rgb[i], mean_around(rows, pixel, row, i / 3, "rgb"[i % 3]));
		}
		free(rgb);
		free(samples);
	}
}

TEST(function__of_this_cpu)
{
	assert_non_null(lull_demosaic_function(LULL_LANES_BEST));
	assert_non_null(lull_demosaic_function(LULL_LANES_SCALAR));
	assert_int_equal(lull_demosaic_function(LULL_LANES_AVX2) != NULL,
			 lull_lanes_wide(LULL_LANES_AVX2));
}
