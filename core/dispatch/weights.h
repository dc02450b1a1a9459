/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Weights: highest random weight by the function of Thaler and Ravishankar,
 *
 *   weight(D, T) = (A * ((A * T + B) xor D) + B) mod 2^31    A = 1103515245, B = 12345
 *
 * with D a flow's digest and T a worker's index. For one D it is different for every T below
 * 2^31, since A is odd: there are no ties.
 */
#ifndef LULL_WEIGHTS_H
#define LULL_WEIGHTS_H

#include <lull/dispatch.h>

#define LULL_WEIGHT_FACTOR 1103515245u
#define LULL_WEIGHT_SUMMAND 12345u

static inline uint32_t
lull_weight(uint32_t digest, uint32_t worker)
{
	uint32_t mixed = (LULL_WEIGHT_FACTOR * worker + LULL_WEIGHT_SUMMAND) ^ digest;

	return (LULL_WEIGHT_FACTOR * mixed + LULL_WEIGHT_SUMMAND) & LULL_DIGEST_MAX;
}

/** For each digest the worker below @p worker_count with the largest weight. */
typedef void lull_weights_best(const uint32_t *digests, uint32_t count, uint32_t worker_count,
			       uint16_t *workers);
/** NULL when this CPU does not have it. */
lull_weights_best *lull_weights_function(enum lull_weights weights);

#endif
