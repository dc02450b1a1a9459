/* SPDX-License-Identifier: BSD-3-Clause */
#include "assembler.h"

#define ROW(member, member_unit, text)                                                             \
	LULL_COUNTER_ROW(struct lull_assembler_counters, member, member_unit, text)
#define FRAMES_ROW(reason, row_name, text)                                                         \
	{                                                                                          \
		row_name, "frames", text,                                                          \
			offsetof(struct lull_assembler_counters, frames) +                         \
				(reason) * sizeof(uint64_t)                                        \
	}

const struct lull_counter_info lull_assembler_counter_table[] = {
	ROW(fragments, "packets", "fragments: packets with data of a frame"),
	ROW(used, "packets", "fragments with new bytes"),
	ROW(duplicates, "packets", "fragments without new bytes for an open frame"),
	ROW(late, "packets", "fragments of frames that have ended"),
	ROW(reordered, "packets", "used fragments with a number below an earlier one"),
	ROW(resent, "packets", "resent fragments of open frames"),
	ROW(gone, "packets", "packets that report data as no longer available"),
	ROW(no_buffer, "packets", "fragments of frames without a buffer"),
	ROW(oversize, "packets", "fragments of pictures larger than a buffer"),
	ROW(outside, "packets",
	    "fragments with bytes outside the picture, or of an impossible picture"),
	ROW(unsized, "packets", "fragments of frames whose geometry is not known"),
	ROW(stopped, "packets", "fragments that came after fail-stop"),
	ROW(bytes, "bytes", "pixel bytes, each counted once"),
	FRAMES_ROW(LULL_FRAME_COMPLETE, "frames_complete", "frames delivered complete"),
	FRAMES_ROW(LULL_FRAME_DEADLINE, "frames_deadline",
		   "frames delivered partial at their deadline"),
	FRAMES_ROW(LULL_FRAME_SUPERSEDED, "frames_superseded",
		   "frames delivered partial because of newer frames"),
	FRAMES_ROW(LULL_FRAME_RESTART, "frames_restart",
		   "frames delivered partial because the sender restarted"),
	FRAMES_ROW(LULL_FRAME_FLUSH, "frames_flush", "frames delivered partial at the end"),
	ROW(frames_dropped, "frames", "frames dropped because no buffer was free"),
	ROW(frames_replaced, "frames", "frames taken back for newer ones before they were fetched"),
	ROW(restarts, "1", "restarts of the sender"),
	ROW(spans_full, "frames", "frames whose map of missing ranges was full"),
	ROW(frames_oversize, "frames", "frames dropped because they are larger than a buffer"),
	ROW(frames_unsized, "frames",
	    "frames dropped because the leader was lost and the size was not that of the frame "
	    "before"),
	{ NULL, NULL, NULL, 0 },
};

const char *
lull_frame_reason_name(enum lull_frame_reason reason)
{
	static const char *const names[] = { "complete", "deadline", "superseded", "restart",
					     "flush" };
	uint32_t index = (uint32_t)reason;

	return index < LULL_FRAME_REASON_COUNT ? names[index] : "unknown";
}

uint32_t
lull_open_frame_holes(const struct lull_open_frame *frame, uint64_t limit, bool by_rows,
		      struct lull_frame_span *spans, uint32_t count_max)
{
	const struct lull_frame_layout *layout = &frame->layout;
	const struct lull_spans_node *nodes = frame->spans.nodes;
	uint32_t count = 0;

	by_rows = by_rows && lull_frame_padded(layout);
	for (uint32_t node = lull_spans_first(&frame->spans); node != 0;
	     node = nodes[node].next[0]) {
		uint64_t begin = nodes[node].begin, end = LULL_MIN(nodes[node].end, limit);

		while (begin < end) {
			uint64_t offset = lull_frame_offset(layout, begin), stop = end;

			if (by_rows)
				stop = LULL_MIN(end, (lull_frame_rows(layout, begin) + 1) *
							     layout->used_bytes);
			if (count < count_max) {
				spans[count].offset = offset;
				spans[count].bytes = lull_frame_offset_end(layout, stop) - offset;
			}
			if (count++ == count_max)
				return count;
			begin = stop;
		}
	}
	return count;
}

static const struct lull_open_frame *
open_find(const struct lull_assembler *assembler, uint64_t key)
{
	for (uint32_t i = 0; i < assembler->open_count; i++)
		if (assembler->open[assembler->sorted[i]].key == key)
			return &assembler->open[assembler->sorted[i]];
	return NULL;
}

uint32_t
lull_assembler_holes(const struct lull_assembler *assembler, uint64_t key,
		     struct lull_frame_span *spans, uint32_t count_max)
{
	const struct lull_open_frame *frame = open_find(assembler, key);
	uint64_t limit;
	uint32_t count;

	if (frame == NULL)
		return 0;
	limit = frame->flags & LULL_FRAME_END ? frame->layout.pixel_bytes : frame->high;
	count = lull_open_frame_holes(frame, limit, true, spans, count_max);
	return LULL_MIN(count, count_max);
}

uint32_t
lull_assembler_rows(const struct lull_assembler *assembler, uint64_t *key)
{
	const struct lull_open_frame *frame;
	uint64_t place;
	uint32_t first, rows;

	if (assembler->open_count == 0)
		return 0;
	frame = &assembler->open[assembler->sorted[assembler->open_count - 1]];
	first = lull_spans_first(&frame->spans);
	place = first != 0 ? frame->spans.nodes[first].begin : frame->layout.pixel_bytes;
	rows = (uint32_t)lull_frame_rows(&frame->layout, place) * frame->layout.group_rows;
	*key = frame->key;
	return LULL_MIN(rows, frame->geometry.height);
}

void
lull_assembler_resume(struct lull_assembler *assembler)
{
	assembler->stopped = false;
}

bool
lull_assembler_stopped(const struct lull_assembler *assembler)
{
	return assembler->stopped;
}

const struct lull_assembler_counters *
lull_assembler_counters(const struct lull_assembler *assembler)
{
	return &assembler->counters;
}

uint64_t
lull_assembler_frames(const struct lull_assembler_counters *counters, uint64_t *partial)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < LULL_FRAME_REASON_COUNT; i++)
		sum += counters->frames[i];
	*partial = sum - counters->frames[LULL_FRAME_COMPLETE];
	return sum;
}

const uint8_t *
lull_assembler_picture(const struct lull_assembler *assembler, uint64_t key)
{
	const struct lull_open_frame *frame = open_find(assembler, key);

	return frame != NULL ? frame->data : NULL;
}

uint32_t
lull_assembler_buffers(const struct lull_assembler *assembler)
{
	return assembler->ready.count;
}
