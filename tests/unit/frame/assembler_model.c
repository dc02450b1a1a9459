/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "assembler_model.h"

#define STRANGE_FRAGMENTS 16
#define NEWS (LULL_FRAME_START | LULL_FRAME_END | LULL_FRAME_DAMAGED)

void
model_init(struct model *model, const struct lull_assembler_config *config, uint32_t buffers)
{
	memset(model, 0, sizeof(*model));
	model->config = *config;
	model->used_bytes = config->geometry.width;
	model->row_bytes = config->geometry.row_bytes;
	model->bytes = model->row_bytes * config->geometry.height;
	model->buffers = buffers;
}

static bool
is_padding(const struct model *model, uint64_t offset)
{
	return offset % model->row_bytes >= model->used_bytes;
}

/* Runs of missing bytes, over padding. */
static uint32_t
holes(const struct model *model, const struct model_frame *frame)
{
	uint32_t count = 0;
	bool inside = false;

	for (uint32_t i = 0; i < model->bytes; i++) {
		if (frame->states[i] == MODEL_PADDING)
			continue;
		count += frame->states[i] == MODEL_MISSING && !inside;
		inside = frame->states[i] == MODEL_MISSING;
	}
	return count;
}

/* Is the next byte of a pixel in direction @p step missing? */
static bool
missing_beside(const struct model *model, const struct model_frame *frame, int64_t at, int64_t step)
{
	for (at += step; at >= 0 && at < model->bytes; at += step)
		if (frame->states[at] != MODEL_PADDING)
			return frame->states[at] == MODEL_MISSING;
	return false;
}

/* ---- fragments ---- */

/* The part of a range from @p at on that is missing, byte by byte; returns where it ends. */
static uint64_t
take_run(struct model *model, struct model_frame *frame, const struct lull_frame_range *range,
	 uint64_t at)
{
	uint64_t last = at, stop = range->offset + range->bytes, pixels = 0;
	bool kept;

	for (uint64_t i = at; i < stop && frame->states[i] != MODEL_THERE; i++)
		if (frame->states[i] == MODEL_MISSING)
			last = i;
	kept = !(missing_beside(model, frame, (int64_t)at, -1) &&
		 missing_beside(model, frame, (int64_t)last, 1) &&
		 holes(model, frame) == model->config.spans_max);
	for (uint64_t i = at; i <= last; i++) {
		if (frame->states[i] == MODEL_PADDING)
			continue;
		frame->data[i] = range->data[i - range->offset];
		frame->written[i] = true;
		if (kept)
			frame->states[i] = MODEL_THERE;
		pixels++;
	}
	model->counters.bytes += kept ? pixels : 0;
	frame->full |= !kept;
	return last + 1;
}

static bool
take_range(struct model *model, struct model_frame *frame, const struct lull_frame_range *range)
{
	bool news = false;

	frame->high = LULL_MAX(frame->high, range->offset + range->bytes);
	for (uint64_t at = range->offset; at < range->offset + range->bytes;) {
		if (frame->states[at] != MODEL_MISSING) {
			at++;
			continue;
		}
		at = take_run(model, frame, range, at);
		news = true;
	}
	return news;
}

static bool
fits(const struct model *model, const struct lull_frame_fragment *fragment)
{
	for (uint32_t i = 0; i < fragment->range_count; i++)
		if (fragment->ranges[i].offset + fragment->ranges[i].bytes > model->bytes)
			return false;
	return true;
}

static bool
asked_for(const struct lull_frame_fragment *fragment)
{
	return (fragment->flags & (LULL_FRAME_RESENT | LULL_FRAME_GONE)) != 0;
}

static bool
tells(const struct lull_frame_fragment *fragment)
{
	return (fragment->flags & LULL_FRAME_START) && (fragment->flags & LULL_FRAME_TIMED) &&
	       !asked_for(fragment);
}

static bool
contradicts(const struct model_frame *frame, const struct lull_frame_fragment *fragment)
{
	return tells(fragment) && frame->timed && frame->began != fragment->device_time;
}

