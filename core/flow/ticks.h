/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Ticks: the clock of a network card, by which it stamps the packets that it receives, told in
 * terms of the steady clock.
 *
 * Its unit, begin and drift are unknown: both clocks are read now and then, and between two such
 * readings the rate is that of the last two. Nothing is known before the second one.
 *
 * The time of day may be set, and is read between two interruptions: of two packets the one that
 * the card received later does not get the earlier time.
 *
 * Threads: one. Memory: the caller's struct, zeroed; no clock is read here.
 */
#ifndef LULL_FLOW_TICKS_H
#define LULL_FLOW_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/base.h>

/* Readings closer to each other tell no rate: one takes a microsecond or two. */
#define LULL_TICKS_APART_NS (10 * LULL_NS_PER_MS)
/* A packet that seems to be older, or to come so much later, has another clock's stamp. */
#define LULL_TICKS_AGE_MAX_NS (10 * LULL_NS_PER_S)
#define LULL_TICKS_AHEAD_MAX_NS (10 * LULL_NS_PER_MS)

struct lull_ticks {
	bool begun, known;
	uint64_t device, clock_ns; /* read at the same time, last */
	double ns_per_tick;
	uint64_t told_device, told_ns; /* the latest packet that was told */
};

/** Both clocks were read: @p device ticks at @p clock_ns of the steady clock. */
void lull_ticks_look(struct lull_ticks *ticks, uint64_t device, uint64_t clock_ns);
/**
 * How long before @p clock_ns it was @p device: in ns, below 0 for a little later.
 * @return false: nobody knows
 */
bool lull_ticks_age(const struct lull_ticks *ticks, uint64_t device, uint64_t clock_ns,
		    int64_t *age_ns);
/** The time of the packet stamped @p device, @p ns by the clocks, so that times keep the order. */
uint64_t lull_ticks_tell(struct lull_ticks *ticks, uint64_t device, uint64_t ns);

#endif
