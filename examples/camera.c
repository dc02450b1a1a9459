/* SPDX-License-Identifier: BSD-3-Clause */
/* camera BACKEND PORT WIDTH HEIGHT PIXEL: print what becomes of an RFC 4175 camera's images. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <lull/camera.h>

int
main(int argc, char **argv)
{
	struct lull_camera_config config = { .backend = argv[1] };
	struct lull_camera_stream stream = { .protocol = "rfc4175" };
	struct lull_camera_image *image;
	struct lull_error error;
	struct lull_camera *camera;

	if (argc != 6)
		return fprintf(stderr, "usage: camera BACKEND PORT WIDTH HEIGHT PIXEL\n"), 2;
	stream.port = (uint16_t)atoi(argv[2]);
	stream.settings.geometry.width = (uint32_t)atoi(argv[3]);
	stream.settings.geometry.height = (uint32_t)atoi(argv[4]);
	stream.settings.geometry.pixel = lull_pixel_find(argv[5]);
	if (lull_camera_open(&config, &camera, &error) != 0)
		return fprintf(stderr, "%s\n", error.text), 1;
	if (lull_camera_stream_add(camera, &stream, &error) < 0 ||
	    lull_camera_start(camera, &error) != 0) {
		fprintf(stderr, "%s\n", error.text);
		return lull_camera_close(camera), 1;
	}
	while (lull_camera_get(camera, LULL_CAMERA_ANY, &image, LULL_NS_PER_S) != -ENODEV) {
		if (image == NULL)
			continue;
		printf("%llu %s, %llu bytes missing, handed over after %.1f us\n",
		       (unsigned long long)image->frame.number,
		       lull_frame_reason_name(image->frame.reason),
		       (unsigned long long)(image->frame.bytes - image->frame.bytes_there),
		       (double)image->wait_ns / 1000);
		lull_camera_put(camera, image);
	}
	return -lull_camera_close(camera);
}