static void
take(struct model *model, uint64_t now_ns, struct model_frame *frame,
     const struct lull_frame_fragment *fragment)
{
	bool resent = (fragment->flags & LULL_FRAME_RESENT) != 0;
	bool news = (fragment->flags & ~frame->flags & NEWS) != 0;

	model->doubt = false;
	if (fragment->flags & LULL_FRAME_GONE) {
		model->counters.gone++;
		model->counters.used++;
		return;
	}
	if (!fits(model, fragment)) {
		model->counters.outside++;
		return;
	}
	model->counters.resent += resent;
	frame->counts.resent += resent;
	if (fragment->flags & ~frame->flags & LULL_FRAME_TIMED)
		frame->stamps.device_time = fragment->device_time;
	if (!frame->timed && tells(fragment)) {
		frame->timed = true;
		frame->began = fragment->device_time;
		if (frame->key >= model->newest) {
			model->clocked = true;
			model->clock = frame->began;
		}
	}
	frame->flags |= fragment->flags;
	for (uint32_t i = 0; i < fragment->range_count; i++)
		news |= take_range(model, frame, &fragment->ranges[i]);
	if (!news) {
		model->counters.duplicates++;
		frame->counts.duplicates++;
		return;
	}
	model->counters.used++;
	frame->counts.pkts++;
	frame->stamps.last_ns = now_ns;
	if (frame->numbered && fragment->packet < frame->packet_max && !resent) {
		model->counters.reordered++;
		frame->counts.reordered++;
	}
	frame->packet_max =
		frame->numbered ? LULL_MAX(frame->packet_max, fragment->packet) : fragment->packet;
	frame->numbered = true;
	model_release(model, now_ns);
}

static void
count_past(struct model *model, const struct model_frame *frame)
{
	if (frame == NULL || frame->kept)
		model->counters.late++;
	else
		model->counters.no_buffer++;
}

static void
restart(struct model *model, uint64_t now_ns)
{
	model->counters.restarts++;
	model->past_count = 0;
	model_end(model, now_ns, LULL_FRAME_RESTART, model_ends_always);
	for (uint32_t i = 0; i < model->past_count; i++)
		model->past[i]->former = true;
	model->opened_since = 0;
	model->begun = model->stepped = model->handed = model->clocked = false;
}

static void
follow(struct model *model, uint64_t now_ns, uint64_t key)
{
	uint64_t step = key - model->newest;

	if (model->begun && key <= model->newest)
		return;
	if (model->stepped && step / 1024 > model->step && model_open_from(model, 0) != NULL)
		restart(model, now_ns);
	model->stepped = model->begun;
	model->begun = true;
	model->step = step;
	model->newest = key;
}

static void
forget_former(struct model *model)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < model->past_count; i++)
		if (!model->past[i]->former)
			model->past[kept++] = model->past[i];
	model->past_count = kept;
}

static struct model_frame *
begin(struct model *model, uint64_t now_ns, uint64_t key)
{
	struct model_frame *frame = &model->frames[model->frame_count++];

	model->doubt = false;
	if (++model->opened_since == 3)
		forget_former(model);
	model_end(model, now_ns, LULL_FRAME_SUPERSEDED, model_ends_old);
	frame->key = key;
	frame->opening = model->frame_count;
	frame->stamps.first_ns = now_ns;
	for (uint32_t i = 0; i < model->bytes; i++)
		frame->states[i] = is_padding(model, i) ? MODEL_PADDING : MODEL_MISSING;
	if (model->buffers > 0) {
		model->buffers--;
	} else if (model->config.policy == LULL_FRAME_NEWEST_WINS && model->given_count > 0) {
		model_next(model);
		model->counters.frames_replaced++;
	} else {
		frame->left = model_missing(model, frame);
		model_remember(model, frame);
		model->counters.frames_dropped++;
		model->stopped = model->config.policy == LULL_FRAME_FAIL_STOP;
		if (model->stopped) {
			model->counters.stopped++;
			model_end(model, now_ns, LULL_FRAME_SUPERSEDED, model_ends_always);
		} else {
			model->counters.no_buffer++;
		}
		return NULL;
	}
	frame->open = frame->kept = true;
	return frame;
}

/* True: the sender has begun anew. */
static bool
doubts(struct model *model, uint64_t key, uint64_t bytes, bool strange)
{
	uint64_t half = (uint64_t)model->used_bytes * model->config.geometry.height / 2;

	if (!model->doubt || key < model->doubt_key) {
		model->doubt_fragments = model->doubt_strange = 0;
		model->doubt_bytes = 0;
	} else if (key > model->doubt_key) {
		if (strange && model->doubt_strange > 0)
			return true;
		if (model->doubt_fragments >= 2 && model->doubt_bytes >= half)
			return true;
	}
	model->doubt = true;
	model->doubt_key = key;
	model->doubt_bytes += bytes;
	model->doubt_fragments++;
	model->doubt_strange += strange;
	return model->doubt_strange >= STRANGE_FRAGMENTS;
}

/* Is @p key, not open and not remembered, that of a new frame; if not, is it a strange one? */
static bool
key_is_new(const struct model *model, uint64_t key, bool *strange)
{
	uint64_t floor = UINT64_MAX;

	for (uint32_t i = 0; i < model->past_count; i++)
		if (!model->past[i]->former)
			floor = LULL_MIN(floor, model->past[i]->key);
	*strange = key <= floor;
	if (!model->begun || key > model->newest)
		return true;
	if (model->config.order == LULL_FRAME_ORDER_FRAME)
		return !model->handed || key > model->last;
	return floor == UINT64_MAX || key > floor;
}

