/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Phase: when will the last packet of a stream's frame come?
 *
 * Told from what came before: within a frame by half of the time that the bytes left take at the
 * fastest rate lately seen, between frames by the period. Until then a receiver may rest; governor
 * phase (core/idle) does.
 * The answer is cautious: too early costs a little polling, too late costs latency.
 * Memory: one fixed struct, all zero at first.
 */
#ifndef LULL_FRAME_PHASE_H
#define LULL_FRAME_PHASE_H

#include <stdbool.h>
#include <stdint.h>

struct lull_phase {
	bool open;               /* a frame is being received */
	uint64_t first_ns;       /* its first packet, as late as it was fetched */
	uint64_t bytes;          /* of it so far */
	uint64_t last_ns;        /* last packet of the complete frame before; 0: none */
	uint64_t news_ns;        /* last packet of all */
	uint64_t period_ns;      /* 0: not known */
	uint32_t left_out;       /* steps in a row in which frames were missing */
	uint64_t jitter_ns;      /* mean distance from the period */
	uint64_t span_ns;        /* shortest from first to last packet lately; 0: not known */
	uint64_t ns_per_byte_16; /* lowest lately, times 2^16, at most UINT32_MAX */
	uint64_t gap_ns;         /* longest without news in this frame */
	uint64_t pause_ns;       /* the same in complete frames, lately */
};

/** The first packet of a frame was fetched. */
void lull_phase_begin(struct lull_phase *phase, uint64_t now_ns);
/** @p bytes of the frame were fetched, the queue is empty now. */
void lull_phase_news(struct lull_phase *phase, uint64_t now_ns, uint64_t bytes);
/** Its last packet was fetched; @p complete: all of it came. */
void lull_phase_end(struct lull_phase *phase, uint64_t now_ns, uint64_t bytes, bool complete);
/**
 * After so long without news an open frame is not going on: half a period, and more where frames
 * have pauses, as between the two fields of interlaced ones. 0: not known yet.
 */
uint64_t lull_phase_silence_ns(const struct lull_phase *phase);
/**
 * Nothing urgent is expected before; at most @p now_ns: something may come at any time; 0: no frame
 * yet, or none for several periods: who knows. @p bytes: of a whole frame; 0: not known.
 */
uint64_t lull_phase_quiet_until_ns(const struct lull_phase *phase, uint64_t now_ns, uint64_t bytes);

#endif
