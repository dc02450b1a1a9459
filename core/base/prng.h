/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Random numbers: the same from the same seed on every machine and compiler.
 *
 * xoshiro256** by Blackman and Vigna, seeded through splitmix64. Integers
 * only, the exponential distribution too: what is drawn does not depend on a
 * math library, on rounding or on optimisation. Not for secrets.
 */
#ifndef LULL_PRNG_H
#define LULL_PRNG_H

#include <stdint.h>

struct lull_prng {
	uint64_t state[4]; /* never all zero */
};

#define LULL_PRNG_UNIT_BITS 57

/** Start sequence @p stream of @p seed; streams of one seed do not resemble each other. */
void lull_prng_init(struct lull_prng *prng, uint64_t seed, uint64_t stream);

/** Any 64-bit number, all alike. */
static inline uint64_t
lull_prng_u64(struct lull_prng *prng)
{
	uint64_t *state = prng->state;
	uint64_t scaled = state[1] * 5;
	uint64_t result = (scaled << 7 | scaled >> 57) * 9;
	uint64_t kept = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= kept;
	state[3] = state[3] << 45 | state[3] >> 19;
	return result;
}

/** One of 0 .. @p bound - 1 (@p bound > 0), all exactly alike. */
uint64_t lull_prng_below(struct lull_prng *prng, uint64_t bound);

/**
 * Exponential distribution of mean 1, in units of 2^-LULL_PRNG_UNIT_BITS:
 * 1 .. 45 << LULL_PRNG_UNIT_BITS, never 0.
 */
uint64_t lull_prng_exponential(struct lull_prng *prng);

#endif
