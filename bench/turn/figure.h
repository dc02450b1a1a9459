/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Figure: medians of repeated measurements, printed as rows of a Markdown table.
 *
 * Threads: the main thread.
 * Memory:  fixed arrays.
 */
#ifndef LULL_BENCH_FIGURE_H
#define LULL_BENCH_FIGURE_H

#include <stdint.h>

#define FIGURE_ROUNDS_MAX 101

/** What was seen in each round. */
struct figure {
	uint32_t count;
	double values[FIGURE_ROUNDS_MAX];
};
void figure_add(struct figure *figure, double value);
/** 0 when nothing was added. */
double figure_median(const struct figure *figure);
double figure_least(const struct figure *figure);
/** Median of figure / base, pair by pair; the rounds of both belong together. */
double figure_ratio(const struct figure *figure, const struct figure *base);

/** CPU time of the calling thread, ns: others on this machine do not count. */
uint64_t figure_cpu_ns(void);
/** One paragraph: CPU, kernel, compiler, commit of the tree in @p tree. */
void figure_print_machine(const char *tree);

#endif
