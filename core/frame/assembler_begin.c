/* SPDX-License-Identifier: BSD-3-Clause */
/* How frames begin: what a key that is not open means, and when the sender has begun anew. */
#include "assembler.h"

/* So many steps ahead, 34 s at 30 frames/s, is not the sender that the open frames are from. */
#define FAR_STEP_BITS 10
#define COUNT(counter) LULL_ASSEMBLER_COUNT(assembler, counter, 1)

/* What a new key means. */
enum judgement {
	JUDGE_NEW,
	JUDGE_PASSED_OVER, /* by newer frames */
	JUDGE_STRANGE,     /* below all that is remembered */
};

bool
lull_fragment_inside(const struct lull_frame_fragment *fragment, uint64_t bytes)
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

bool
lull_fragment_tells_begin(const struct lull_frame_fragment *fragment)
{
	const uint32_t wanted = LULL_FRAME_START | LULL_FRAME_TIMED;

	return (fragment->flags & (wanted | LULL_FRAME_RESENT | LULL_FRAME_GONE)) == wanted;
}

/* ---- opening frames ---- */

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
		COUNT(frames_oversize);
		return NULL;
	}
	if (!lull_slot_take(assembler, &slot)) {
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
	assembler->newest_began.known = false;
}

bool
lull_past_stamp_contradicts(const struct lull_past_stamp *began,
			    const struct lull_frame_fragment *fragment)
{
	return began->known && lull_fragment_tells_begin(fragment) &&
	       began->time != fragment->device_time;
}

/*
 * After silence nothing is late any more: a START is that of a new frame, and so is what a frame
 * that was complete, or one long past, cannot lack. The rest of a frame may come after a pause.
 */
static bool
is_first_after_quiet(const struct lull_assembler *assembler, const struct lull_past_frame *past,
		     const struct lull_frame_fragment *fragment, bool new_key)
{
	if (!assembler->quiet || (fragment->flags & (LULL_FRAME_RESENT | LULL_FRAME_GONE)))
		return false;
	if (fragment->flags & LULL_FRAME_START)
		return past != NULL || !new_key;
	return past != NULL ? past->kind == LULL_PAST_GIVEN && past->left == 0 : !new_key;
}

/* Does a fragment of no open frame prove alone that the sender began anew? */
static bool
begins_anew(const struct lull_assembler *assembler, const struct lull_past_frame *past,
	    const struct lull_frame_fragment *fragment, bool new_key)
{
	if (past != NULL && !past->former && lull_past_stamp_contradicts(&past->began, fragment))
		return true;
	/* Its keys went back while its clock went on. */
	if (past == NULL && assembler->begun && fragment->key <= assembler->newest &&
	    assembler->newest_began.known && lull_fragment_tells_begin(fragment) &&
	    fragment->device_time > assembler->newest_began.time)
		return true;
	return is_first_after_quiet(assembler, past, fragment, new_key);
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
	else if (past->kind == LULL_PAST_UNSIZED)
		COUNT(unsized);
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
	if (!lull_fragment_inside(fragment, layout->bytes)) {
		COUNT(outside);
		return false;
	}
	return true;
}

static struct lull_open_frame *
frame_follow(struct lull_assembler *assembler, uint64_t now_ns,
	     const struct lull_frame_fragment *fragment, const struct lull_frame_layout *layout)
{
	struct lull_open_frame *frame;

	assembler->layout = *layout;
	if (fragment->flags & LULL_FRAME_GEOMETRY)
		assembler->geometry = fragment->geometry;
	key_follow(assembler, now_ns, fragment->key);
	frame = frame_open(assembler, now_ns, fragment->key);
	if (frame != NULL)
		frame->presumed = (fragment->flags & LULL_FRAME_PRESUMED) != 0;
	return frame;
}

struct lull_open_frame *
lull_assembler_begin_anew(struct lull_assembler *assembler, uint64_t now_ns,
			  const struct lull_frame_fragment *fragment)
{
	struct lull_frame_layout layout;

	if (!geometry_find(assembler, fragment, &layout))
		return NULL;
	sender_restart(assembler, now_ns);
	return frame_follow(assembler, now_ns, fragment, &layout);
}

struct lull_open_frame *
lull_assembler_begin(struct lull_assembler *assembler, uint64_t now_ns,
		     const struct lull_frame_fragment *fragment)
{
	struct lull_past_frame *past = lull_past_find(&assembler->past, fragment->key);
	struct lull_frame_layout layout;
	enum judgement judgement;

	if (fragment->flags & LULL_FRAME_GONE)
		COUNT(gone);
	if (fragment->flags & LULL_FRAME_UNSIZED) {
		if (past != NULL)
			past_count(assembler, past);
		else
			COUNT(unsized);
		return NULL;
	}
	judgement = past != NULL ? JUDGE_PASSED_OVER : key_judge(assembler, fragment->key);
	if (begins_anew(assembler, past, fragment, judgement == JUDGE_NEW))
		return lull_assembler_begin_anew(assembler, now_ns, fragment);
	if (past != NULL && !past_repeats(assembler, past, fragment))
		return NULL;
	if (fragment->flags & (LULL_FRAME_RESENT | LULL_FRAME_GONE)) { /* opens nothing */
		COUNT(late);
		return NULL;
	}
	if (!geometry_find(assembler, fragment, &layout))
		return NULL;
	if (judgement != JUDGE_NEW) {
		if (!lull_past_doubt(&assembler->past, fragment->key, fragment_bytes(fragment),
				     layout.pixel_bytes, judgement == JUDGE_STRANGE)) {
			past_count(assembler, past);
			return NULL;
		}
		sender_restart(assembler, now_ns);
	}
	return frame_follow(assembler, now_ns, fragment, &layout);
}
