/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry of what only this program has: its cameras. The telemetry thread. */
#include <stdlib.h>

#include <lull/rest.h>

#include "cam.h"

/* A list per column. */
struct commands_cameras {
	const char *names[LULL_CAMERA_STREAMS_MAX];
	uint64_t frames[LULL_CAMERA_STREAMS_MAX], partial[LULL_CAMERA_STREAMS_MAX];
	uint64_t latency_p50_ns[LULL_CAMERA_STREAMS_MAX], latency_p99_ns[LULL_CAMERA_STREAMS_MAX];
	uint64_t latency_max_ns[LULL_CAMERA_STREAMS_MAX];
	uint64_t fetched_p50_ns[LULL_CAMERA_STREAMS_MAX], fetched_p99_ns[LULL_CAMERA_STREAMS_MAX];
	struct lull_histogram histogram; /* the one at hand */
};

static void
commands_read(struct lull_receiver *receiver, uint32_t index, struct commands_cameras *cameras)
{
	struct lull_histogram *histogram = &cameras->histogram;
	struct lull_assembler_counters assembler;
	struct lull_camera_counters counters;

	cameras->names[index] = lull_receiver_stream_name(receiver, index);
	lull_receiver_counters(receiver, index, &counters, &assembler);
	cameras->frames[index] = lull_assembler_frames(&assembler, &cameras->partial[index]);
	lull_receiver_histogram(receiver, index, LULL_CAMERA_LATENCY, histogram);
	cameras->latency_p50_ns[index] = lull_histogram_quantile(histogram, 500000);
	cameras->latency_p99_ns[index] = lull_histogram_quantile(histogram, 990000);
	cameras->latency_max_ns[index] = histogram->max;
	lull_receiver_histogram(receiver, index, LULL_CAMERA_FETCHED, histogram);
	cameras->fetched_p50_ns[index] = lull_histogram_quantile(histogram, 500000);
	cameras->fetched_p99_ns[index] = lull_histogram_quantile(histogram, 990000);
}

static void
commands_put(struct lull_telemetry_reply *reply, const struct commands_cameras *cameras,
	     uint32_t count)
{
	lull_telemetry_put_texts(reply, "name", cameras->names, count);
	lull_telemetry_put_counts(reply, "frames", cameras->frames, count);
	lull_telemetry_put_counts(reply, "partial", cameras->partial, count);
	lull_telemetry_put_counts(reply, "latency_p50_ns", cameras->latency_p50_ns, count);
	lull_telemetry_put_counts(reply, "latency_p99_ns", cameras->latency_p99_ns, count);
	lull_telemetry_put_counts(reply, "latency_max_ns", cameras->latency_max_ns, count);
	lull_telemetry_put_counts(reply, "fetched_p50_ns", cameras->fetched_p50_ns, count);
	lull_telemetry_put_counts(reply, "fetched_p99_ns", cameras->fetched_p99_ns, count);
}

static void
cameras_reply(void *arg, const char *params, struct lull_telemetry_reply *reply)
{
	struct commands_cameras *cameras = calloc(1, sizeof(*cameras));
	const struct cam *cam = lull_live_state(arg);
	uint32_t count = lull_receiver_stream_count(cam->receiver);

	(void)params;
	if (cameras == NULL)
		return;
	for (uint32_t i = 0; i < count; i++)
		commands_read(cam->receiver, i, cameras);
	lull_telemetry_put_count(reply, "now_ns", lull_clock_ns());
	lull_telemetry_put_text(reply, "latency_from",
				lull_camera_origin_name(lull_receiver_origin(cam->receiver)));
	commands_put(reply, cameras, count);
	free(cameras);
}

const struct lull_telemetry_command cam_commands[] = {
	{ "/lull/cameras", "Frames and latencies of the cameras, a list per column. No parameters",
	  cameras_reply },
	{ NULL, NULL, NULL },
};
