/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer send FROM TO PORT FRAMES PACKET GAP_US: pictures whose every byte is known;
 * peer receive BACKEND PORT FRAMES PACKET GOVERNOR: checks them, prints counts as JSON.
 */
#include "stand.h"

#include <stdlib.h>
#include <unistd.h>

#define WIDTH 640
#define HEIGHT 480

static void
peer_sender(struct sender *sender, const char *packet_bytes)
{
	struct lull_packet_format format;

	sender_init(sender, "gvsp", LULL_PIXEL_BAYER_RG12P, WIDTH, HEIGHT);
	format = sender->plan.format;
	format.packet_bytes = (uint32_t)atoi(packet_bytes);
	assert_int_equal(sender->writer->plan(&sender->plan, &format), 0);
}

static int
peer_send(char **argv)
{
	uint64_t frames = strtoull(argv[3], NULL, 10);
	useconds_t gap_us = (useconds_t)atoi(argv[5]);
	int fd = stand_socket(argv[0], argv[1], (uint16_t)atoi(argv[2]));
	struct sender sender;

	peer_sender(&sender, argv[4]);
	for (uint64_t number = 1; number <= frames; number++) {
		stand_send(fd, &sender, number, NULL);
		usleep(gap_us);
	}
	sender_free(&sender);
	return close(fd);
}

static void
peer_report(struct lull_camera *camera, uint64_t complete, uint64_t incomplete)
{
	struct lull_camera_totals totals;
	struct lull_histogram latency;

	lull_camera_totals(camera, &totals);
	lull_camera_histogram(camera, 0, LULL_CAMERA_LATENCY, &latency);
	printf("{\"complete\": %llu, \"incomplete\": %llu, \"pkts\": %llu, \"missed\": %llu, "
	       "\"unclaimed\": %llu, \"latency_p50_ns\": %llu, \"cpu_ns\": %llu, "
	       "\"wall_ns\": %llu}\n",
	       (unsigned long long)complete, (unsigned long long)incomplete,
	       (unsigned long long)totals.pkts, (unsigned long long)totals.missed,
	       (unsigned long long)totals.unclaimed,
	       (unsigned long long)lull_histogram_quantile(&latency, 500000),
	       (unsigned long long)totals.cpu_ns, (unsigned long long)totals.wall_ns);
}

static int
peer_receive(char **argv)
{
	uint64_t frames = strtoull(argv[2], NULL, 10), complete = 0, incomplete = 0;
	struct lull_camera_config config = { .backend = argv[0], .governor = argv[4] };
	struct lull_camera_stream stream;
	struct lull_camera *camera;
	struct sender sender;

	peer_sender(&sender, argv[3]);
	stream = stand_stream(&sender, (uint16_t)atoi(argv[1]));
	stream.deadline_ns = LULL_NS_PER_S;
	camera = stand_open(&config);
	stand_add(camera, &stream);
	stand_start(camera);
	printf("ready\n");
	fflush(stdout);
	while (complete + incomplete < frames) {
		struct lull_camera_image *image = stand_get(camera, 0);

		stand_check_pixels(image, image->frame.number + 1);
		if (image->frame.reason == LULL_FRAME_COMPLETE)
			complete++;
		else
			incomplete++;
		lull_camera_put(camera, image);
	}
	peer_report(camera, complete, incomplete);
	assert_int_equal(lull_camera_close(camera), 0);
	sender_free(&sender);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 8 && strcmp(argv[1], "send") == 0)
		return peer_send(argv + 2);
	if (argc == 7 && strcmp(argv[1], "receive") == 0)
		return peer_receive(argv + 2);
	fprintf(stderr, "see the top of tests/camera/peer.c\n");
	return 2;
}
