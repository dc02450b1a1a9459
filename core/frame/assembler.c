/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "assembler.h"
#include "base/assert.h"

/* So many steps ahead, 34 s at 30 frames/s, is not the sender that the open frames are from. */
#define FAR_STEP_BITS 10
#define NEWS_FLAGS (LULL_FRAME_START | LULL_FRAME_END | LULL_FRAME_DAMAGED)
#define COUNT(counter) LULL_ASSEMBLER_COUNT(assembler, counter, 1)

/* What a new key means. */
enum judgement {
	JUDGE_NEW,
	JUDGE_PASSED_OVER, /* by newer frames */
	JUDGE_STRANGE,     /* below all that is remembered */
};

static bool
ranges_inside(const struct lull_frame_fragment *fragment, uint64_t bytes)
{
	for (uint32_t i = 0; i < fragment->range_count; i++)
		if (fragment->ranges[i].offset > bytes ||
		    fragment->ranges[i].bytes > bytes - fragment->ranges[i].offset)
			return false;
	return true;
}

static uint64_t
fragment_bytes(const struct lull_frame_fragment *fragment)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < fragment->range_count; i++)
		bytes += fragment->ranges[i].bytes;
	return bytes;
}

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

/* The picture turned out to be larger than a buffer. */
static void
frame_drop(struct lull_assembler *assembler, struct lull_open_frame *frame, uint64_t now_ns,
	   const struct lull_frame_layout *layout)
{
	const struct lull_past_frame past = { .left = layout->pixel_bytes,
					      .kind = LULL_PAST_OVERSIZE };

	COUNT(oversize);
	lull_past_add(&assembler->past, frame->key, &past);
	lull_slot_push(&assembler->ready, frame->slot);
	lull_assembler_unlink(assembler, frame);
	lull_assembler_release(assembler, now_ns);
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

	if (lull_frame_geometry_equal(&frame->geometry, &fragment->geometry))
		return true;
	if (!lull_frame_layout_init(&layout, &fragment->geometry) ||
	    !ranges_inside(fragment, layout.bytes)) {
		COUNT(outside);
		return false;
	}
	assembler->geometry = fragment->geometry;
	assembler->layout = layout;
	if (layout.bytes > assembler->config.buffer_bytes) {
		frame_drop(assembler, frame, now_ns, &layout);
		return false;
	}
	if (layout.bytes != known->bytes || layout.row_bytes != known->row_bytes ||
	    layout.used_bytes != known->used_bytes) {
		lull_spans_init(&frame->spans, frame->spans.nodes, assembler->config.spans_max,
				layout.pixel_bytes);
		frame->high = 0;
	}
	frame->layout = layout;
	frame->geometry = fragment->geometry;
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
	if (frame->spans.missing == 0)
		lull_assembler_release(assembler, now_ns);
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
	if ((flags & LULL_FRAME_GEOMETRY) && !frame_resize(assembler, frame, now_ns, fragment))
		return;
	if (!ranges_inside(fragment, frame->layout.bytes)) {
		COUNT(outside);
		return;
	}
	if (flags & LULL_FRAME_RESENT) {
		COUNT(resent);
		frame->counts.resent++;
	}
	if ((flags & ~frame->flags) & LULL_FRAME_TIMED)
		frame->stamps.device_time = fragment->device_time;
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

/* ---- opening frames ---- */

/* A buffer for a new frame; false: there is none. */
static bool
buffer_take(struct lull_assembler *assembler, uint16_t *slot)
{
	if (assembler->ready.count > 0) {
		*slot = lull_slot_pop(&assembler->ready);
		return true;
	}
	if (assembler->config.policy != LULL_FRAME_NEWEST_WINS || assembler->given_count == 0)
		return false;
	*slot = lull_assembler_given_pop(assembler);
	COUNT(frames_replaced);
	return true;
}

/* No buffer. After fail-stop open frames get no more fragments: they are given as they are. */
static void
open_without_buffer(struct lull_assembler *assembler, uint64_t now_ns, uint64_t key, uint64_t bytes)
{
	const struct lull_past_frame past = { .left = bytes, .kind = LULL_PAST_NO_BUFFER };

	COUNT(frames_dropped);
	lull_past_add(&assembler->past, key, &past);
	if (assembler->config.policy != LULL_FRAME_FAIL_STOP) {
		COUNT(no_buffer);
		return;
	}
	COUNT(stopped);
	assembler->stopped = true;
	lull_assembler_end(assembler, now_ns, lull_assembler_all(assembler), LULL_FRAME_SUPERSEDED);
}

/* Make room: frames that open_max newer ones were opened after. */
static void
open_supersede(struct lull_assembler *assembler, uint64_t now_ns)
{
	uint32_t ending = 0;

	assembler->ordinal++;
	for (uint32_t i = 0; i < assembler->open_count; i++) {
		const struct lull_open_frame *frame = &assembler->open[assembler->sorted[i]];

		if (assembler->ordinal - frame->ordinal >= assembler->config.open_max)
			ending |= 1u << i;
	}
	if (ending != 0)
		lull_assembler_end(assembler, now_ns, ending, LULL_FRAME_SUPERSEDED);
}

static struct lull_open_frame *
open_link(struct lull_assembler *assembler, uint64_t key)
{
	uint32_t index = (uint32_t)__builtin_ctz(assembler->vacant);
	uint32_t position = assembler->open_count++;

	for (; position > 0; position--) {
		uint8_t below = assembler->sorted[position - 1];

		if (assembler->open[below].key < key)
			break;
		assembler->sorted[position] = below;
	}
	assembler->sorted[position] = (uint8_t)index;
	assembler->vacant &= ~(1u << index);
	return &assembler->open[index];
}

/* NULL: the fragment is counted. */
static struct lull_open_frame *
frame_open(struct lull_assembler *assembler, uint64_t now_ns, uint64_t key)
{
	const struct lull_frame_layout *layout = &assembler->layout;
	struct lull_open_frame *frame;
	struct lull_spans_node *nodes;
	uint64_t due_ns;
	uint16_t slot;

	lull_past_open(&assembler->past);
	open_supersede(assembler, now_ns);
	if (layout->bytes > assembler->config.buffer_bytes) {
		const struct lull_past_frame past = { .left = layout->pixel_bytes,
						      .kind = LULL_PAST_OVERSIZE };

		lull_past_add(&assembler->past, key, &past);
		COUNT(oversize);
		return NULL;
	}
	if (!buffer_take(assembler, &slot)) {
		open_without_buffer(assembler, now_ns, key, layout->pixel_bytes);
		return NULL;
	}
	frame = open_link(assembler, key);
	nodes = frame->spans.nodes;
	*frame = (struct lull_open_frame){
		.key = key,
		.data = assembler->slots[slot].data,
		.slot = slot,
		.ordinal = assembler->ordinal,
		.news_ns = now_ns,
		.layout = *layout,
		.geometry = assembler->geometry,
		.stamps.first_ns = now_ns,
	};
	lull_spans_init(&frame->spans, nodes, assembler->config.spans_max, layout->pixel_bytes);
	due_ns = lull_open_frame_due_ns(assembler, frame);
	assembler->due_ns = LULL_MIN(assembler->due_ns, due_ns);
	return frame;
}

/* ---- keys ---- */

static enum judgement
key_judge(const struct lull_assembler *assembler, uint64_t key)
{
	uint64_t floor = lull_past_floor(&assembler->past);

	if (!assembler->begun || key > assembler->newest)
		return JUDGE_NEW;
	if (assembler->config.order == LULL_FRAME_ORDER_FRAME ?
		    !assembler->handed || key > assembler->last :
		    floor == UINT64_MAX || key > floor)
		return JUDGE_NEW;
	return key > floor ? JUDGE_PASSED_OVER : JUDGE_STRANGE;
}

/* The sender began anew: what is open stays as it is. */
static void
sender_restart(struct lull_assembler *assembler, uint64_t now_ns)
{
	COUNT(restarts);
	assembler->past.count = 0;
	assembler->past.next = 0;
	assembler->past.opened = 0;
	lull_assembler_end(assembler, now_ns, lull_assembler_all(assembler), LULL_FRAME_RESTART);
	for (uint32_t i = 0; i < assembler->past.count; i++)
		assembler->past.frames[i].former = true;
	assembler->begun = false;
	assembler->stepped = false;
	assembler->handed = false;
}

static void
key_follow(struct lull_assembler *assembler, uint64_t now_ns, uint64_t key)
{
	uint64_t step = key - assembler->newest;

	if (assembler->begun && key <= assembler->newest)
		return;
	if (assembler->stepped && step >> FAR_STEP_BITS > assembler->step &&
	    assembler->open_count > 0)
		sender_restart(assembler, now_ns);
	assembler->stepped = assembler->begun;
	assembler->step = step;
	assembler->newest = key;
	assembler->begun = true;
}

/* ---- fragments of no open frame ---- */

static void
past_count(struct lull_assembler *assembler, const struct lull_past_frame *past)
{
	if (past == NULL || past->kind == LULL_PAST_GIVEN)
		COUNT(late);
	else if (past->kind == LULL_PAST_NO_BUFFER)
		COUNT(no_buffer);
	else
		COUNT(oversize);
}

/* Does the fragment bring what @p past cannot lack? Else it is counted. */
static bool
past_repeats(struct lull_assembler *assembler, struct lull_past_frame *past,
	     const struct lull_frame_fragment *fragment)
{
	uint64_t bytes = fragment_bytes(fragment);
	uint32_t news = fragment->flags & ~past->flags & (LULL_FRAME_START | LULL_FRAME_END);

	past->flags |= news;
	if (fragment->flags & (LULL_FRAME_RESENT | LULL_FRAME_GONE)) {
		past_count(assembler, past);
	} else if (bytes == 0 && news != 0 && past->kind == LULL_PAST_GIVEN && past->left == 0) {
		COUNT(used); /* the trailer of a frame that was complete without it */
	} else if (bytes <= past->left) {
		past->left -= bytes;
		past_count(assembler, past);
	} else {
		past->left = 0;
		return true;
	}
	return false;
}

/* Learn the geometry that a new frame has; false: the fragment is counted. */
static bool
geometry_find(struct lull_assembler *assembler, const struct lull_frame_fragment *fragment,
	      struct lull_frame_layout *layout)
{
	*layout = assembler->layout;
	if ((fragment->flags & LULL_FRAME_GEOMETRY) &&
	    (layout->bytes == 0 ||
	     !lull_frame_geometry_equal(&assembler->geometry, &fragment->geometry)) &&
	    !lull_frame_layout_init(layout, &fragment->geometry)) {
		COUNT(outside);
		return false;
	}
	if (layout->bytes == 0) {
		COUNT(unsized);
		return false;
	}
	if (!ranges_inside(fragment, layout->bytes)) {
		COUNT(outside);
		return false;
	}
	return true;
}

/* The fragment's key is not open: open it, or count the fragment and return NULL. */
static struct lull_open_frame *
frame_begin(struct lull_assembler *assembler, uint64_t now_ns,
	    const struct lull_frame_fragment *fragment)
{
	struct lull_past_frame *past = lull_past_find(&assembler->past, fragment->key);
	struct lull_frame_layout layout;
	enum judgement judgement;

	if (fragment->flags & LULL_FRAME_GONE)
		COUNT(gone);
	if (past != NULL && !past_repeats(assembler, past, fragment))
		return NULL;
	if (fragment->flags & (LULL_FRAME_RESENT | LULL_FRAME_GONE)) { /* opens nothing */
		COUNT(late);
		return NULL;
	}
	if (!geometry_find(assembler, fragment, &layout))
		return NULL;
	judgement = past != NULL ? JUDGE_PASSED_OVER : key_judge(assembler, fragment->key);
	if (judgement != JUDGE_NEW) {
		if (!lull_past_doubt(&assembler->past, fragment->key, fragment_bytes(fragment),
				     layout.pixel_bytes, judgement == JUDGE_STRANGE)) {
			past_count(assembler, past);
			return NULL;
		}
		sender_restart(assembler, now_ns);
	}
	assembler->layout = layout;
	if (fragment->flags & LULL_FRAME_GEOMETRY)
		assembler->geometry = fragment->geometry;
	key_follow(assembler, now_ns, fragment->key);
	return frame_open(assembler, now_ns, fragment->key);
}

static struct lull_open_frame *
frame_find(struct lull_assembler *assembler, uint64_t key)
{
	for (uint32_t i = 0; i < assembler->open_count; i++)
		if (assembler->open[assembler->sorted[i]].key == key)
			return &assembler->open[assembler->sorted[i]];
	return NULL;
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
		frame = frame_begin(assembler, now_ns, fragment);
	assembler->current = frame;
	if (frame != NULL)
		frame_take(assembler, frame, now_ns, fragment);
}
