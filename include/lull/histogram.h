/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Histogram: counts of durations in log-linear bins.
 *
 * Values up to 2^36 ns (68 s) fall into bins at most 1/64 (1.6 %) wide; larger
 * ones into the last bin. Values below 64 are exact.
 *
 * @code
 * #include <stdio.h>
 * #include <lull/histogram.h>
 *
 * static struct lull_histogram waits;
 *
 * void
 * report(uint64_t wait_ns)
 * {
 *         lull_histogram_add(&waits, wait_ns, 1);
 *         printf("p99 %llu ns\n", (unsigned long long)lull_histogram_quantile(&waits, 990000));
 * }
 * @endcode
 *
 * Threads: one writer; readers on other threads may see a histogram that is a
 *          few adds old.
 * Memory:  one fixed struct of about 16 KiB, all zero when empty.
 */
#ifndef LULL_HISTOGRAM_H
#define LULL_HISTOGRAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bins per octave, the largest value and the number of bins, as powers of two. */
#define LULL_HISTOGRAM_SUB_BITS 6
#define LULL_HISTOGRAM_VALUE_BITS 36
#define LULL_HISTOGRAM_BINS                                                                        \
	((LULL_HISTOGRAM_VALUE_BITS - LULL_HISTOGRAM_SUB_BITS + 1) << LULL_HISTOGRAM_SUB_BITS)

/** Counts by bin; read members with LULL_COUNTER_READ(). */
struct lull_histogram {
	uint64_t count; /**< sum of all weights */
	uint64_t sum;   /**< sum of value * weight, wraps after 584 years of ns */
	uint64_t max;   /**< largest value added, exact */
	uint64_t bins[LULL_HISTOGRAM_BINS]; /**< weight by bin */
};

/**
 * Find the bin of a value.
 * @param value  any value, usually ns
 * @return the bin's number, always below LULL_HISTOGRAM_BINS
 * Threads: any.
 */
uint32_t lull_histogram_bin(uint64_t value);
/**
 * Find the smallest value that falls into a bin.
 * @param bin  0..LULL_HISTOGRAM_BINS - 1
 * @return the value, in the unit of what was added
 * Threads: any.
 */
uint64_t lull_histogram_low(uint32_t bin);
/**
 * Find the largest value that falls into a bin.
 * @param bin  0..LULL_HISTOGRAM_BINS - 1
 * @return the value, in the unit of what was added; UINT64_MAX for the last bin
 * Threads: any.
 */
uint64_t lull_histogram_high(uint32_t bin);
/**
 * Add a value @p weight times. Constant time, no system call.
 * Threads: the writer.
 */
void lull_histogram_add(struct lull_histogram *histogram, uint64_t value, uint64_t weight);
/**
 * Forget everything. A reader that reads meanwhile may see some bins cleared and others not.
 * Threads: the writer.
 */
void lull_histogram_clear(struct lull_histogram *histogram);
/**
 * Add everything in @p from to @p into. The writer of @p from may go on meanwhile: the result then
 * holds what a reader saw, bin by bin.
 * Threads: the writer of @p into.
 */
void lull_histogram_merge(struct lull_histogram *into, const struct lull_histogram *from);
/**
 * Find a percentile: the smallest upper edge of a bin that at least @p ppm parts per million of the
 * weight do not exceed, cut to the exact maximum. So a reported percentile is never below the true
 * one, and at most 1.6 % above it.
 * @param ppm  share in parts per million, 990000 for p99; values above 1000000 count as 1000000
 * @return the value, in the unit of what was added; 0 when the histogram is empty
 * Threads: any.
 */
uint64_t lull_histogram_quantile(const struct lull_histogram *histogram, uint32_t ppm);

#ifdef __cplusplus
}
#endif

#endif
