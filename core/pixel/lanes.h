/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Lanes: how many pixels a row function takes at once; the result is the same.
 */
#ifndef LULL_FRAME_LANES_H
#define LULL_FRAME_LANES_H

#include <stdbool.h>

enum lull_lanes {
	LULL_LANES_BEST, /**< what this CPU does fastest */
	LULL_LANES_SCALAR,
	LULL_LANES_AVX2
};

/** Is it LULL_LANES_AVX2, or the best and this CPU has AVX2? */
static inline bool
lull_lanes_wide(enum lull_lanes lanes)
{
#ifdef __x86_64__
	return lanes != LULL_LANES_SCALAR && __builtin_cpu_supports("avx2");
#else
	(void)lanes;
	return false;
#endif
}

#endif
