/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ticks: time of a pass over all frames, without what others on this CPU took.
 *
 * A pass is measured in windows of a few us. A window in which somebody else had the CPU is many
 * times longer than the others: those beyond three medians are left out, and counted.
 * Threads: one.
 */
#ifndef LULL_BENCH_TICKS_H
#define LULL_BENCH_TICKS_H

#include <stdint.h>

#define TICKS_WINDOWS_MAX 65536

struct ticks {
	uint32_t count;
	uint64_t left_out; /**< windows, in all passes so far */
	uint64_t windows;  /**< the same */
	uint32_t values[TICKS_WINDOWS_MAX], sorted[TICKS_WINDOWS_MAX];
};
void ticks_clear(struct ticks *ticks);
void ticks_add(struct ticks *ticks, uint64_t value);
/** Mean of the windows that count; 0 when there is none. */
double ticks_mean(struct ticks *ticks);

#endif
