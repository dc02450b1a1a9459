/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every packet but the last of a field carries equally many bytes, as many as fit with the line
 * headers that the least favourable cut needs: so a packet's place follows from its number.
 */
#include <errno.h>

#include "base/bytes.h"
#include "frame/packet_write.h"

#define RTP_BYTES 14 /* with the extended sequence number */
#define LINE_BYTES 6
#define LINE_MAX 0x7fff

static uint32_t
lines_worst(const struct lull_frame_rows *rows, uint32_t data_bytes)
{
	return (rows->row_bytes - rows->group_bytes + data_bytes - 1) / rows->row_bytes + 1;
}

static uint32_t
packets_of(uint64_t bytes, uint32_t data_bytes)
{
	return (uint32_t)((bytes + data_bytes - 1) / data_bytes);
}

static int
rfc4175_plan(struct lull_packet_plan *plan, const struct lull_packet_format *format)
{
	int rc = lull_packet_plan_begin(plan, format);
	const struct lull_frame_rows *rows = &plan->rows;
	uint32_t data, second;

	if (rc != 0)
		return rc;
	if (format->geometry.width > LINE_MAX + 1 || format->geometry.height > LINE_MAX + 1 ||
	    (format->interlaced && rows->row_shift != 0))
		return -ENOTSUP;
	data = format->packet_bytes - RTP_BYTES - LINE_BYTES;
	data -= data % rows->group_bytes;
	while (data > rows->group_bytes &&
	       (lines_worst(rows, data) > LULL_FRAME_RANGES_MAX ||
		RTP_BYTES + LINE_BYTES * lines_worst(rows, data) + data > format->packet_bytes))
		data -= rows->group_bytes;
	plan->data_bytes = data;
	plan->first_rows = format->interlaced ? (rows->count + 1) / 2 : rows->count;
	second = rows->count - plan->first_rows;
	plan->first_count = packets_of((uint64_t)plan->first_rows * rows->row_bytes, data);
	plan->count = plan->first_count + packets_of((uint64_t)second * rows->row_bytes, data);
	return 0;
}

/* What of a field lies in a packet. */
struct cut {
	uint64_t begin, end; /* in the bytes of the field's rows */
	uint32_t field;
	bool last;
};

static struct cut
cut_of(const struct lull_packet_plan *plan, uint32_t index)
{
	struct cut cut = { .field = index >= plan->first_count };
	uint32_t rows = cut.field ? plan->rows.count - plan->first_rows : plan->first_rows;
	uint64_t bytes = (uint64_t)rows * plan->rows.row_bytes;

	cut.begin = (uint64_t)(index - (cut.field ? plan->first_count : 0)) * plan->data_bytes;
	cut.end = LULL_MIN(cut.begin + plan->data_bytes, bytes);
	cut.last = cut.end == bytes;
	return cut;
}

static uint8_t *
put_rtp(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame, uint32_t index,
	const struct cut *cut, uint8_t *at)
{
	uint64_t number = frame->first_packet + index;

	at = lull_bytes_put(at, 0x80, 1);
	at = lull_bytes_put(at, (cut->last ? 0x80u : 0u) | (plan->format.payload_type & 0x7fu), 1);
	at = lull_bytes_put(at, number & 0xffff, 2);
	at = lull_bytes_put(at, frame->key + (cut->field ? plan->format.field_time : 0), 4);
	at = lull_bytes_put(at, plan->format.stream_id, 4);
	return lull_bytes_put(at, plan->format.extended ? (number >> 16) & 0xffff : 0, 2);
}

static size_t
rfc4175_write(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame,
	      uint32_t index, uint8_t *packet)
{
	const struct lull_frame_rows *rows = &plan->rows;
	struct cut cut = cut_of(plan, index);
	uint8_t *head = put_rtp(plan, frame, index, &cut, packet);
	uint32_t first = (uint32_t)(cut.begin / rows->row_bytes);
	uint32_t last = (uint32_t)((cut.end - 1) / rows->row_bytes);
	uint8_t *data = head + (size_t)LINE_BYTES * (last - first + 1);

	for (uint32_t i = first; i <= last; i++) {
		uint64_t row_begin = (uint64_t)i * rows->row_bytes;
		uint32_t from = (uint32_t)(LULL_MAX(cut.begin, row_begin) - row_begin);
		uint32_t to =
			(uint32_t)(LULL_MIN(cut.end, row_begin + rows->row_bytes) - row_begin);
		uint32_t row = plan->format.interlaced ? 2 * i + cut.field : i;
		uint32_t line = (plan->format.field_rows ? i : row) << rows->row_shift;
		uint32_t column = from / rows->group_bytes << rows->column_shift;

		head = lull_bytes_put(head, to - from, 2);
		head = lull_bytes_put(head, cut.field << 15 | line, 2);
		head = lull_bytes_put(head, (i < last ? 0x8000u : 0u) | column, 2);
		data = lull_bytes_copy(data, frame->data + (uint64_t)row * rows->stride + from,
				       to - from);
	}
	return (size_t)(data - packet);
}

const struct lull_packet_writer lull_rfc4175_writer = {
	.name = "rfc4175",
	.plan = rfc4175_plan,
	.write = rfc4175_write,
};
