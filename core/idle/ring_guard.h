/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ring guard: the longest request that the Rx ring survives, for governors that promise no loss.
 *
 * Link and stated rates are a promise, so the rarest wake-ups count in full, and so do stalls;
 * learned arrivals are none: twice their curve against the usual wake-ups, once against the rare
 * ones. A lost packet halves the share of it in use, which is given back over seconds.
 * Memory: one fixed struct.
 */
#ifndef LULL_RING_GUARD_H
#define LULL_RING_GUARD_H

#include "governor.h"

struct lull_ring_guard {
	uint64_t released_ns;
	uint32_t share_ppm; /* of the bound in use */
};

void lull_ring_guard_init(struct lull_ring_guard *guard);
/** Longest rest to request; UINT64_MAX when losing packets is acceptable. */
uint64_t lull_ring_guard_ns(const struct lull_ring_guard *guard, const struct lull_idle_view *view);
/** Now and then: give back what a loss took. */
void lull_ring_guard_release(struct lull_ring_guard *guard, uint64_t now_ns);
/** Packets were lost after a rest. */
void lull_ring_guard_miss(struct lull_ring_guard *guard, uint64_t now_ns);

#endif
