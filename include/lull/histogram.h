/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Histogram: counts of durations in log-linear bins.
 *
 * Values up to 2^36 ns (68 s) fall into bins at most 1/64 (1.6 %) wide; larger
 * ones into the last bin. Values below 64 are exact.
 * Threads: one writer; readers use the relaxed readers below and may see a
 *          histogram that is a few adds old.
 * Memory:  one fixed struct of about 16 KiB, all zero when empty.
 */
#ifndef LULL_HISTOGRAM_H
#define LULL_HISTOGRAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_HISTOGRAM_SUB_BITS 6
#define LULL_HISTOGRAM_VALUE_BITS 36
#define LULL_HISTOGRAM_BINS                                                                        \
	((LULL_HISTOGRAM_VALUE_BITS - LULL_HISTOGRAM_SUB_BITS + 1) << LULL_HISTOGRAM_SUB_BITS)

struct lull_histogram {
	uint64_t count; /**< sum of all weights */
	uint64_t sum;   /**< sum of value * weight, wraps after 584 years of ns */
	uint64_t max;   /**< largest value added, exact */
	uint64_t bins[LULL_HISTOGRAM_BINS];
};

/** Bin of @p value; always below LULL_HISTOGRAM_BINS. */
uint32_t lull_histogram_bin(uint64_t value);
/** Smallest value of @p bin. */
uint64_t lull_histogram_low(uint32_t bin);
/** Largest value of @p bin. */
uint64_t lull_histogram_high(uint32_t bin);
/** Add @p weight values. */
void lull_histogram_add(struct lull_histogram *histogram, uint64_t value, uint64_t weight);
/** Forget everything. Writer only. */
void lull_histogram_clear(struct lull_histogram *histogram);
/** Add everything in @p from to @p into; @p from may be written meanwhile. */
void lull_histogram_merge(struct lull_histogram *into, const struct lull_histogram *from);
/**
 * The value that at least @p ppm parts per million of the weight do not
 * exceed: the upper edge of its bin, cut to the exact maximum, so a reported
 * percentile never lies below the true one. 0 when empty.
 */
uint64_t lull_histogram_quantile(const struct lull_histogram *histogram, uint32_t ppm);

#ifdef __cplusplus
}
#endif

#endif
