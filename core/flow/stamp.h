/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stamp: the time of day of packets that nothing has stamped.
 *
 * A loop that polls learns only that packets came since it looked last. They are spread evenly over
 * that time, at most LULL_STAMP_SPAN_NS of it: before, the loop was resting for want of packets.
 *
 * The time of day may be set while packets come. Stamps follow it forwards at once. When it is set
 * back they go on at half speed until it has caught up, so they never go back.
 *
 * Threads: one. Memory: the caller's struct, zeroed; no clock is read here.
 */
#ifndef LULL_FLOW_STAMP_H
#define LULL_FLOW_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/base.h>

#define LULL_STAMP_SPAN_NS LULL_NS_PER_MS
#define LULL_STAMP_STEP_NS (100 * LULL_NS_PER_MS) /* a clock that differs by more was set */
#define LULL_STAMP_BURST_MAX 256

struct lull_stamp {
	uint64_t steps; /* times that the time of day was set */
	bool begun;
	uint64_t clock_ns; /* steady clock of the last burst, and ... */
	uint64_t day_ns;   /* ... the time of day then, as told by stamps */
	int64_t apart_ns;  /* time of day less steady clock, then */
	uint64_t span_ns;  /* before day_ns: packets came in it */
	/* of the burst at hand */
	uint64_t first_ns, each_ns;
};

/**
 * A loop has received packets.
 *
 * @param clock_ns   steady clock, never goes back
 * @param day_ns     time of day, since 1970
 * @param looked_ns  steady clock when the loop looked before, <= clock_ns
 */
void lull_stamp_look(struct lull_stamp *stamp, uint64_t clock_ns, uint64_t day_ns,
		     uint64_t looked_ns);
/** A burst of @p count (1..LULL_STAMP_BURST_MAX) packets of that look: queues share its time. */
void lull_stamp_burst(struct lull_stamp *stamp, uint32_t count);
/** The stamp of packet @p index of the burst; the last one came just now. */
static inline uint64_t
lull_stamp_of(const struct lull_stamp *stamp, uint32_t index)
{
	return stamp->first_ns + index * stamp->each_ns;
}

#endif
