/* SPDX-License-Identifier: BSD-3-Clause */
/* All packets are of one size: the last of a line or of a frame is filled up with zeros. */
#include <errno.h>

#include "base/bytes.h"
#include "frame/packet_write.h"
#include "frame/rvf.h"

#define PARTS_MAX 256

static int
rvf_plan(struct lull_packet_plan *plan, const struct lull_packet_format *format)
{
	int rc = lull_packet_plan_begin(plan, format);
	uint32_t room = format->packet_bytes - RVF_HEADER_BYTES;
	const struct lull_frame_rows *rows = &plan->rows;

	if (rc != 0)
		return rc;
	/* Padding between rows has no field in the header. */
	if (rows->row_shift != 0 || rows->stride != rows->row_bytes)
		return -ENOTSUP;
	plan->lines = LULL_MIN(room / rows->row_bytes, RVF_LINES_MAX);
	if (plan->lines == 0) {
		plan->data_bytes = room;
		plan->parts = (rows->row_bytes + room - 1) / room;
		if (plan->parts > PARTS_MAX)
			return -ENOTSUP;
		plan->count = rows->count * plan->parts;
	} else {
		plan->data_bytes = plan->lines * rows->row_bytes;
		plan->count = (rows->count + plan->lines - 1) / plan->lines;
	}
	return 0;
}

struct spot {
	uint32_t row, part;
	uint64_t begin; /* in the picture */
	uint32_t bytes;
};

static struct spot
spot_of(const struct lull_packet_plan *plan, uint32_t index)
{
	const struct lull_frame_rows *rows = &plan->rows;
	struct spot spot = { .row = index * plan->lines };

	if (plan->lines == 0) {
		spot.row = index / plan->parts;
		spot.part = index % plan->parts;
		spot.begin = (uint64_t)spot.row * rows->row_bytes + spot.part * plan->data_bytes;
		spot.bytes =
			LULL_MIN(plan->data_bytes, rows->row_bytes - spot.part * plan->data_bytes);
	} else {
		spot.begin = (uint64_t)spot.row * rows->row_bytes;
		spot.bytes = (uint32_t)LULL_MIN(plan->data_bytes, rows->bytes - spot.begin);
	}
	return spot;
}

static size_t
rvf_write(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame,
	  uint32_t index, uint8_t *packet)
{
	struct spot spot = spot_of(plan, index);
	struct rvf_pixel pixel = lull_rvf_code(plan->format.geometry.pixel);
	bool stamped = spot.part == 0 && (plan->lines == 0 || index == 0);
	bool end = index == plan->count - 1;
	uint8_t *at = packet;

	at = lull_bytes_put(at, RVF_SUBTYPE, 1);
	at = lull_bytes_put(at, 0x80u | stamped, 1);
	at = lull_bytes_put(at, (frame->first_packet + index) & 0xff, 1);
	at = lull_bytes_put(at, 0, 1);
	at = lull_bytes_put(at, plan->format.stream_id, 8);
	at = lull_bytes_put(at, stamped ? frame->device_time : 0, 4);
	at = lull_bytes_put(at, plan->format.geometry.width, 2);
	at = lull_bytes_put(at, plan->format.geometry.height, 2);
	at = lull_bytes_put(at, plan->data_bytes + RVF_HEADER_BYTES - RVF_DATA_AT, 2);
	at = lull_bytes_put(at, 0x80u | (end ? 0x10u : 0u), 1);
	at = lull_bytes_put(at, 0, 2);
	at = lull_bytes_put(at, (uint32_t)pixel.depth << 4 | pixel.format, 1);
	at = lull_bytes_put(at, 0xff, 1); /* frame rate: not told */
	at = lull_bytes_put(at, (uint32_t)pixel.colour << 4 | plan->lines, 1);
	at = lull_bytes_put(at, 0, 1);
	at = lull_bytes_put(at, spot.part, 1);
	at = lull_bytes_put(at, spot.row + 1, 2);
	at = lull_bytes_copy(at, frame->data + spot.begin, spot.bytes);
	at = lull_bytes_fill(at, plan->data_bytes - spot.bytes);
	return (size_t)(at - packet);
}

const struct lull_packet_writer lull_rvf_writer = {
	.name = "rvf",
	.plan = rvf_plan,
	.write = rvf_write,
};
