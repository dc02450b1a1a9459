/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "assembler.h"

static uint64_t
time_after(uint64_t begin_ns, uint64_t span_ns)
{
	return span_ns == 0 || begin_ns > UINT64_MAX - span_ns ? UINT64_MAX : begin_ns + span_ns;
}

/* One that is complete and waits for older ones is not silent: all has been said. */
uint64_t
lull_open_frame_due_ns(const struct lull_assembler *assembler, const struct lull_open_frame *frame)
{
	uint64_t due_ns = time_after(frame->stamps.first_ns, assembler->config.deadline_ns);

	if (!lull_open_frame_whole(frame))
		due_ns = LULL_MIN(due_ns, time_after(frame->news_ns, assembler->config.silence_ns));
	return due_ns;
}

uint64_t
lull_assembler_deadline_ns(const struct lull_assembler *assembler)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = 0; i < assembler->open_count; i++) {
		const struct lull_open_frame *frame = &assembler->open[assembler->sorted[i]];
		uint64_t frame_ns = lull_open_frame_due_ns(assembler, frame);

		due_ns = LULL_MIN(due_ns, frame_ns);
	}
	return due_ns;
}

void
lull_assembler_timeouts(struct lull_assembler *assembler, uint64_t deadline_ns, uint64_t silence_ns)
{
	assembler->config.deadline_ns = deadline_ns;
	assembler->config.silence_ns = silence_ns;
	assembler->due_ns = 0; /* too early is allowed, too late is not */
}

void
lull_assembler_unlink(struct lull_assembler *assembler, struct lull_open_frame *frame)
{
	uint32_t index = (uint32_t)(frame - assembler->open), position = 0;

	while (assembler->sorted[position] != index)
		position++;
	assembler->open_count--;
	memmove(assembler->sorted + position, assembler->sorted + position + 1,
		assembler->open_count - position);
	assembler->vacant |= 1u << index;
	assembler->current = NULL;
}

/* Into the past: what it lacks may still come, late. */
static void
frame_remember(struct lull_assembler *assembler, const struct lull_open_frame *frame)
{
	const struct lull_past_frame past = {
		.left = frame->spans.missing,
		.flags = frame->flags,
		.kind = LULL_PAST_GIVEN,
		.began = frame->began,
	};

	lull_past_add(&assembler->past, frame->key, &past);
	assembler->last = assembler->handed ? LULL_MAX(assembler->last, frame->key) : frame->key;
	assembler->handed = true;
}

/* By rows; when these do not fit, spans reach over padding, and holes always fit. */
static uint32_t
frame_map(const struct lull_assembler *assembler, const struct lull_open_frame *frame,
	  struct lull_frame_span *spans, bool *more)
{
	uint32_t count_max = assembler->config.spans_max;
	uint64_t limit = frame->layout.pixel_bytes;
	uint32_t count = lull_open_frame_holes(frame, limit, true, spans, count_max);

	*more = frame->spans.full || count > count_max;
	if (count > count_max)
		count = lull_open_frame_holes(frame, limit, false, spans, count_max);
	return count;
}

static void
frame_describe(struct lull_assembler *assembler, const struct lull_open_frame *frame,
	       enum lull_frame_reason reason, uint64_t now_ns)
{
	struct lull_frame_slot *slot = &assembler->slots[frame->slot];
	bool more;

	slot->frame = (struct lull_frame){
		.key = frame->key,
		.number = assembler->number++,
		.reason = reason,
		.damaged = (frame->flags & LULL_FRAME_DAMAGED) != 0,
		.presumed = frame->presumed,
		.data = frame->data,
		.bytes = frame->layout.bytes,
		.bytes_there = frame->layout.bytes - frame->spans.missing,
		.geometry = frame->geometry,
		.stamps = frame->stamps,
		.counts = frame->counts,
		.missing = slot->missing,
		.buffer_user = slot->user,
	};
	slot->frame.stamps.done_ns = now_ns;
	slot->frame.missing_count = frame_map(assembler, frame, slot->missing, &more);
	slot->frame.missing_more = more;
	LULL_ASSEMBLER_COUNT(assembler, spans_full, more);
}

static void
frame_give(struct lull_assembler *assembler, struct lull_open_frame *frame,
	   enum lull_frame_reason reason, uint64_t now_ns)
{
	uint32_t place =
		(assembler->given_first + assembler->given_count) % LULL_ASSEMBLER_BUFFERS_MAX;

	/* What was presumed until its end was not contradicted. */
	if (frame->spans.missing == 0)
		reason = LULL_FRAME_COMPLETE;
	frame_describe(assembler, frame, reason, now_ns);
	frame_remember(assembler, frame);
	LULL_ASSEMBLER_COUNT(assembler, frames[reason], 1);
	assembler->given[place] = frame->slot;
	assembler->given_count++;
	lull_assembler_unlink(assembler, frame);
}

void
lull_assembler_release(struct lull_assembler *assembler, uint64_t now_ns)
{
	uint32_t position = 0;

	while (position < assembler->open_count) {
		struct lull_open_frame *frame = &assembler->open[assembler->sorted[position]];

		if (lull_open_frame_whole(frame))
			frame_give(assembler, frame, LULL_FRAME_COMPLETE, now_ns);
		else if (assembler->config.order == LULL_FRAME_ORDER_FRAME)
			return;
		else
			position++;
	}
}

void
lull_assembler_end(struct lull_assembler *assembler, uint64_t now_ns, uint32_t ending,
		   enum lull_frame_reason reason)
{
	bool ordered = assembler->config.order == LULL_FRAME_ORDER_FRAME;
	uint32_t position = 0;

	for (; ending != 0; ending >>= 1) {
		struct lull_open_frame *frame = &assembler->open[assembler->sorted[position]];
		bool ends = (ending & 1) != 0;

		if (ends || ordered)
			frame_give(assembler, frame, ends ? reason : LULL_FRAME_SUPERSEDED, now_ns);
		else
			position++;
	}
	lull_assembler_release(assembler, now_ns);
}

void
lull_assembler_expire(struct lull_assembler *assembler, uint64_t now_ns)
{
	uint32_t ending = 0;

	if (now_ns < assembler->due_ns)
		return;
	for (uint32_t i = 0; i < assembler->open_count; i++) {
		const struct lull_open_frame *frame = &assembler->open[assembler->sorted[i]];

		if (lull_open_frame_due_ns(assembler, frame) <= now_ns)
			ending |= 1u << i;
	}
	lull_assembler_end(assembler, now_ns, ending, LULL_FRAME_DEADLINE);
	assembler->due_ns = lull_assembler_deadline_ns(assembler);
}

void
lull_assembler_flush(struct lull_assembler *assembler, uint64_t now_ns)
{
	lull_assembler_expire(assembler, now_ns);
	lull_assembler_end(assembler, now_ns, lull_assembler_all(assembler), LULL_FRAME_FLUSH);
}

bool
lull_assembler_next(struct lull_assembler *assembler, uint64_t now_ns, struct lull_frame *frame)
{
	lull_assembler_expire(assembler, now_ns);
	if (assembler->fetched)
		lull_slot_push(&assembler->empty, assembler->fetched_slot);
	assembler->fetched = assembler->given_count > 0;
	if (!assembler->fetched)
		return false;
	assembler->fetched_slot = lull_assembler_given_pop(assembler);
	assembler->lent--;
	*frame = assembler->slots[assembler->fetched_slot].frame;
	return true;
}
