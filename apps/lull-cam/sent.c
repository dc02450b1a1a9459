/* SPDX-License-Identifier: BSD-3-Clause */
#include "sent.h"

#include <errno.h>
#include <stdlib.h>

#include <lull/rest.h>

#define STAMP_BYTES 8
#define AGE_NS_MAX (60 * LULL_NS_PER_S)

int
cam_sent_open(struct cam_sent *sent, uint32_t stream_count)
{
	sent->streams = calloc(stream_count, sizeof(sent->streams[0]));
	return sent->streams != NULL ? 0 : -ENOMEM;
}

void
cam_sent_close(struct cam_sent *sent)
{
	free(sent->streams);
	sent->streams = NULL;
}

static uint64_t
sent_stamp(const struct lull_frame *frame)
{
	uint64_t value = 0;

	for (uint32_t i = 1; i <= STAMP_BYTES; i++)
		value = value << 8 | frame->data[frame->bytes - i];
	return value;
}

void
cam_sent_take(struct cam_sent *sent, const struct lull_camera_image *image)
{
	const struct lull_frame *frame = &image->frame;
	struct cam_sent_stream *stream;
	uint64_t now_ns, stamp_ns;

	if (sent->streams == NULL || frame->reason != LULL_FRAME_COMPLETE ||
	    frame->bytes < STAMP_BYTES)
		return;
	now_ns = lull_clock_ns();
	stamp_ns = sent_stamp(frame);
	if (stamp_ns > frame->stamps.done_ns || stamp_ns + AGE_NS_MAX < frame->stamps.done_ns)
		return;
	stream = &sent->streams[image->stream];
	lull_histogram_add(&stream->done, frame->stamps.done_ns - stamp_ns, 1);
	lull_histogram_add(&stream->fetched, now_ns - stamp_ns, 1);
}
