/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Outlook: the longest rest that all bounds together allow, and what it takes of the CPU.
 *
 * The governor that holds an objective goes by it, and so does who asks what other limits would
 * bring (remedy.h): they cannot differ.
 *
 * Threads: pure functions. Memory: the caller's struct.
 */
#ifndef LULL_OUTLOOK_H
#define LULL_OUTLOOK_H

#include "governor.h"

struct lull_outlook {
	struct lull_idle_limits limits; /* tightened */
	uint64_t goal_ns;               /* longest request */
	uint64_t latency_ns;            /* the same by latency alone */
	uint64_t least_ns;              /* shortest request worth making */
	enum lull_bound binding;
	bool forbidden; /* not worth making */
};

/** Of the objective, for what no model sees: the receiver's own polling, above all. */
#define LULL_OUTLOOK_MARGIN_SHARE 11

/** Ring and cap; latency is still to come. @p ring_ns: longest request by the ring. */
void lull_outlook_begin(struct lull_outlook *outlook, const struct lull_idle_view *view,
			uint64_t ring_ns);
/**
 * The longest request by latency, and whether ring, cap and latency leave one worth making.
 *
 * @param stalls  what they spend of the error budget; NULL: nothing
 */
void lull_outlook_bound_latency(struct lull_outlook *outlook, const struct lull_idle_view *view,
				const struct lull_stalls *stalls);
/** Share of the core with rests of @p request_ns: the work itself, and what rests cost beside. */
uint32_t lull_outlook_cpu_ppm(const struct lull_calibration *calibration, uint32_t busy_ppm,
			      uint64_t request_ns);

#endif
