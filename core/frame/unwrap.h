/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Unwrap: counters that run over on the wire, as numbers that do not.
 *
 * Each value is taken to be the one nearest to the value before it, so that packets out of order
 * find their number across the wrap, and one wild value does no lasting harm. The low bits stay
 * those of the wire. The first value starts one turn up: earlier ones have numbers too.
 */
#ifndef LULL_UNWRAP_H
#define LULL_UNWRAP_H

#include <stdbool.h>
#include <stdint.h>

struct lull_unwrap {
	uint64_t last;
	bool running;
};

/** How far a sender that starts anew is put from where it was, at least. */
#define LULL_UNWRAP_RESTART (1ULL << 40)

/** Distance from @p from to @p to of counters of @p bits (8..32), the shorter way round. */
static inline int64_t
lull_unwrap_distance(uint64_t from, uint64_t to, unsigned int bits)
{
	uint64_t top = 1ULL << (bits - 1);
	uint64_t apart = (to - from) & ((top << 1) - 1);

	return (int64_t)(apart ^ top) - (int64_t)top;
}

/** The number of @p value, a counter of @p bits (8..32). */
static inline uint64_t
lull_unwrap_next(struct lull_unwrap *unwrap, uint64_t value, unsigned int bits)
{
	if (unwrap->running)
		unwrap->last += (uint64_t)lull_unwrap_distance(unwrap->last, value, bits);
	else
		unwrap->last = (1ULL << bits) + value;
	unwrap->running = true;
	return unwrap->last;
}

/** Go on far away from all numbers so far; the low @p bits of the next value are the wire's. */
static inline void
lull_unwrap_restart(struct lull_unwrap *unwrap, uint64_t value, unsigned int bits)
{
	unwrap->last = ((unwrap->last >> bits) << bits) + LULL_UNWRAP_RESTART + value;
	unwrap->running = true;
}

#endif
