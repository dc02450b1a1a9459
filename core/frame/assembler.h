/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Assembler, inside: open frames by key, buffers by what they are doing, the past.
 *
 * Fragments come in by assembler.c, frames begin in assembler_begin.c and end in assembler_end.c,
 * buffers are in assembler_slots.c, assembler_info.c answers questions: each calls those after it
 * and none before.
 *
 * A frame is superseded when open_max frames were opened after it, counting those that found no
 * buffer: that bounds the open ones, and nothing waits for ever without a deadline. In frame order
 * no frame is given before an open one of a lower key; when a frame has to end, those below it end
 * as superseded, so no frame is given after its own deadline.
 */
#ifndef LULL_FRAME_ASSEMBLER_H
#define LULL_FRAME_ASSEMBLER_H

#include <stdalign.h>

#include <lull/frame.h>

#include "pixel/geometry.h"
#include "past.h"
#include "spans.h"

#define LULL_ASSEMBLER_OPEN_MAX 16
#define LULL_ASSEMBLER_BUFFERS_MAX 256
#define LULL_ASSEMBLER_SLOTS_MAX (LULL_ASSEMBLER_BUFFERS_MAX + 1)

#define LULL_ASSEMBLER_COUNT(assembler, counter, n)                                                \
	LULL_COUNTER_ADD((assembler)->counters.counter, n)

struct lull_open_frame {
	uint64_t key;
	uint8_t *data;
	struct lull_spans spans; /* holes, as places: see geometry.h */
	uint64_t high;           /* place behind the highest byte so far */
	uint64_t packet_max;     /* highest number so far */
	uint32_t flags;          /* LULL_FRAME_START, END, DAMAGED, TIMED: came */
	struct lull_past_stamp began;
	bool numbered; /* packet_max is known */
	bool presumed; /* its geometry was not told so far */
	uint16_t slot;
	uint64_t ordinal; /* of its opening */
	uint64_t news_ns; /* of the last packet used */
	struct lull_frame_layout layout;
	struct lull_frame_geometry geometry;
	struct lull_frame_stamps stamps;
	struct lull_frame_counts counts;
};

/* A buffer, and the frame in it once that has ended. */
struct lull_frame_slot {
	uint8_t *data;
	uint64_t bytes; /* of room */
	void *user;
	struct lull_frame frame;
	struct lull_frame_span *missing; /* room for spans_max */
};

/* Slot numbers, taken from either end. */
struct lull_slot_stack {
	uint32_t count;
	uint16_t slots[LULL_ASSEMBLER_SLOTS_MAX];
};

struct lull_assembler {
	/* by fragment */
	alignas(LULL_CACHE_LINE) struct lull_open_frame *current; /* of the last fragment; NULL */
	uint64_t due_ns; /* nothing is due before; may be too early */
	bool stopped;
	struct lull_assembler_counters counters;

	/* by frame */
	struct lull_assembler_config config; /* without zeros */
	struct lull_frame_geometry geometry; /* known last */
	struct lull_frame_layout layout;     /* of it; bytes 0: none is known */
	uint32_t open_count;
	uint32_t vacant;                         /* bit by member of open */
	uint8_t sorted[LULL_ASSEMBLER_OPEN_MAX]; /* open frames by key */
	uint64_t ordinal;                        /* of the frame opened last */
	uint64_t number;                         /* of the next frame given */
	bool begun;                              /* newest is known */
	bool stepped;                            /* step is known */
	bool handed;                             /* last is known */
	uint64_t newest, step;                   /* highest key, its distance to the one before */
	uint64_t last;                           /* highest key given */
	struct lull_past_stamp newest_began;     /* of the highest key whose START told */
	bool quiet; /* the sender was silent: see lull_assembler_quiet() */

	uint32_t lent; /* buffers */
	bool fetched;  /* a slot whose spans the caller may look at */
	uint16_t fetched_slot;
	uint32_t given_first, given_count; /* a ring of those waiting to be fetched */
	uint16_t given[LULL_ASSEMBLER_BUFFERS_MAX];
	struct lull_slot_stack empty, ready; /* without and with a buffer */
	struct lull_slot_stack small;        /* with one that is too small by now */

	struct lull_past past;
	struct lull_open_frame open[LULL_ASSEMBLER_OPEN_MAX];
	struct lull_frame_slot slots[LULL_ASSEMBLER_SLOTS_MAX];
};

/** Fill in what is zero. */
void lull_assembler_config_default(struct lull_assembler_config *config);
/** Put @p slot away: empty or ready. */
void lull_slot_push(struct lull_slot_stack *stack, uint16_t slot);
uint16_t lull_slot_pop(struct lull_slot_stack *stack);
/** Put away the slot of a buffer that no frame is in: ready, or small. */
void lull_slot_return(struct lull_assembler *assembler, uint16_t slot);
/** A buffer for a new frame; false: there is none. */
bool lull_slot_take(struct lull_assembler *assembler, uint16_t *slot);
/** Oldest frame that was given and not fetched. given_count is not 0. */
uint16_t lull_assembler_given_pop(struct lull_assembler *assembler);

/** Do all ranges lie within a picture of @p bytes? */
bool lull_fragment_inside(const struct lull_frame_fragment *fragment, uint64_t bytes);
/** A START with its time? What is sent again on request tells nothing new. */
bool lull_fragment_tells_begin(const struct lull_frame_fragment *fragment);
/** Is @p fragment of another frame than the one with its key, of which this is known? */
bool lull_past_stamp_contradicts(const struct lull_past_stamp *began,
				 const struct lull_frame_fragment *fragment);
/** The fragment's key is not open: open it, or count the fragment and return NULL. */
struct lull_open_frame *lull_assembler_begin(struct lull_assembler *assembler, uint64_t now_ns,
					     const struct lull_frame_fragment *fragment);
/** The same by proof that the sender began anew: what is open ends as it is. */
struct lull_open_frame *lull_assembler_begin_anew(struct lull_assembler *assembler, uint64_t now_ns,
						  const struct lull_frame_fragment *fragment);

/** Is all of it there, and known to be all? */
static inline bool
lull_open_frame_whole(const struct lull_open_frame *frame)
{
	return frame->spans.missing == 0 && !frame->presumed;
}
/** When @p frame has to end; UINT64_MAX: never. */
uint64_t lull_open_frame_due_ns(const struct lull_assembler *assembler,
				const struct lull_open_frame *frame);
/** All positions of assembler->sorted, as bits. */
static inline uint32_t
lull_assembler_all(const struct lull_assembler *assembler)
{
	return (1u << assembler->open_count) - 1;
}
/**
 * End the frames at positions @p ending of assembler->sorted for @p reason, if they are not
 * complete, and what must not wait or come later than these.
 */
void lull_assembler_end(struct lull_assembler *assembler, uint64_t now_ns, uint32_t ending,
			enum lull_frame_reason reason);
/** Give complete frames that need not wait. */
void lull_assembler_release(struct lull_assembler *assembler, uint64_t now_ns);
/** Take @p frame out of the open ones. */
void lull_assembler_unlink(struct lull_assembler *assembler, struct lull_open_frame *frame);
/**
 * Holes of @p frame below place @p limit as spans of offsets, @p by_rows without padding in them.
 * Returns how many; @p count_max + 1 when there are more than that.
 */
uint32_t lull_open_frame_holes(const struct lull_open_frame *frame, uint64_t limit, bool by_rows,
			       struct lull_frame_span *spans, uint32_t count_max);

#endif
