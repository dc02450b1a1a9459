/* SPDX-License-Identifier: BSD-3-Clause */
/* camera BACKEND PORT WIDTH HEIGHT PIXEL: print what becomes of an RFC 4175 camera's images. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <lull/camera.h>

int
main(int argc, char **argv)
{
	struct lull_receiver_config config = { .backend = argv[1] };
	struct lull_camera_stream stream = { .protocol = "rfc4175" };
	struct lull_camera_image *image;
	struct lull_error error;
	struct lull_receiver *receiver;

	if (argc != 6)
		return fprintf(stderr, "usage: camera BACKEND PORT WIDTH HEIGHT PIXEL\n"), 2;
	stream.port = (uint16_t)atoi(argv[2]);
	stream.settings.geometry.width = (uint32_t)atoi(argv[3]);
	stream.settings.geometry.height = (uint32_t)atoi(argv[4]);
	stream.settings.geometry.pixel = lull_pixel_find(argv[5]);
	if (lull_receiver_open(&config, &receiver, &error) != 0)
		return fprintf(stderr, "%s\n", error.text), 1;
	if (lull_receiver_stream_add(receiver, &stream, &error) < 0 ||
	    lull_receiver_start(receiver, &error) != 0) {
		fprintf(stderr, "%s\n", error.text);
		return lull_receiver_close(receiver), 1;
	}
	while (lull_receiver_get(receiver, LULL_CAMERA_ANY, &image, LULL_NS_PER_S) != -ENODEV) {
		if (image == NULL)
			continue;
		printf("%llu %s, %llu bytes missing, latency %.1f us (%s)\n",
		       (unsigned long long)image->frame.number,
		       lull_frame_reason_name(image->frame.reason),
		       (unsigned long long)(image->frame.bytes - image->frame.bytes_there),
		       (double)image->latency_ns / 1000,
		       lull_camera_origin_name(image->latency_from));
		lull_receiver_put(receiver, image);
	}
	return -lull_receiver_close(receiver);
}
