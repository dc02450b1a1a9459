/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "assembler_model.h"

uint64_t
model_missing(const struct model *model, const struct model_frame *frame)
{
	uint64_t missing = 0;

	for (uint32_t i = 0; i < model->bytes; i++)
		missing += frame->states[i] == MODEL_MISSING;
	return missing;
}

bool
model_rows_fit(const struct model *model, const struct model_frame *frame)
{
	uint32_t spans = 0;

	for (uint32_t i = 0; i < model->bytes; i++)
		spans += frame->states[i] == MODEL_MISSING &&
			 (i == 0 || frame->states[i - 1] != MODEL_MISSING);
	return spans <= model->config.spans_max;
}

/* The open frame of the lowest key from @p key on. */
struct model_frame *
model_open_from(struct model *model, uint64_t key)
{
	struct model_frame *found = NULL;

	for (uint32_t i = 0; i < model->frame_count; i++)
		if (model->frames[i].open && model->frames[i].key >= key &&
		    (found == NULL || model->frames[i].key < found->key))
			found = &model->frames[i];
	return found;
}

void
model_remember(struct model *model, struct model_frame *frame)
{
	if (model->past_count == MODEL_PAST)
		memmove(model->past, model->past + 1, --model->past_count * sizeof(frame));
	model->past[model->past_count++] = frame;
}

static void
give(struct model *model, uint64_t now_ns, struct model_frame *frame, enum lull_frame_reason reason)
{
	frame->left = model_missing(model, frame);
	frame->reason = frame->left == 0 ? LULL_FRAME_COMPLETE : reason;
	frame->stamps.done_ns = now_ns;
	frame->number = model->number++;
	frame->open = false;
	model->counters.frames[frame->reason]++;
	model->counters.spans_full += frame->full || !model_rows_fit(model, frame);
	model->last = model->handed ? LULL_MAX(model->last, frame->key) : frame->key;
	model->handed = true;
	model_remember(model, frame);
	model->given[model->given_count++] = frame;
}

void
model_release(struct model *model, uint64_t now_ns)
{
	struct model_frame *frame = model_open_from(model, 0);

	while (frame != NULL) {
		uint64_t key = frame->key;

		if (model_missing(model, frame) == 0)
			give(model, now_ns, frame, LULL_FRAME_COMPLETE);
		else if (model->config.order == LULL_FRAME_ORDER_FRAME)
			return;
		frame = key < UINT64_MAX ? model_open_from(model, key + 1) : NULL;
	}
}

static uint64_t
frame_due_ns(const struct model *model, const struct model_frame *frame)
{
	/* 0: opened by a packet of nothing but padding */
	uint64_t news_ns = LULL_MAX(frame->stamps.first_ns, frame->stamps.last_ns);
	uint64_t due_ns = UINT64_MAX;

	if (model->config.deadline_ns > 0)
		due_ns = frame->stamps.first_ns + model->config.deadline_ns;
	if (model->config.silence_ns > 0 && model_missing(model, frame) > 0)
		due_ns = LULL_MIN(due_ns, news_ns + model->config.silence_ns);
	return due_ns;
}

uint64_t
model_due_ns(const struct model *model)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = 0; i < model->frame_count; i++)
		if (model->frames[i].open) {
			uint64_t frame_ns = frame_due_ns(model, &model->frames[i]);

			due_ns = LULL_MIN(due_ns, frame_ns);
		}
	return due_ns;
}

/* Frames for which @p ends says so, and in frame order those of lower keys before each. */
void
model_end(struct model *model, uint64_t now_ns, enum lull_frame_reason reason, model_ends *ends)
{
	bool ordered = model->config.order == LULL_FRAME_ORDER_FRAME, some = false;
	uint64_t highest = 0;
	struct model_frame *frame;

	for (uint32_t i = 0; i < model->frame_count; i++)
		if (model->frames[i].open && ends(model, &model->frames[i], now_ns)) {
			highest = LULL_MAX(highest, model->frames[i].key);
			some = true;
		}
	for (frame = model_open_from(model, 0); some && frame != NULL && frame->key <= highest;) {
		uint64_t key = frame->key;

		if (ends(model, frame, now_ns))
			give(model, now_ns, frame, reason);
		else if (ordered)
			give(model, now_ns, frame, LULL_FRAME_SUPERSEDED);
		frame = key < UINT64_MAX ? model_open_from(model, key + 1) : NULL;
	}
	model_release(model, now_ns);
}

static bool
ends_due(const struct model *model, const struct model_frame *frame, uint64_t now_ns)
{
	return frame_due_ns(model, frame) <= now_ns;
}

bool
model_ends_always(const struct model *model, const struct model_frame *frame, uint64_t now_ns)
{
	(void)model;
	(void)frame;
	(void)now_ns;
	return true;
}

bool
model_ends_old(const struct model *model, const struct model_frame *frame, uint64_t now_ns)
{
	(void)now_ns;
	return model->frame_count - frame->opening >= model->config.open_max;
}

void
model_expire(struct model *model, uint64_t now_ns)
{
	model_end(model, now_ns, LULL_FRAME_DEADLINE, ends_due);
}

void
model_flush(struct model *model, uint64_t now_ns)
{
	model_expire(model, now_ns);
	model_end(model, now_ns, LULL_FRAME_FLUSH, model_ends_always);
}

struct model_frame *
model_next(struct model *model)
{
	struct model_frame *frame = model->given[0];

	if (model->given_count == 0)
		return NULL;
	memmove(model->given, model->given + 1, --model->given_count * sizeof(frame));
	return frame;
}
