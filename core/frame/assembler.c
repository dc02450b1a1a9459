/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "assembler.h"
#include "base/assert.h"

#define NEWS_FLAGS (LULL_FRAME_START | LULL_FRAME_END | LULL_FRAME_DAMAGED)
#define COUNT(counter) LULL_ASSEMBLER_COUNT(assembler, counter, 1)

/* ---- fragments of open frames ---- */

/* Copy what is missing of a range; false: nothing is. */
static inline bool
frame_copy(struct lull_assembler *assembler, struct lull_open_frame *frame,
	   const struct lull_frame_range *range)
{
	const struct lull_frame_layout *layout = &frame->layout;
	uint64_t at = lull_frame_place(layout, range->offset);
	uint64_t end = lull_frame_place(layout, range->offset + range->bytes);
	struct lull_spans_part part;
	bool news = false;

	frame->high = LULL_MAX(frame->high, end);
	while (at < end && lull_spans_take(&frame->spans, &at, end, &part)) {
		uint64_t begin = lull_frame_offset(layout, part.begin);
		uint64_t stop = lull_frame_offset_end(layout, part.end);

		memcpy(frame->data + begin, range->data + (begin - range->offset), stop - begin);
		LULL_ASSEMBLER_COUNT(assembler, bytes, part.kept ? part.end - part.begin : 0);
		news = true;
	}
	return news;
}

/* Its buffer cannot hold it, or nobody knows what it is: what comes of @p left is counted. */
static void
frame_drop(struct lull_assembler *assembler, struct lull_open_frame *frame, uint64_t now_ns,
	   enum lull_past_kind kind, uint64_t left)
{
	const struct lull_past_frame past = { .left = left, .kind = kind };

	lull_past_add(&assembler->past, frame->key, &past);
	lull_slot_return(assembler, frame->slot);
	lull_assembler_unlink(assembler, frame);
	lull_assembler_release(assembler, now_ns);
}

/* All of it is missing again. */
static void
frame_forget(struct lull_assembler *assembler, struct lull_open_frame *frame)
{
	lull_spans_init(&frame->spans, frame->spans.nodes, assembler->config.spans_max,
			frame->layout.pixel_bytes);
	frame->high = 0;
}

/* The buffer of a frame that lost all its bytes may be another one, where it is too small. */
static bool
frame_fits(struct lull_assembler *assembler, struct lull_open_frame *frame, uint64_t bytes)
{
	uint16_t slot;

	if (bytes <= assembler->slots[frame->slot].bytes)
		return true;
	if (bytes > assembler->config.buffer_bytes || !lull_slot_take(assembler, &slot))
		return false;
	lull_slot_return(assembler, frame->slot);
	frame->slot = slot;
	frame->data = assembler->slots[slot].data;
	return true;
}

/*
 * The geometry came behind the first bytes (its packet was lost or overtaken), and it is not the
 * one that was known last. What came before lies elsewhere: all is missing again. False: the
 * fragment is counted.
 */
static bool
frame_resize(struct lull_assembler *assembler, struct lull_open_frame *frame, uint64_t now_ns,
	     const struct lull_frame_fragment *fragment)
{
	const struct lull_frame_layout *known = &frame->layout;
	struct lull_frame_layout layout;
	uint64_t due_ns;
	bool moved;

	if (lull_frame_geometry_equal(&frame->geometry, &fragment->geometry))
		return true;
	if (!lull_frame_layout_init(&layout, &fragment->geometry) ||
	    !lull_fragment_inside(fragment, layout.bytes)) {
		COUNT(outside);
		return false;
	}
	assembler->geometry = fragment->geometry;
	assembler->layout = layout;
	if (!frame_fits(assembler, frame, layout.bytes)) {
		COUNT(oversize);
		COUNT(frames_oversize);
		frame_drop(assembler, frame, now_ns, LULL_PAST_OVERSIZE, layout.pixel_bytes);
		return false;
	}
	moved = layout.bytes != known->bytes || layout.row_bytes != known->row_bytes ||
		layout.used_bytes != known->used_bytes;
	frame->layout = layout;
	frame->geometry = fragment->geometry;
	if (moved)
		frame_forget(assembler, frame);
	due_ns = lull_open_frame_due_ns(assembler, frame);
	assembler->due_ns = LULL_MIN(assembler->due_ns, due_ns);
	return true;
}

static void
frame_use(struct lull_assembler *assembler, struct lull_open_frame *frame, uint64_t now_ns,
	  const struct lull_frame_fragment *fragment)
{
	COUNT(used);
	frame->counts.pkts++;
	frame->stamps.last_ns = now_ns;
	frame->news_ns = now_ns;
	if (frame->numbered && fragment->packet < frame->packet_max) {
		if (!(fragment->flags & LULL_FRAME_RESENT)) {
			COUNT(reordered);
			frame->counts.reordered++;
		}
	} else {
		frame->packet_max = fragment->packet;
		frame->numbered = true;
	}
	if (lull_open_frame_whole(frame))
		lull_assembler_release(assembler, now_ns);
}

