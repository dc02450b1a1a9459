/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What unpacking a picture to 16-bit samples and converting it to 8-bit RGB cost: pictures of
 * 1920 x 1280 pixels, rates in bytes of the picture as it came. One thread; pictures and results
 * take turns, so that neither is warm in the cache. CPU time of that thread only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/frame.h>

#include "figure.h"

#define ROUNDS 15
#define PICTURES 8 /* of each, in turn */
#define WIDTH 1920
#define HEIGHT 1280
#define PICTURE_BYTES_MAX (WIDTH * HEIGHT * 5)
#define RESULT_BYTES (WIDTH * HEIGHT * 3)

struct bench {
	uint8_t *pictures, *results; /* PICTURES of each */
	uint64_t wrong;              /* conversions that were refused */
};

static const struct row {
	enum lull_pixel pixel;
	bool samples; /* else RGB */
	struct lull_pixel_view view;
} rows[] = {
	{ LULL_PIXEL_MONO8, true, { .shrink = 1 } },
	{ LULL_PIXEL_MONO10P, true, { .shrink = 1 } },
	{ LULL_PIXEL_BAYER_RG12P, true, { .shrink = 1 } },
	{ LULL_PIXEL_RAW12_CSI, true, { .shrink = 1 } },
	{ LULL_PIXEL_MONO16, true, { .shrink = 1 } },
	{ LULL_PIXEL_MONO12P, false, { .shrink = 1 } },
	{ LULL_PIXEL_BAYER_RG8, false, { .shrink = 1 } },
	{ LULL_PIXEL_BAYER_RG12P, false, { .shrink = 1 } },
	{ LULL_PIXEL_BAYER_RG12P, false, { .shrink = 2 } },
	{ LULL_PIXEL_BAYER_RG12P, false, { .shrink = 4 } },
	{ LULL_PIXEL_BGRA8, false, { .shrink = 1 } },
	{ LULL_PIXEL_UYVY8, false, { .shrink = 1 } },
	{ LULL_PIXEL_UYVY10_4175, false, { .shrink = 1 } },
	{ LULL_PIXEL_YUV420_4175, false, { .shrink = 1 } },
};

/* GB of pictures per second of CPU time. */
static double
bench_round(struct bench *bench, const struct row *row, uint64_t bytes)
{
	const struct lull_frame_geometry geometry = { .width = WIDTH,
						      .height = HEIGHT,
						      .pixel = row->pixel };
	uint64_t begin_ns = figure_cpu_ns();

	for (size_t i = 0; i < PICTURES; i++) {
		const uint8_t *picture = bench->pictures + i * PICTURE_BYTES_MAX;
		uint8_t *result = bench->results + i * RESULT_BYTES;
		int error;

		if (row->samples)
			error = lull_pixel_unpack(&geometry, picture, (uint16_t *)(void *)result);
		else
			error = lull_pixel_to_rgb(&geometry, picture, result, &row->view);
		bench->wrong += error != 0;
	}
	return (double)(PICTURES * bytes) / (double)(figure_cpu_ns() - begin_ns);
}

static void
bench_row(struct bench *bench, const struct row *row)
{
	const struct lull_frame_geometry geometry = { .width = WIDTH,
						      .height = HEIGHT,
						      .pixel = row->pixel };
	uint64_t bytes = lull_frame_bytes(&geometry);
	struct figure rate = { .count = 0 };

	bench_round(bench, row, bytes);
	for (int round = 0; round < ROUNDS; round++)
		figure_add(&rate, bench_round(bench, row, bytes));
	printf("| %s | %s | %u | %.2f | %.2f | %.0f |\n", lull_pixel_name(row->pixel),
	       row->samples ? "samples" : "RGB", (unsigned)row->view.shrink, figure_median(&rate),
	       figure_least(&rate), figure_median(&rate) * 1e9 / (double)bytes);
}

int
main(void)
{
	struct bench bench = { .pictures = malloc((size_t)PICTURES * PICTURE_BYTES_MAX),
			       .results = malloc((size_t)PICTURES * RESULT_BYTES) };

	if (bench.pictures == NULL || bench.results == NULL)
		return 1;
	for (size_t i = 0; i < (size_t)PICTURES * PICTURE_BYTES_MAX; i++)
		bench.pictures[i] = (uint8_t)(i * 2654435761u >> 24);
	memset(bench.results, 1, (size_t)PICTURES * RESULT_BYTES);
	figure_print_machine(LULL_TREE);
	printf("| pixels | to | shrink | GB/s | least | frames/s |\n"
	       "|---|---|---:|---:|---:|---:|\n");
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		bench_row(&bench, &rows[i]);
	free(bench.results);
	free(bench.pictures);
	if (bench.wrong > 0)
		fprintf(stderr, "frame-convert: %llu pictures were refused\n",
			(unsigned long long)bench.wrong);
	return bench.wrong > 0;
}
