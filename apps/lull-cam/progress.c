/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <lull/rest.h>

#include "cam.h"

/* More cameras do not fit into a line. */
#define NAMED_MAX 8

static void
progress_streams(struct cam *cam, struct cam_progress *now, const struct cam_progress *last,
		 double seconds)
{
	uint64_t frames = 0, frames_last = 0;

	for (uint32_t i = 0; i < cam->spec_count; i++) {
		frames += now->frames[i];
		frames_last += last->frames[i];
	}
	fprintf(stderr, "  frames %.1f/s", (double)(frames - frames_last) / seconds);
	if (cam->spec_count > 1 && cam->spec_count <= NAMED_MAX) {
		for (uint32_t i = 0; i < cam->spec_count; i++)
			fprintf(stderr, "%s%s %.1f", i == 0 ? " (" : ", ", cam->specs[i].name,
				(double)(now->frames[i] - last->frames[i]) / seconds);
		fputs(")", stderr);
	}
	fprintf(stderr, "  partial %" PRIu64, now->partial - last->partial);
}

/* Latency since the start: a short interval would not hold a p99. */
static void
progress_latency(struct cam *cam)
{
	static struct lull_histogram latency, one; /* 16 KiB each; the main thread alone */

	lull_histogram_clear(&latency);
	for (uint32_t i = 0; i < cam->spec_count; i++) {
		lull_receiver_histogram(cam->receiver, i, LULL_CAMERA_LATENCY, &one);
		lull_histogram_merge(&latency, &one);
	}
	lull_run_latency(&latency);
	if (latency.count > 0)
		fprintf(stderr, " (from: %s)",
			lull_camera_origin_name(lull_receiver_origin(cam->receiver)));
}

void
cam_progress_print(struct cam *cam, struct cam_progress *last)
{
	struct lull_assembler_counters assembler;
	struct lull_camera_counters counters;
	struct lull_receiver_totals totals;
	struct cam_progress now;
	double seconds;

	lull_receiver_totals(cam->receiver, &totals);
	now = (struct cam_progress){
		.now_ns = lull_clock_ns(),
		.pkts = totals.pkts,
		.bytes = totals.bytes,
		.cpu_ns = totals.cpu_ns,
	};
	for (uint32_t i = 0; i < cam->spec_count; i++) {
		uint64_t partial;

		lull_receiver_counters(cam->receiver, i, &counters, &assembler);
		now.frames[i] = lull_assembler_frames(&assembler, &partial);
		now.partial += partial;
	}
	seconds = (double)(now.now_ns - last->now_ns) / LULL_NS_PER_S;
	fprintf(stderr, "%6.1f s", (double)(now.now_ns - cam->run.begin_ns) / LULL_NS_PER_S);
	progress_streams(cam, &now, last, seconds);
	fprintf(stderr, "  %.0f packets/s  %.1f MB/s  missed %" PRIu64 "  cpu %.0f %%",
		(double)(now.pkts - last->pkts) / seconds,
		(double)(now.bytes - last->bytes) / seconds / 1e6, totals.missed,
		(double)(now.cpu_ns - last->cpu_ns) / seconds / 1e7);
	progress_latency(cam);
	fputs("\n", stderr);
	*last = now;
}

void
cam_summary_print(struct cam *cam)
{
	struct lull_assembler_counters assembler;
	struct lull_camera_counters counters;
	uint64_t frames = 0, partial = 0;
	struct lull_receiver_totals totals;

	lull_receiver_totals(cam->receiver, &totals);
	for (uint32_t i = 0; i < cam->spec_count; i++) {
		uint64_t damaged;

		lull_receiver_counters(cam->receiver, i, &counters, &assembler);
		frames += lull_assembler_frames(&assembler, &damaged);
		partial += damaged;
	}
	fprintf(stderr, "lull-cam: %" PRIu64 " frames, %" PRIu64 " partial, of %" PRIu64 " packets",
		frames, partial, totals.pkts);
	if (totals.missed > 0)
		fprintf(stderr, ", missed %" PRIu64, totals.missed);
	progress_latency(cam);
	fputs("\n", stderr);
	if (totals.cut > 0)
		fprintf(stderr,
			"lull-cam: %" PRIu64 " more packets came without their end: record whole "
			"ones (tcpdump -s 0), or see the MTU of the port\n",
			totals.cut);
}
