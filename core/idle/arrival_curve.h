/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Arrival curve: the most packets that one queue brought in any window of 1, 2, 4 ... 16384 us.
 *
 * What network calculus calls an arrival curve, learned. A single largest rate says that a burst
 * of a few packets could go on for a whole ring; the curve says how long it did go on. A queue is
 * watched between the times at which it was known empty: what it brought in between is one batch,
 * which says nothing about windows shorter than that.
 *
 * Windows are laid end to end, so a sliding one may hold up to twice as much: whoever promises
 * something takes twice the curve (LULL_ARRIVAL_MARGIN). What is known fades by half in 9 s.
 * Threads: belongs to one loop. Memory: fixed structs.
 */
#ifndef LULL_ARRIVAL_CURVE_H
#define LULL_ARRIVAL_CURVE_H

#include <stdint.h>

#include <lull/idle.h>

#define LULL_ARRIVAL_MARGIN 2

/** Windows under way of one queue; all zero to begin with. */
struct lull_arrival_windows {
	struct {
		uint64_t begin_ns;
		uint64_t pkts; /* 0: no window has begun */
	} scales[LULL_ARRIVAL_SCALES];
};

struct lull_arrival_curve {
	uint64_t fade_ns;
	uint64_t pkts_x256[LULL_ARRIVAL_SCALES]; /* 1/256 packets, so that few fade as many do */
};

void lull_arrival_curve_init(struct lull_arrival_curve *curve, uint64_t now_ns);
/**
 * The queue of @p windows was empty at @p from_ns, and again at @p to_ns after it had brought
 * @p pkts > 0. Batches of one queue come in the order of time and do not overlap.
 */
void lull_arrival_curve_add(struct lull_arrival_curve *curve, struct lull_arrival_windows *windows,
			    uint64_t from_ns, uint64_t to_ns, uint64_t pkts);
/** Forget a little as time goes by; cheap, a few times a second suffices. */
void lull_arrival_curve_fade(struct lull_arrival_curve *curve, uint64_t now_ns);

/** Most packets seen in a window of 2^@p scale us, rounded up. */
uint64_t lull_arrival_curve_pkts(const struct lull_arrival_curve *curve, uint32_t scale);
/**
 * Longest window in which @p margin times the curve brings no more than @p room_pkts; UINT64_MAX
 * when nothing has been seen. Straight lines between the scales, the last rate beyond them.
 */
uint64_t lull_arrival_curve_window_ns(const struct lull_arrival_curve *curve, uint64_t room_pkts,
				      uint32_t margin);

#endif
