/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/base.h>

#include "assert.h"
#include "prng.h"

__extension__ typedef unsigned __int128 prng_wide;

/* Fractions of 2^64. */
#define LN_2 0xb17217f7d1cf79abULL

/* Sum of ln(2)^i / i! for i = 1..k, k = 2..18; the rest is below 2^-64. */
static const uint64_t exponential_series[] = {
	0xeef193f6d75a96fc, 0xfd27186259aaf6c2, 0xff9d6dd050f4c5a7, 0xfff4cfcfef1e626b,
	0xfffee81886e1c62f, 0xffffe7fe850e0bb5, 0xfffffe2a8731b17d, 0xffffffdfac6eeadc,
	0xfffffffdf9640067, 0xffffffffe22ec79c, 0xfffffffffe6a9ded, 0xffffffffffebff81,
	0xffffffffffff1417, 0xfffffffffffff5ce, 0xffffffffffffff95, 0xfffffffffffffffb,
	UINT64_MAX,
};

/* splitmix64: a counter, well stirred. */
static uint64_t
prng_stir(uint64_t *counter)
{
	uint64_t z = *counter += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

void
lull_prng_init(struct lull_prng *prng, uint64_t seed, uint64_t stream)
{
	uint64_t counter = prng_stir(&seed) + stream;

	counter = prng_stir(&counter);
	for (int i = 0; i < 4; i++)
		prng->state[i] = prng_stir(&counter);
}

/*
 * The high half of number * bound is what is asked for, but some results own
 * one number more than others. Numbers whose low half is below 2^64 % bound
 * are those extra ones: draw again. The division happens only near that edge.
 */
uint64_t
lull_prng_below(struct lull_prng *prng, uint64_t bound)
{
	prng_wide product = (prng_wide)lull_prng_u64(prng) * bound;

	LULL_ASSERT_HOT(bound > 0);
	if ((uint64_t)product < bound) {
		uint64_t extra = -bound % bound;

		while ((uint64_t)product < extra)
			product = (prng_wide)lull_prng_u64(prng) * bound;
	}
	return (uint64_t)(product >> 64);
}

/*
 * Knuth's algorithm S (TAOCP volume 2, 3.4.1, exponential deviates): whole
 * multiples of ln 2 come from a run of equal bits, the part below ln 2 from
 * the least of k uniform numbers, k being drawn from the series of exp(ln 2).
 */
uint64_t
lull_prng_exponential(struct lull_prng *prng)
{
	uint64_t bits = lull_prng_u64(prng);
	uint32_t run = (uint32_t)__builtin_clzll(bits | 1);
	uint64_t part = bits << run << 1;
	uint64_t least, next;
	prng_wide result;

	if (part < LN_2) {
		result = ((prng_wide)run * LN_2 + part) >> (64 - LULL_PRNG_UNIT_BITS);
		return (uint64_t)result + (result == 0);
	}
	least = lull_prng_u64(prng);
	next = lull_prng_u64(prng);
	least = LULL_MIN(least, next);
	for (uint32_t i = 0; part >= exponential_series[i];
	     i++) { /* part is even: the last ends it */
		next = lull_prng_u64(prng);
		least = LULL_MIN(least, next);
	}
	result = ((prng_wide)run << 64 | least) >> (64 - LULL_PRNG_UNIT_BITS);
	return (uint64_t)(result * LN_2 >> 64) + 1;
}
