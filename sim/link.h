/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Link: when the last bit of a frame is through.
 *
 * A frame takes its bytes plus 24 (CRC, preamble, gap) at the link's rate, one
 * after the other; a shaper before it lets a burst through at once and the
 * rest at its own rate. Picoseconds inside, so that no rounding adds up.
 */
#ifndef LULL_SIM_LINK_H
#define LULL_SIM_LINK_H

#include <lull/base.h>

#define LULL_SIM_WIRE_BYTES 24
#define LULL_SIM_PS_PER_NS 1000ULL

struct lull_sim_link {
	uint64_t rate_bps;       /* 0: a frame takes no time */
	uint64_t shape_bps;      /* 0: no shaper */
	uint64_t shape_burst_ps; /* what the shaper lets through at once, in time at its rate */
	uint64_t free_ps;
	uint64_t shape_ps; /* when the shaper's bucket is full again */
	uint32_t bytes;    /* of the last frame, and what it took */
	uint64_t frame_ps, shape_frame_ps;
};

static inline uint64_t
lull_sim_frame_ps(uint64_t rate_bps, uint32_t bytes)
{
	if (rate_bps == 0)
		return 0;
	return (uint64_t)(bytes + LULL_SIM_WIRE_BYTES) * 8 * 1000000000000ULL / rate_bps;
}

static inline void
lull_sim_link_init(struct lull_sim_link *link, uint64_t rate_bps, uint64_t shape_bps,
		   uint32_t shape_burst_bytes)
{
	uint64_t scaled = (uint64_t)shape_burst_bytes * 8 * LULL_NS_PER_S;

	*link = (struct lull_sim_link){ .rate_bps = rate_bps, .shape_bps = shape_bps };
	if (shape_bps > 0) /* in two steps: a large burst in ps does not fit into 64 bits */
		link->shape_burst_ps = scaled / shape_bps * LULL_SIM_PS_PER_NS +
				       scaled % shape_bps * LULL_SIM_PS_PER_NS / shape_bps;
}

/* The earliest time the shaper lets a frame begin that is there at ready_ps. */
static inline uint64_t
lull_sim_link_shape(struct lull_sim_link *link, uint64_t ready_ps)
{
	uint64_t full_ps = LULL_MAX(link->shape_ps, ready_ps) + link->shape_frame_ps;

	link->shape_ps = full_ps;
	return full_ps > ready_ps + link->shape_burst_ps ? full_ps - link->shape_burst_ps :
							   ready_ps;
}

/** A frame handed over at @p ready_ns, never before the last one: when its last bit is through. */
static inline uint64_t
lull_sim_link_pass(struct lull_sim_link *link, uint64_t ready_ns, uint32_t bytes)
{
	uint64_t ready_ps = ready_ns * LULL_SIM_PS_PER_NS;

	if (bytes != link->bytes) {
		link->bytes = bytes;
		link->frame_ps = lull_sim_frame_ps(link->rate_bps, bytes);
		link->shape_frame_ps = lull_sim_frame_ps(link->shape_bps, bytes);
	}
	if (link->shape_bps > 0)
		ready_ps = lull_sim_link_shape(link, ready_ps);
	link->free_ps = LULL_MAX(link->free_ps, ready_ps) + link->frame_ps;
	return (link->free_ps + LULL_SIM_PS_PER_NS - 1) / LULL_SIM_PS_PER_NS;
}

#endif
