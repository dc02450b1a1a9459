/* SPDX-License-Identifier: BSD-3-Clause */
#include "resend.h"

#define TAIL_WAIT_NS (2 * LULL_NS_PER_MS)
#define SPANS_MAX 64

void
camera_resend_init(struct camera_resend *resend, uint32_t budget_ppm)
{
	struct lull_resend_config config = { .budget_ppm = budget_ppm };

	lull_resend_init(&resend->decide, &config);
}

static struct camera_resend_frame *
resend_frame(struct camera_resend *resend, uint64_t key)
{
	struct camera_resend_frame *frame;

	for (uint32_t i = 0; i < CAMERA_RESEND_FRAMES; i++)
		if (resend->frames[i].used && resend->frames[i].key == key)
			return &resend->frames[i];
	frame = &resend->frames[resend->next++ % CAMERA_RESEND_FRAMES];
	*frame = (struct camera_resend_frame){ .key = key, .used = true };
	return frame;
}

void
camera_resend_piece(struct camera_resend *resend, uint64_t now_ns,
		    const struct lull_frame_piece *piece)
{
	struct camera_resend_frame *frame = resend_frame(resend, piece->key);

	if (!(piece->flags & LULL_FRAME_RESENT)) {
		resend->newest = piece->key;
		frame->news_ns = now_ns;
	}
	if (piece->flags & LULL_FRAME_END)
		frame->ended = true;
	if (piece->flags & LULL_FRAME_GEOMETRY)
		resend->frame_bytes = lull_frame_bytes(&piece->geometry);
	for (uint32_t i = 0; i < piece->range_count; i++)
		frame->high =
			LULL_MAX(frame->high, piece->ranges[i].offset + piece->ranges[i].bytes);
}

/* The open end of a frame whose last packets were lost: nothing follows that would show it. */
static uint32_t
resend_tail(const struct camera_resend *resend, const struct camera_resend_frame *frame,
	    uint64_t now_ns, struct lull_frame_span *spans, uint32_t count)
{
	bool over = frame->key != resend->newest || now_ns - frame->news_ns > TAIL_WAIT_NS;

	if (frame->ended || !over || frame->high >= resend->frame_bytes || count == SPANS_MAX)
		return count;
	spans[count].offset = frame->high;
	spans[count].bytes = resend->frame_bytes - frame->high;
	return count + 1;
}

/* Holes of bytes as packet numbers: 0 is the leader. */
static void
resend_ranges(const struct camera_resend *resend, const struct lull_frame_span *spans,
	      uint32_t count, struct lull_resend_range *ranges)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t end = spans[i].offset + spans[i].bytes - 1;

		ranges[i].first = (uint32_t)(spans[i].offset / resend->data_bytes) + 1;
		ranges[i].last = (uint32_t)(end / resend->data_bytes) + 1;
	}
}

static uint64_t
resend_due(struct camera_resend *resend, struct camera_resend_frame *frame, uint64_t now_ns,
	   const struct lull_assembler *assembler,
	   bool (*ask)(void *arg, const struct lull_gvcp_resend *request), void *arg)
{
	uint32_t packets = (uint32_t)(resend->frame_bytes / resend->data_bytes) + 3;
	struct lull_resend_range ranges[SPANS_MAX], range;
	struct lull_frame_span spans[SPANS_MAX];
	uint32_t count;

	if (lull_assembler_picture(assembler, frame->key) == NULL) {
		frame->used = false;
		return UINT64_MAX;
	}
	count = lull_assembler_holes(assembler, frame->key, spans, SPANS_MAX);
	count = resend_tail(resend, frame, now_ns, spans, count);
	resend_ranges(resend, spans, count, ranges);
	while (count > 0 && lull_resend_next(&resend->decide, now_ns, frame->key, packets, ranges,
					     count, &range)) {
		struct lull_gvcp_resend request = { .block = frame->key & UINT16_MAX,
						    .first = range.first,
						    .last = range.last };

		if (!ask(arg, &request))
			break;
	}
	if (frame->ended)
		return count > 0 ? resend->decide.due_ns : UINT64_MAX;
	return LULL_MIN(count > 0 ? resend->decide.due_ns : UINT64_MAX,
			LULL_MAX(frame->news_ns + TAIL_WAIT_NS, now_ns) + LULL_NS_PER_MS);
}

uint64_t
camera_resend_turn(struct camera_resend *resend, uint64_t now_ns,
		   const struct lull_assembler *assembler,
		   bool (*ask)(void *arg, const struct lull_gvcp_resend *request), void *arg)
{
	uint64_t due_ns = UINT64_MAX;

	if (resend->data_bytes == 0 || resend->frame_bytes == 0)
		return due_ns;
	for (uint32_t i = 0; i < CAMERA_RESEND_FRAMES; i++) {
		struct camera_resend_frame *frame = &resend->frames[i];

		if (frame->used) {
			uint64_t frame_ns = resend_due(resend, frame, now_ns, assembler, ask, arg);

			due_ns = LULL_MIN(due_ns, frame_ns);
		}
	}
	return due_ns;
}
