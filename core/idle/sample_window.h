/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sample window: mean and variance of what was read in the last W ns, in constant time.
 *
 * Samples are integers, so the running sums are exact and stay so however long it runs. When more
 * samples fall into W than there is room for, the oldest leave early.
 * Memory: one fixed struct.
 */
#ifndef LULL_SAMPLE_WINDOW_H
#define LULL_SAMPLE_WINDOW_H

#include <stdint.h>

#define LULL_SAMPLE_COUNT_MAX 512u /* a power of two */
/* So that 512 squares fit 64 bits; larger samples count as this. */
#define LULL_SAMPLE_MAX ((1u << 27) - 1)

struct lull_sample_window {
	uint64_t span_ns;
	uint64_t sum, sum_squares;
	uint32_t head; /* of the oldest */
	uint32_t count;
	uint64_t times_ns[LULL_SAMPLE_COUNT_MAX];
	uint32_t values[LULL_SAMPLE_COUNT_MAX];
};

void lull_sample_window_init(struct lull_sample_window *window, uint64_t span_ns);
/** Samples of times before @p now_ns - span leave; @p now_ns never goes back. */
void lull_sample_window_add(struct lull_sample_window *window, uint64_t now_ns, uint64_t value);
/** 0 of none. */
double lull_sample_window_mean(const struct lull_sample_window *window);
/** Exactly 0 when all samples are equal. */
double lull_sample_window_variance(const struct lull_sample_window *window);

/** Variance of @p count numbers from their sum and the sum of their squares, exact till divided. */
double lull_sample_variance(uint64_t count, uint64_t sum, uint64_t sum_squares);

#endif
