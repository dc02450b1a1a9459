/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Model of an assembler: one byte of state for each byte of a picture, everything looked up and
 * counted anew each time. It shares nothing with the assembler but the rules that frame.h, past.h
 * and assembler.h state. One geometry; buffers are only counted.
 */
#ifndef LULL_TEST_ASSEMBLER_MODEL_H
#define LULL_TEST_ASSEMBLER_MODEL_H

#include <lull/frame.h>

#define MODEL_BYTES 512
#define MODEL_FRAMES 512
#define MODEL_PAST 64

enum model_byte { MODEL_MISSING, MODEL_THERE, MODEL_PADDING };
struct model_frame {
	uint64_t key, number, packet_max, left, high;
	struct lull_frame_stamps stamps;
	struct lull_frame_counts counts;
	enum lull_frame_reason reason;
	uint32_t flags, opening;
	bool open, kept, full, numbered, former; /* kept: it had a buffer */
	bool timed;                              /* its START told when it began */
	uint64_t began;
	uint8_t data[MODEL_BYTES], states[MODEL_BYTES];
	bool written[MODEL_BYTES];
};
struct model {
	struct lull_assembler_config config;
	uint32_t row_bytes, used_bytes, bytes;
	struct lull_assembler_counters counters;
	struct model_frame frames[MODEL_FRAMES]; /* as they were opened */
	uint32_t frame_count;
	struct model_frame *past[MODEL_PAST]; /* as they ended */
	uint32_t past_count, opened_since;
	struct model_frame *given[MODEL_FRAMES];
	uint32_t given_count, buffers;
	bool begun, stepped, handed, stopped, doubt;
	uint64_t newest, step, last, number;
	bool quiet, clocked; /* clocked: the START of the newest key told */
	uint64_t clock;
	uint64_t doubt_key, doubt_bytes;
	uint32_t doubt_fragments, doubt_strange;
};

void model_init(struct model *model, const struct lull_assembler_config *config, uint32_t buffers);
void model_add(struct model *model, uint64_t now_ns, const struct lull_frame_fragment *fragment);
void model_expire(struct model *model, uint64_t now_ns);
void model_flush(struct model *model, uint64_t now_ns);
uint64_t model_due_ns(const struct model *model);
/** NULL: none was given. */
struct model_frame *model_next(struct model *model);
uint64_t model_missing(const struct model *model, const struct model_frame *frame);
/** Do spans that leave out padding fit in a map? */
bool model_rows_fit(const struct model *model, const struct model_frame *frame);
/** Whole rows of the newest open frame. */
uint32_t model_rows(const struct model *model);

/* ---- between assembler_model.c and assembler_model_end.c ---- */

/** Which frames end. */
typedef bool model_ends(const struct model *model, const struct model_frame *frame,
			uint64_t now_ns);
model_ends model_ends_always, model_ends_old;
/** Frames for which @p ends says so, and in frame order those of lower keys before each. */
void model_end(struct model *model, uint64_t now_ns, enum lull_frame_reason reason,
	       model_ends *ends);
/** Give complete frames that need not wait. */
void model_release(struct model *model, uint64_t now_ns);
void model_remember(struct model *model, struct model_frame *frame);
/** The open frame of the lowest key from @p key on. */
struct model_frame *model_open_from(struct model *model, uint64_t key);

#endif