static void
frame_began(struct lull_assembler *assembler, struct lull_open_frame *frame, uint64_t time)
{
	frame->began = (struct lull_past_stamp){ .known = true, .time = time };
	if (frame->key >= assembler->newest)
		assembler->newest_began = frame->began;
}

/* What the fragment says of where the frame's bytes lie; false: it is counted. */
static bool
frame_place(struct lull_assembler *assembler, struct lull_open_frame *frame, uint64_t now_ns,
	    const struct lull_frame_fragment *fragment)
{
	bool presumed = (fragment->flags & LULL_FRAME_PRESUMED) != 0;

	if (fragment->flags & LULL_FRAME_UNSIZED) {
		COUNT(unsized);
		COUNT(frames_unsized);
		frame_drop(assembler, frame, now_ns, LULL_PAST_UNSIZED, UINT64_MAX);
		return false;
	}
	if ((fragment->flags & LULL_FRAME_GEOMETRY) && (!presumed || frame->presumed) &&
	    !frame_resize(assembler, frame, now_ns, fragment))
		return false;
	if (fragment->flags & LULL_FRAME_MOVED)
		frame_forget(assembler, frame);
	if (!presumed)
		frame->presumed = false;
	return true;
}

static void
frame_take(struct lull_assembler *assembler, struct lull_open_frame *frame, uint64_t now_ns,
	   const struct lull_frame_fragment *fragment)
{
	uint32_t flags = fragment->flags;
	bool news;

	assembler->past.doubt.on = false;
	if (flags & LULL_FRAME_GONE) { /* of a packet that will not come: no sign of life */
		COUNT(gone);
		COUNT(used);
		return;
	}
	if (!frame_place(assembler, frame, now_ns, fragment))
		return;
	if (!lull_fragment_inside(fragment, frame->layout.bytes)) {
		COUNT(outside);
		return;
	}
	if (flags & LULL_FRAME_RESENT) {
		COUNT(resent);
		frame->counts.resent++;
	}
	if ((flags & ~frame->flags) & LULL_FRAME_TIMED)
		frame->stamps.device_time = fragment->device_time;
	if (!frame->began.known && lull_fragment_tells_begin(fragment))
		frame_began(assembler, frame, fragment->device_time);
	news = ((flags & ~frame->flags) & NEWS_FLAGS) != 0;
	frame->flags |= flags & (NEWS_FLAGS | LULL_FRAME_TIMED);
	for (uint32_t i = 0; i < fragment->range_count; i++)
		news |= frame_copy(assembler, frame, &fragment->ranges[i]);
	if (news) {
		frame_use(assembler, frame, now_ns, fragment);
	} else {
		COUNT(duplicates);
		frame->counts.duplicates++;
	}
}

static struct lull_open_frame *
frame_find(struct lull_assembler *assembler, uint64_t key)
{
	for (uint32_t i = 0; i < assembler->open_count; i++)
		if (assembler->open[assembler->sorted[i]].key == key)
			return &assembler->open[assembler->sorted[i]];
	return NULL;
}

/* Does another frame have the key of an open one? That ends as it is, its holes stay holes. */
static bool
is_another(const struct lull_assembler *assembler, const struct lull_open_frame *frame,
	   const struct lull_frame_fragment *fragment)
{
	if ((fragment->flags & LULL_FRAME_START) == 0 ||
	    (fragment->flags & (LULL_FRAME_RESENT | LULL_FRAME_GONE)) != 0)
		return false;
	return assembler->quiet || lull_past_stamp_contradicts(&frame->began, fragment);
}

void
lull_assembler_quiet(struct lull_assembler *assembler)
{
	assembler->quiet = true;
}

void
lull_assembler_add(struct lull_assembler *assembler, uint64_t now_ns,
		   const struct lull_frame_fragment *fragment)
{
	struct lull_open_frame *frame;

	LULL_ASSERT_HOT(fragment->range_count <= LULL_FRAME_RANGES_MAX);
	COUNT(fragments);
	if (now_ns >= assembler->due_ns)
		lull_assembler_expire(assembler, now_ns);
	if (assembler->stopped) {
		COUNT(stopped);
		return;
	}
	frame = assembler->current;
	if (frame == NULL || frame->key != fragment->key)
		frame = frame_find(assembler, fragment->key);
	if (frame == NULL)
		frame = lull_assembler_begin(assembler, now_ns, fragment);
	else if (is_another(assembler, frame, fragment))
		frame = lull_assembler_begin_anew(assembler, now_ns, fragment);
	if ((fragment->flags & (LULL_FRAME_RESENT | LULL_FRAME_GONE)) == 0)
		assembler->quiet = false;
	assembler->current = frame;
	if (frame != NULL)
		frame_take(assembler, frame, now_ns, fragment);
}
