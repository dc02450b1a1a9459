/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Past: the frames that ended lately, and when a sender has begun anew.
 *
 * A frame that ended is remembered with the bytes it still lacks: fragments that bring those are
 * late. Fragments that cannot be late are in doubt: *repeats* (of a frame that lacks nothing like
 * it any more, or of one that was passed over) and *strange* ones (of a key below all that is
 * remembered). Strays look like that as well, but they come between fragments of a sender that goes
 * on, while one that began anew sends nothing else. So doubts add up only until a fragment in order
 * comes, and the sender has begun anew when
 *
 * - strange fragments of two frames came, one key above the other, or 16 strange fragments;
 * - repeats came for half a frame, and then one of a higher key.
 *
 * The assembler asks for no such proof where a START tells another time than the one that is known
 * of its frame, or the sender was silent before.
 */
#ifndef LULL_FRAME_PAST_H
#define LULL_FRAME_PAST_H

#include <stdbool.h>
#include <stdint.h>

#define LULL_PAST_FRAMES 64
#define LULL_PAST_STRANGE_FRAGMENTS 16

enum lull_past_kind {
	LULL_PAST_GIVEN,
	LULL_PAST_NO_BUFFER,
	LULL_PAST_OVERSIZE,
	LULL_PAST_UNSIZED,
};
/** What the sender's clock said in the START of a frame. */
struct lull_past_stamp {
	bool known;
	uint64_t time;
};
struct lull_past_frame {
	uint64_t left;  /**< bytes that did not come yet */
	uint32_t flags; /**< LULL_FRAME_START, END: came */
	enum lull_past_kind kind;
	bool former; /**< of a sender that has begun anew since */
	struct lull_past_stamp began;
};
struct lull_doubt {
	bool on;
	uint32_t fragments, strange_fragments;
	uint64_t key, bytes;
};
struct lull_past {
	struct lull_doubt doubt; /**< cleared by a fragment in order: on = false */
	uint32_t count, next;
	uint32_t opened; /**< frames since the sender began anew */
	uint64_t keys[LULL_PAST_FRAMES];
	struct lull_past_frame frames[LULL_PAST_FRAMES];
};

/** All zero is an empty past. NULL: no frame of @p key is remembered. A former one comes last. */
struct lull_past_frame *lull_past_find(struct lull_past *past, uint64_t key);
/** Remember a frame in place of the one that ended first. */
void lull_past_add(struct lull_past *past, uint64_t key, const struct lull_past_frame *frame);
/** Lowest key; UINT64_MAX when nothing is remembered. */
uint64_t lull_past_floor(const struct lull_past *past);
/** A frame was opened. Those of a former sender are forgotten when its successor has two. */
void lull_past_open(struct lull_past *past);
/** A fragment in doubt, of a frame of @p frame_bytes. True: the sender has begun anew. */
bool lull_past_doubt(struct lull_past *past, uint64_t key, uint64_t bytes, uint64_t frame_bytes,
		     bool strange);

#endif
