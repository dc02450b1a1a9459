/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Metronome: its formula, apart from the governor, for any number of threads.
 */
#ifndef LULL_METRONOME_H
#define LULL_METRONOME_H

#include <stdint.h>

#define LULL_METRONOME_THREADS_MAX 64

/**
 * How long each of @p threads (1..LULL_METRONOME_THREADS_MAX) that share a
 * queue sleeps so that the queue is left alone for @p vacation_ns (up to
 * 100 s) on average, at load @p rho_ppm (up to 10^6):
 *   TS = N V (1 - rho) / (1 - rho^N)
 */
uint64_t lull_metronome_rest_ns(uint32_t threads, uint64_t vacation_ns, uint32_t rho_ppm);

#endif
