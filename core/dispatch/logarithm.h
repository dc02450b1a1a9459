/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Logarithm: -log2 of a fraction of 2^31, in integers: the same on every machine. */
#ifndef LULL_LOGARITHM_H
#define LULL_LOGARITHM_H

#include <stdint.h>

#define LULL_LOGARITHM_BITS 32

/**
 * -log2((number + 1) / 2^31) for @p number below 2^31, in units of 2^-LULL_LOGARITHM_BITS: below
 * 31 units of one, never larger for a larger number, exact to 4e-6.
 */
uint64_t lull_logarithm(uint32_t number);

#endif
