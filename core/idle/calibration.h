/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Calibration: what one rest costs on this machine and how late it ends.
 *
 * Learned from every rest of a loop; old rests fade by halving, so about the
 * last LULL_CALIBRATION_WEIGHT rests count. The rarest and longest are lost by that: stalls.h
 * keeps those.
 * Memory: one fixed struct per idle state.
 */
#ifndef LULL_CALIBRATION_H
#define LULL_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "stalls.h"

#define LULL_CALIBRATION_SUB_BITS 4 /* bins at most 1/16 wide */
#define LULL_CALIBRATION_OCTAVES 28 /* overshoots from 0 to 2^30 ns */
#define LULL_CALIBRATION_BINS ((LULL_CALIBRATION_OCTAVES + 1) << LULL_CALIBRATION_SUB_BITS)
#define LULL_CALIBRATION_WEIGHT 16384
#define LULL_CALIBRATION_READY 32 /* rests before anything is promised */

struct lull_calibration {
	uint64_t count;     /* rests measured in all */
	uint64_t cost_ns;   /* CPU time of one rest, smoothed; a cautious guess at first */
	uint32_t weight;    /* sum of bins */
	uint32_t late_ppm;  /* share of late wake-ups, smoothed over about 256 rests */
	bool cost_measured; /* cost_ns is a measurement, not the first guess */
	uint64_t p50_ns, p99_ns, p999_ns, p9999_ns; /* overshoot, refreshed every 64 rests */
	uint64_t usual_p99_ns;                      /* of rests that no stall met, likewise */
	uint32_t bin_first, bin_last; /* nothing is in the bins beyond; first > last: in none */
	uint32_t bins[LULL_CALIBRATION_BINS];
};

void lull_calibration_init(struct lull_calibration *calibration);
/**
 * Add one rest; true when it counts as late: more than 4 x p50 + 50 us beyond its limit. @p cpu_ns
 * 0: not measured.
 */
bool lull_calibration_add(struct lull_calibration *calibration, uint64_t overshoot_ns,
			  uint64_t cpu_ns);
/**
 * Overshoot that @p ppm of rests do not exceed (upper edge of the bin); a guess of 40 us until
 * ready.
 */
uint64_t lull_calibration_quantile(const struct lull_calibration *calibration, uint32_t ppm);
/** The same of rests that no stall met (stalls.h); 0 of none. */
uint64_t lull_calibration_usual(const struct lull_calibration *calibration, uint32_t ppm);
/** First bin of overshoots that make a rest a stall: LULL_STALL_NS and more. */
#define LULL_CALIBRATION_STALL_BIN                                                                 \
	((LULL_STALL_BITS - LULL_CALIBRATION_SUB_BITS + 1u) << LULL_CALIBRATION_SUB_BITS)
/** Upper edge of a bin, the overshoot the bounds reckon with. */
uint64_t lull_calibration_high(uint32_t bin);

#endif
