/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranges.h"

#include <string.h>

#include <lull/base.h>

#include "frame/cmp.h"

static void
ranges_add(struct ranges *ranges, uint64_t offset, uint64_t bytes)
{
	struct lull_frame_span *last = ranges->count > 0 ? &ranges->list[ranges->count - 1] : NULL;

	if (bytes == 0)
		return;
	if (last != NULL && last->offset + last->bytes == offset)
		last->bytes += bytes;
	else if (ranges->count < RANGES_MAX)
		ranges->list[ranges->count++] = (struct lull_frame_span){ offset, bytes };
}

/* Rows from @p first, of which there are @p count at most. */
static void
ranges_rows(const struct lull_packet_plan *plan, uint64_t first, uint32_t count,
	    struct ranges *ranges)
{
	for (uint64_t row = first; row < LULL_MIN(first + count, plan->rows.count); row++)
		ranges_add(ranges, row * plan->rows.stride, plan->rows.row_bytes);
}

static void
ranges_gvsp(const struct lull_packet_plan *plan, uint32_t index, struct ranges *ranges)
{
	uint64_t begin = (uint64_t)(index - 1) * plan->data_bytes;

	if (plan->format.all_in)
		ranges_add(ranges, 0, plan->rows.bytes);
	else if (index > 0 && index < plan->count - 1)
		ranges_add(ranges, begin, LULL_MIN(plan->data_bytes, plan->rows.bytes - begin));
}

static void
ranges_rfc4175(const struct lull_packet_plan *plan, uint32_t index, struct ranges *ranges)
{
	uint32_t field = index >= plan->first_count;
	uint32_t rows = field ? plan->rows.count - plan->first_rows : plan->first_rows;
	uint64_t at = (uint64_t)(index - (field ? plan->first_count : 0)) * plan->data_bytes;
	uint64_t end = LULL_MIN(at + plan->data_bytes, (uint64_t)rows * plan->rows.row_bytes);

	while (at < end) {
		uint64_t row = at / plan->rows.row_bytes, column = at % plan->rows.row_bytes;
		uint64_t bytes = LULL_MIN(end - at, plan->rows.row_bytes - column);

		if (plan->format.interlaced)
			row = 2 * row + field;
		ranges_add(ranges, row * plan->rows.stride + column, bytes);
		at += bytes;
	}
}

static void
ranges_cmp(const struct lull_packet_plan *plan, uint32_t index, struct ranges *ranges)
{
	uint64_t row, begin, end;

	if (index == 0 || index == plan->count - 1)
		return;
	if (plan->lines > 0) {
		ranges_rows(plan, (uint64_t)(index - 1) * plan->lines, plan->lines, ranges);
		return;
	}
	row = (index - 1) / plan->parts;
	begin = (uint64_t)((index - 1) % plan->parts) * plan->data_bytes;
	end = LULL_MIN(begin + plan->data_bytes, CMP_CSI2_BYTES + plan->rows.row_bytes);
	begin = LULL_MAX(begin, CMP_CSI2_BYTES);
	ranges_add(ranges, row * plan->rows.stride + begin - CMP_CSI2_BYTES, end - begin);
}

static void
ranges_rvf(const struct lull_packet_plan *plan, uint32_t index, struct ranges *ranges)
{
	uint64_t row, begin;

	if (plan->lines > 0) {
		ranges_rows(plan, (uint64_t)index * plan->lines, plan->lines, ranges);
		return;
	}
	row = index / plan->parts;
	begin = (uint64_t)(index % plan->parts) * plan->data_bytes;
	ranges_add(ranges, row * plan->rows.stride + begin,
		   LULL_MIN(plan->data_bytes, plan->rows.row_bytes - begin));
}

void
ranges_of(const struct lull_packet_plan *plan, const char *protocol, uint32_t index,
	  struct ranges *ranges)
{
	ranges->count = 0;
	if (strcmp(protocol, "gvsp") == 0)
		ranges_gvsp(plan, index, ranges);
	else if (strcmp(protocol, "rfc4175") == 0)
		ranges_rfc4175(plan, index, ranges);
	else if (strcmp(protocol, "cmp") == 0)
		ranges_cmp(plan, index, ranges);
	else
		ranges_rvf(plan, index, ranges);
}
