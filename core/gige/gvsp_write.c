/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/bytes.h"
#include "gvsp.h"
#include "frame/packet_write.h"
#include "pixel/pfnc.h"

static uint32_t
header_bytes(const struct lull_packet_plan *plan)
{
	return plan->format.extended ? GVSP_HEADER_BYTES_EXTENDED : GVSP_HEADER_BYTES;
}

static int
gvsp_plan(struct lull_packet_plan *plan, const struct lull_packet_format *format)
{
	int rc = lull_packet_plan_begin(plan, format);
	uint64_t padding, count;

	if (rc != 0)
		return rc;
	padding = plan->rows.stride - plan->rows.row_bytes;
	if (lull_pfnc_code(format->geometry.pixel) == 0 || padding > UINT16_MAX)
		return -ENOTSUP;
	plan->data_bytes = format->packet_bytes - header_bytes(plan);
	count = (plan->rows.bytes + plan->data_bytes - 1) / plan->data_bytes + 2;
	if (count > 0xffffff && !format->extended)
		return -ENOTSUP;
	plan->count = (uint32_t)count;
	if (format->all_in) {
		if (header_bytes(plan) + GVSP_LEADER_BYTES + GVSP_TRAILER_BYTES + plan->rows.bytes >
		    format->packet_bytes)
			return -ENOTSUP;
		plan->count = 1;
	}
	return 0;
}

static uint8_t *
put_header(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame,
	   uint16_t status, uint8_t format, uint32_t index, uint8_t *at)
{
	if (plan->format.extended) {
		at = lull_bytes_put(at, status, 2);
		at = lull_bytes_put(at, frame->resent ? GVSP_FLAG_RESENT : 0, 2);
		at = lull_bytes_put(at, (uint32_t)(GVSP_EXTENDED | format) << 24, 4);
		at = lull_bytes_put(at, frame->key, 8);
		return lull_bytes_put(at, index, 4);
	}
	if (status == 0 && frame->resent)
		status = GVSP_STATUS_RESENT;
	at = lull_bytes_put(at, status, 2);
	at = lull_bytes_put(at, frame->key & 0xffff, 2);
	return lull_bytes_put(at, (uint32_t)format << 24 | index, 4);
}

static uint8_t *
put_leader(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame, uint8_t *at)
{
	const struct lull_frame_geometry *geometry = &plan->format.geometry;

	at = lull_bytes_put(at, GVSP_TYPE_IMAGE, 4);
	at = lull_bytes_put(at, frame->device_time, 8);
	at = lull_bytes_put(at, lull_pfnc_code(geometry->pixel), 4);
	at = lull_bytes_put(at, geometry->width, 4);
	at = lull_bytes_put(at, geometry->height, 4);
	at = lull_bytes_put(at, geometry->x_offset, 4);
	at = lull_bytes_put(at, geometry->y_offset, 4);
	at = lull_bytes_put(at, plan->rows.stride - plan->rows.row_bytes, 2);
	return lull_bytes_put(at, 0, 2);
}

static uint8_t *
put_trailer(const struct lull_packet_plan *plan, uint8_t *at)
{
	at = lull_bytes_put(at, GVSP_TYPE_IMAGE, 4);
	return lull_bytes_put(at, plan->format.geometry.height, 4);
}

static size_t
gvsp_write(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame,
	   uint32_t index, uint8_t *packet)
{
	uint64_t begin = (uint64_t)(index - 1) * plan->data_bytes;
	uint8_t *at = packet;

	if (plan->format.all_in) {
		at = put_header(plan, frame, 0, GVSP_FORMAT_ALL_IN, 0, at);
		at = put_trailer(plan, put_leader(plan, frame, at));
		at = lull_bytes_copy(at, frame->data, plan->rows.bytes);
	} else if (index == 0) {
		at = put_header(plan, frame, 0, GVSP_FORMAT_LEADER, index, at);
		at = put_leader(plan, frame, at);
	} else if (index == plan->count - 1) {
		at = put_header(plan, frame, 0, GVSP_FORMAT_TRAILER, index, at);
		at = put_trailer(plan, at);
	} else {
		at = put_header(plan, frame, 0, GVSP_FORMAT_PAYLOAD, index, at);
		at = lull_bytes_copy(at, frame->data + begin,
				     LULL_MIN(plan->data_bytes, plan->rows.bytes - begin));
	}
	return (size_t)(at - packet);
}

size_t
lull_gvsp_write_gone(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame,
		     uint32_t index, uint8_t *packet)
{
	return (size_t)(put_header(plan, frame, GVSP_STATUS_UNAVAILABLE, GVSP_FORMAT_PAYLOAD, index,
				   packet) -
			packet);
}

const struct lull_packet_writer lull_gvsp_writer = {
	.name = "gvsp",
	.plan = gvsp_plan,
	.write = gvsp_write,
};
