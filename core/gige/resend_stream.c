/* SPDX-License-Identifier: BSD-3-Clause */
#include "resend_stream.h"

#include <string.h>

#include "gvsp.h"

#define TAIL_NS (5 * LULL_NS_PER_MS) /* until somebody knows better */
#define BUDGET_PKTS 16               /* a share of a small frame is soon used up */
#define SPANS_MAX LULL_RESEND_RANGES

void
lull_resend_stream_init(struct lull_resend_stream *resend, uint32_t budget_ppm)
{
	struct lull_resend_config config = { .budget_ppm = budget_ppm, .budget_pkts = BUDGET_PKTS };

	lull_resend_init(&resend->decide, &config);
	resend->tail_ns = TAIL_NS;
}

void
lull_resend_stream_anew(struct lull_resend_stream *resend)
{
	memset(resend->frames, 0, sizeof(resend->frames));
	memset(resend->decide.frames, 0, sizeof(resend->decide.frames));
}

/* With this key, or in the place of none, or of the one whose news are oldest. */
static struct lull_resend_stream_frame *
resend_frame(struct lull_resend_stream *resend, uint64_t key)
{
	struct lull_resend_stream_frame *place = &resend->frames[0];

	for (uint32_t i = 0; i < LULL_RESEND_FRAMES; i++) {
		struct lull_resend_stream_frame *frame = &resend->frames[i];

		if (frame->used && frame->key == key)
			return frame;
		if (place->used && (!frame->used || frame->news_ns < place->news_ns))
			place = frame;
	}
	*place = (struct lull_resend_stream_frame){ .key = key, .used = true };
	return place;
}

void
lull_resend_stream_fragment(struct lull_resend_stream *resend, uint64_t now_ns,
			    const struct lull_frame_fragment *fragment)
{
	struct lull_resend_stream_frame *frame;

	if (fragment->flags & LULL_FRAME_GONE) {
		lull_resend_gone(&resend->decide, fragment->key, (uint32_t)fragment->packet);
		return;
	}
	resend->wide = (fragment->flags & LULL_FRAME_WIDE) != 0;
	frame = resend_frame(resend, fragment->key);
	if (fragment->flags & LULL_FRAME_RESENT)
		lull_resend_answered(&resend->decide, now_ns, fragment->key,
				     (uint32_t)fragment->packet);
	else
		frame->news_ns = now_ns;
	if (fragment->flags & LULL_FRAME_END)
		frame->ended = true;
	if (fragment->flags & LULL_FRAME_GEOMETRY)
		resend->frame_bytes = lull_frame_bytes(&fragment->geometry);
	for (uint32_t i = 0; i < fragment->range_count; i++)
		frame->high = LULL_MAX(frame->high,
				       fragment->ranges[i].offset + fragment->ranges[i].bytes);
}

/* The sender is at a later frame. */
static bool
resend_over(const struct lull_resend_stream *resend, const struct lull_resend_stream_frame *frame)
{
	for (uint32_t i = 0; i < LULL_RESEND_FRAMES; i++)
		if (resend->frames[i].used && resend->frames[i].key > frame->key)
			return true;
	return false;
}

/* Bytes of the picture in a full packet. */
static uint64_t
resend_data_bytes(const struct lull_resend_stream *resend)
{
	uint32_t header_bytes = resend->wide ? GVSP_HEADER_BYTES_EXTENDED : GVSP_HEADER_BYTES;

	return resend->packet_bytes > header_bytes + GVSP_IP_UDP_BYTES ?
		       resend->packet_bytes - header_bytes - GVSP_IP_UDP_BYTES :
		       0;
}

/* Holes of bytes as packet numbers: 0 is the leader. */
static void
resend_ranges(uint64_t data_bytes, const struct lull_frame_span *spans, uint32_t count,
	      struct lull_resend_range *ranges)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t end = spans[i].offset + spans[i].bytes - 1;

		ranges[i].first = (uint32_t)(spans[i].offset / data_bytes) + 1;
		ranges[i].last = (uint32_t)(end / data_bytes) + 1;
	}
}

/*
 * What the frame lacks, its open end too when nothing will follow that shows it. A sender that is
 * silent may only pause: then one packet is asked for, which tells.
 */
static uint32_t
resend_missing(const struct lull_resend_stream *resend,
	       const struct lull_resend_stream_frame *frame, uint64_t now_ns,
	       const struct lull_assembler *assembler, struct lull_resend_range *ranges)
{
	struct lull_frame_span spans[SPANS_MAX];
	uint32_t count = lull_assembler_holes(assembler, frame->key, spans, SPANS_MAX);
	bool over = resend_over(resend, frame);

	if (!frame->ended && count < SPANS_MAX && frame->high < resend->frame_bytes &&
	    (over || now_ns >= frame->news_ns + resend->tail_ns)) {
		spans[count].offset = frame->high;
		spans[count++].bytes = over ? resend->frame_bytes - frame->high : 1;
	}
	resend_ranges(resend_data_bytes(resend), spans, count, ranges);
	return count;
}

static struct lull_gvcp_resend
resend_request(const struct lull_resend_stream *resend, uint64_t key,
	       struct lull_resend_range range)
{
	return (struct lull_gvcp_resend){
		.extended = resend->wide,
		.block = resend->wide ? key : key & UINT16_MAX,
		.first = range.first,
		.last = range.last,
	};
}

static uint64_t
resend_due(struct lull_resend_stream *resend, struct lull_resend_stream_frame *frame,
	   uint64_t now_ns, const struct lull_assembler *assembler,
	   bool (*ask)(void *arg, const struct lull_gvcp_resend *request), void *arg)
{
	uint32_t packets = (uint32_t)(resend->frame_bytes / resend_data_bytes(resend)) + 3;
	struct lull_resend_range ranges[SPANS_MAX], range;
	uint64_t due_ns = UINT64_MAX;
	uint32_t count;

	if (lull_assembler_picture(assembler, frame->key) == NULL) {
		frame->used = false;
		return UINT64_MAX;
	}
	count = resend_missing(resend, frame, now_ns, assembler, ranges);
	while (count > 0 && lull_resend_next(&resend->decide, now_ns, frame->key, packets, ranges,
					     count, &range)) {
		struct lull_gvcp_resend request = resend_request(resend, frame->key, range);

		if (!ask(arg, &request))
			break;
	}
	if (count > 0)
		due_ns = resend->decide.due_ns;
	if (!frame->ended && now_ns < frame->news_ns + resend->tail_ns)
		due_ns = LULL_MIN(due_ns, frame->news_ns + resend->tail_ns);
	return due_ns;
}

uint64_t
lull_resend_stream_iterate(struct lull_resend_stream *resend, uint64_t now_ns,
			   const struct lull_assembler *assembler,
			   bool (*ask)(void *arg, const struct lull_gvcp_resend *request),
			   void *arg)
{
	uint64_t due_ns = UINT64_MAX;

	if (resend_data_bytes(resend) == 0 || resend->frame_bytes == 0)
		return due_ns;
	for (uint32_t i = 0; i < LULL_RESEND_FRAMES; i++) {
		struct lull_resend_stream_frame *frame = &resend->frames[i];

		if (frame->used) {
			uint64_t frame_ns = resend_due(resend, frame, now_ns, assembler, ask, arg);

			due_ns = LULL_MIN(due_ns, frame_ns);
		}
	}
	return due_ns;
}
