/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What putting a frame together costs: pictures of 1920 x 1280 pixels of 12 bits from packets of
 * three sizes, in order and lightly reordered, with the map of what is missing, and a histogram of
 * the time since the frame's first packet, as a receiver keeps it. One thread; packets lie in a
 * ring in memory as a driver would leave them, and a frame's buffer comes back when six newer ones
 * were fetched, so that neither end is warm in the cache. CPU time of that thread only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/frame.h>
#include <lull/histogram.h>

#include "figure.h"

#define ROUNDS 15
#define FRAMES 40
#define WIDTH 1920
#define HEIGHT 1280
#define FRAME_BYTES (WIDTH * HEIGHT / 2 * 3)
#define RING_PKTS 1024
#define SLOT_BYTES 9216
#define BUFFERS 8
#define HELD 6          /* by the application */
#define HEADER_BYTES 62 /* of link, IP, UDP and protocol before the data */

enum order { IN_ORDER, SWAPPED, BLOCKS, ORDER_COUNT };
static const char *const order_names[] = { "in order", "1 in 32 swapped with the next",
					   "blocks of 8 backwards" };

struct bench {
	struct lull_assembler *assembler;
	uint8_t *ring; /* RING_PKTS slots of SLOT_BYTES */
	uint64_t key, pkts, now_ns;
	uint8_t *held[HELD]; /* buffers, a ring */
	uint64_t wrong;      /* frames that are not what they must be */
};
static struct lull_histogram histogram;

/* The packet of turn @p turn. */
static uint32_t
order_packet(enum order order, uint32_t turn, uint32_t count)
{
	uint32_t packet = turn;

	if (order == SWAPPED && turn % 32 < 2)
		packet = turn ^ 1;
	else if (order == BLOCKS)
		packet = turn ^ 7;
	return packet < count ? packet : turn;
}

static void
bench_frame(struct bench *bench, uint32_t packet_bytes, enum order order)
{
	uint32_t count = (FRAME_BYTES + packet_bytes - 1) / packet_bytes;
	uint64_t first_ns = bench->now_ns;
	struct lull_frame frame = { .data = NULL };
	uint8_t **held;

	for (uint32_t turn = 0; turn < count; turn++) {
		uint32_t packet = order_packet(order, turn, count);
		uint64_t offset = (uint64_t)packet * packet_bytes;
		struct lull_frame_fragment fragment;

		fragment.key = bench->key;
		fragment.packet = packet;
		fragment.flags = packet + 1 == count ? LULL_FRAME_END : 0;
		fragment.range_count = 1;
		fragment.ranges[0] = (struct lull_frame_range){
			.offset = offset,
			.data = bench->ring + bench->pkts++ % RING_PKTS * SLOT_BYTES + HEADER_BYTES,
			.bytes = (uint32_t)LULL_MIN(packet_bytes, FRAME_BYTES - offset),
		};
		bench->now_ns += 1000;
		lull_assembler_add(bench->assembler, bench->now_ns, &fragment);
		lull_histogram_add(&histogram, bench->now_ns - first_ns, 1);
	}
	if (!lull_assembler_next(bench->assembler, bench->now_ns, &frame) ||
	    frame.reason != LULL_FRAME_COMPLETE)
		bench->wrong++;
	held = &bench->held[bench->key++ % HELD];
	if (*held != NULL && lull_assembler_supply(bench->assembler, *held, NULL) != 0)
		bench->wrong++;
	*held = frame.data;
}

/* GB of pictures per second of CPU time. */
static double
bench_round(struct bench *bench, uint32_t packet_bytes, enum order order)
{
	uint64_t begin_ns = figure_cpu_ns();

	for (uint32_t i = 0; i < FRAMES; i++)
		bench_frame(bench, packet_bytes, order);
	return (double)FRAMES * FRAME_BYTES / (double)(figure_cpu_ns() - begin_ns);
}

static void
bench_row(struct bench *bench, uint32_t packet_bytes, enum order order)
{
	uint32_t count = (FRAME_BYTES + packet_bytes - 1) / packet_bytes;
	struct figure rate = { .count = 0 };

	bench_round(bench, packet_bytes, order);
	for (int round = 0; round < ROUNDS; round++)
		figure_add(&rate, bench_round(bench, packet_bytes, order));
	printf("| %u | %s | %.2f | %.2f | %.0f | %.0f |\n", packet_bytes, order_names[order],
	       figure_median(&rate), figure_least(&rate),
	       (double)FRAME_BYTES / count / figure_median(&rate),
	       figure_median(&rate) * 1e9 / FRAME_BYTES);
}

/* A bare copy from the ring into the same buffers: what no assembler can beat. */
static void
bench_copy(const struct bench *bench, uint8_t *buffers, uint32_t packet_bytes)
{
	uint32_t count = FRAME_BYTES / packet_bytes;
	struct figure rate = { .count = 0 };
	uint64_t pkts = 0;

	for (int round = 0; round <= ROUNDS; round++) {
		uint64_t begin_ns = figure_cpu_ns();

		for (uint32_t i = 0; i < FRAMES * count; i++, pkts++)
			memcpy(buffers + (uint64_t)(pkts / count % BUFFERS) * FRAME_BYTES +
				       pkts % count * packet_bytes,
			       bench->ring + pkts % RING_PKTS * SLOT_BYTES + HEADER_BYTES,
			       packet_bytes);
		if (round > 0)
			figure_add(&rate, (double)FRAMES * count * packet_bytes /
						  (double)(figure_cpu_ns() - begin_ns));
	}
	printf("| %u | bare memcpy | %.2f | %.2f | %.0f | %.0f |\n", packet_bytes,
	       figure_median(&rate), figure_least(&rate), packet_bytes / figure_median(&rate),
	       figure_median(&rate) * 1e9 / FRAME_BYTES);
}

static void *
bench_allocate(size_t size)
{
	void *memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);

	if (memory != NULL)
		memset(memory, 1, size);
	return memory;
}

int
main(void)
{
	static const uint32_t sizes[] = { 1440, 2880, 8000 };
	const struct lull_assembler_config config = {
		.buffer_bytes = FRAME_BYTES,
		.deadline_ns = 100 * LULL_NS_PER_MS,
		.geometry = { .width = WIDTH, .height = HEIGHT, .pixel = LULL_PIXEL_BAYER_RG12P },
	};
	struct bench bench = { .key = 1, .ring = bench_allocate((size_t)RING_PKTS * SLOT_BYTES) };
	uint8_t *buffers = bench_allocate((size_t)BUFFERS * FRAME_BYTES);
	void *memory = bench_allocate(lull_assembler_size(&config));

	if (bench.ring == NULL || buffers == NULL || memory == NULL ||
	    lull_assembler_init(memory, &config, &bench.assembler) != 0)
		return 1;
	for (size_t i = 0; i < BUFFERS; i++)
		lull_assembler_supply(bench.assembler, buffers + i * FRAME_BYTES, NULL);
	figure_print_machine(LULL_TREE);
	printf("| bytes | packets | GB/s | least | ns/packet | frames/s |\n"
	       "|---:|---|---:|---:|---:|---:|\n");
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (uint32_t order = 0; order < ORDER_COUNT; order++)
			bench_row(&bench, sizes[i], (enum order)order);
		bench_copy(&bench, buffers, sizes[i]);
	}
	free(memory);
	free(buffers);
	free(bench.ring);
	if (bench.wrong > 0)
		fprintf(stderr, "frame-assembly: %llu frames were not complete\n",
			(unsigned long long)bench.wrong);
	return bench.wrong > 0;
}