/* What an ended frame makes of a fragment: true when it may be one of a sender begun anew. */
static bool
past_doubts(struct model *model, struct model_frame *past,
	    const struct lull_frame_fragment *fragment, uint64_t bytes)
{
	uint32_t news = fragment->flags & ~past->flags & (LULL_FRAME_START | LULL_FRAME_END);

	past->flags |= news;
	if (fragment->flags & (LULL_FRAME_RESENT | LULL_FRAME_GONE)) {
		count_past(model, past);
		return false;
	}
	if (bytes == 0 && news != 0 && past->kept && past->left == 0) {
		model->counters.used++;
		return false;
	}
	if (bytes <= past->left) {
		past->left -= bytes;
		count_past(model, past);
		return false;
	}
	past->left = 0;
	return true;
}

/* Does a fragment of a frame that is not open show by itself that the sender began anew? */
static bool
shows_restart(const struct model *model, const struct model_frame *past, bool is_new,
	      const struct lull_frame_fragment *fragment)
{
	if (past != NULL && !past->former && contradicts(past, fragment))
		return true;
	if (past == NULL && model->begun && fragment->key <= model->newest && model->clocked &&
	    tells(fragment) && fragment->device_time > model->clock)
		return true;
	if (!model->quiet || asked_for(fragment))
		return false;
	if (past == NULL)
		return !is_new;
	return (fragment->flags & LULL_FRAME_START) || (past->kept && past->left == 0);
}

static struct model_frame *
begin_anew(struct model *model, uint64_t now_ns, const struct lull_frame_fragment *fragment)
{
	if (!fits(model, fragment)) {
		model->counters.outside++;
		return NULL;
	}
	restart(model, now_ns);
	follow(model, now_ns, fragment->key);
	return begin(model, now_ns, fragment->key);
}

/* Is an open frame with this key another one? */
static bool
is_another(const struct model *model, const struct model_frame *frame,
	   const struct lull_frame_fragment *fragment)
{
	if (contradicts(frame, fragment))
		return true;
	return model->quiet && (fragment->flags & LULL_FRAME_START) && !asked_for(fragment);
}

static struct model_frame *
find(struct model *model, uint64_t now_ns, const struct lull_frame_fragment *fragment)
{
	struct model_frame *past = NULL;
	bool strange = false, is_new;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < model->frame_count; i++)
		if (model->frames[i].open && model->frames[i].key == fragment->key)
			return is_another(model, &model->frames[i], fragment) ?
				       begin_anew(model, now_ns, fragment) :
				       &model->frames[i];
	for (uint32_t i = 0; i < fragment->range_count; i++)
		bytes += fragment->ranges[i].bytes;
	for (uint32_t i = 0; i < model->past_count; i++)
		if (model->past[i]->key == fragment->key && (past == NULL || past->former))
			past = model->past[i];
	model->counters.gone += (fragment->flags & LULL_FRAME_GONE) != 0;
	is_new = past == NULL && key_is_new(model, fragment->key, &strange);
	if (shows_restart(model, past, is_new, fragment))
		return begin_anew(model, now_ns, fragment);
	if (past != NULL && !past_doubts(model, past, fragment, bytes))
		return NULL;
	if (fragment->flags & (LULL_FRAME_RESENT | LULL_FRAME_GONE)) {
		model->counters.late++;
		return NULL;
	}
	if (!fits(model, fragment)) {
		model->counters.outside++;
		return NULL;
	}
	if (!is_new) {
		if (!doubts(model, fragment->key, bytes, strange)) {
			count_past(model, past);
			return NULL;
		}
		restart(model, now_ns);
	}
	follow(model, now_ns, fragment->key);
	return begin(model, now_ns, fragment->key);
}

void
model_add(struct model *model, uint64_t now_ns, const struct lull_frame_fragment *fragment)
{
	struct model_frame *frame;

	model->counters.fragments++;
	model_expire(model, now_ns);
	if (model->stopped) {
		model->counters.stopped++;
		return;
	}
	frame = find(model, now_ns, fragment);
	if (!asked_for(fragment))
		model->quiet = false;
	if (frame != NULL)
		take(model, now_ns, frame, fragment);
}

uint32_t
model_rows(const struct model *model)
{
	const struct model_frame *newest = NULL;
	uint32_t whole = 0;

	for (uint32_t i = 0; i < model->frame_count; i++)
		if (model->frames[i].open && (newest == NULL || model->frames[i].key > newest->key))
			newest = &model->frames[i];
	while (newest != NULL && whole < model->bytes && newest->states[whole] != MODEL_MISSING)
		whole++;
	return whole / model->row_bytes;
}
