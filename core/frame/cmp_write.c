/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame is its start, its lines (several in a packet, or one in segments) and its end. */
#include <errno.h>

#include "base/bytes.h"
#include "frame/cmp.h"
#include "frame/packet_write.h"

#define LINE_BYTES (CMP_MESSAGE_BYTES + CMP_CSI2_BYTES)

static int
cmp_plan(struct lull_packet_plan *plan, const struct lull_packet_format *format)
{
	int rc = lull_packet_plan_begin(plan, format);
	uint32_t room = format->packet_bytes - CMP_HEADER_BYTES;
	uint64_t count;

	if (rc != 0)
		return rc;
	if (plan->rows.row_shift != 0 || plan->rows.row_bytes > UINT16_MAX ||
	    plan->rows.count >= UINT16_MAX)
		return -ENOTSUP;
	if (format->data_type == 0)
		plan->format.data_type = lull_csi2_type(format->geometry.pixel);
	if (plan->format.data_type < CSI2_IMAGE_FIRST || plan->format.data_type > CSI2_IMAGE_LAST)
		return -ENOTSUP;
	plan->lines = room / (LINE_BYTES + plan->rows.row_bytes);
	if (plan->lines == 0) {
		plan->data_bytes = room - CMP_MESSAGE_BYTES;
		plan->parts = (CMP_CSI2_BYTES + plan->rows.row_bytes + plan->data_bytes - 1) /
			      plan->data_bytes;
		count = (uint64_t)plan->rows.count * plan->parts;
	} else
		count = (plan->rows.count + plan->lines - 1) / plan->lines;
	plan->count = (uint32_t)count + 2;
	return 0;
}

static uint8_t *
put_header(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame,
	   uint32_t index, uint8_t *at)
{
	at = lull_bytes_put(at, CMP_VERSION << 8, 2);
	at = lull_bytes_put(at, plan->format.stream_id >> 8, 2);
	at = lull_bytes_put(at, CMP_TYPE_DATA, 1);
	at = lull_bytes_put(at, plan->format.stream_id & 0xff, 1);
	return lull_bytes_put(at, (frame->first_packet + index) & 0xffff, 2);
}

static uint8_t *
put_message(const struct lull_packet_frame *frame, unsigned int segment, uint32_t bytes,
	    uint8_t *at)
{
	at = lull_bytes_put(at, frame->device_time, 8);
	at = lull_bytes_put(at, 1, 4); /* interface */
	at = lull_bytes_put(at, segment << CMP_SEGMENT_SHIFT, 1);
	at = lull_bytes_put(at, CMP_PAYLOAD_CSI2, 1);
	return lull_bytes_put(at, bytes, 2);
}

static uint8_t *
put_csi2(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame, uint8_t type,
	 uint32_t line, uint32_t words, uint8_t *at)
{
	at = lull_bytes_put(at, CMP_CSI2_FRAMES_COUNTED | CMP_CSI2_LINES_COUNTED, 2);
	at = lull_bytes_put(at, 0, 2);
	at = lull_bytes_put(at, frame->key & 0xffff, 2);
	at = lull_bytes_put(at, line, 2);
	at = lull_bytes_put(at, type, 1);
	at = lull_bytes_put(at, plan->format.virtual_channel, 1);
	at = lull_bytes_put(at, 0, 4); /* error correction and checksum are not given */
	return lull_bytes_put(at, words, 2);
}

/* Part @p part of a line: the first holds the header of CSI-2 as well. */
static uint8_t *
put_part(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame, uint32_t row,
	 uint32_t part, uint8_t *at)
{
	uint32_t total = CMP_CSI2_BYTES + plan->rows.row_bytes;
	uint32_t begin = part * plan->data_bytes;
	uint32_t end = LULL_MIN(begin + plan->data_bytes, total);
	const uint8_t *line = frame->data + (uint64_t)row * plan->rows.stride;
	unsigned int segment = part == 0               ? CMP_SEGMENT_FIRST :
			       part + 1 == plan->parts ? CMP_SEGMENT_LAST :
							 CMP_SEGMENT_MIDDLE;

	at = put_message(frame, segment, end - begin, at);
	if (part == 0) {
		at = put_csi2(plan, frame, plan->format.data_type, row + 1, plan->rows.row_bytes,
			      at);
		begin = CMP_CSI2_BYTES;
	}
	return lull_bytes_copy(at, line + begin - CMP_CSI2_BYTES, end - begin);
}

static size_t
cmp_write(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame,
	  uint32_t index, uint8_t *packet)
{
	uint8_t *at = put_header(plan, frame, index, packet);
	bool end = index == plan->count - 1;
	uint32_t row;

	if (index == 0 || end) {
		at = put_message(frame, CMP_SEGMENT_NONE, CMP_CSI2_BYTES, at);
		at = put_csi2(plan, frame, end ? CSI2_FRAME_END : CSI2_FRAME_START, 0,
			      (uint16_t)frame->key, at);
		return (size_t)(at - packet);
	}
	if (plan->lines == 0) {
		row = (index - 1) / plan->parts;
		at = put_part(plan, frame, row, (index - 1) % plan->parts, at);
		return (size_t)(at - packet);
	}
	row = (index - 1) * plan->lines;
	for (uint32_t i = 0; i < plan->lines && row < plan->rows.count; i++, row++) {
		at = put_message(frame, CMP_SEGMENT_NONE, CMP_CSI2_BYTES + plan->rows.row_bytes,
				 at);
		at = put_csi2(plan, frame, plan->format.data_type, row + 1, plan->rows.row_bytes,
			      at);
		at = lull_bytes_copy(at, frame->data + (uint64_t)row * plan->rows.stride,
				     plan->rows.row_bytes);
	}
	return (size_t)(at - packet);
}

const struct lull_packet_writer lull_cmp_writer = {
	.name = "cmp",
	.plan = cmp_plan,
	.write = cmp_write,
};
