/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Bound: the three limits between which a rest is legal, as pure functions.
 */
#ifndef LULL_BOUND_H
#define LULL_BOUND_H

#include <lull/idle.h>

#include "arrival_curve.h"
#include "calibration.h"
#include "pace.h"

/**
 * Arrival limit of one ring by the stated mode, packets per second, never 0: link and stated as
 * given; learned is the rate that fills the ring in the window in which twice the curve does, and
 * at least LULL_BOUND_PPS_FLOOR.
 */
#define LULL_BOUND_PPS_FLOOR 1000000ULL
uint64_t lull_bound_pps(const struct lull_idle_limits *limits,
			const struct lull_arrival_curve *curve);

/**
 * Packets that may come to one ring besides those of the rest itself, because the loop serves its
 * other queues: from the ring's last poll until the rest begins, those after it; and from the end
 * of the rest until its turn comes, those before it. Each other queue is served once in between,
 * and gives a burst at most. So this time is one iteration in which each queue gives a burst, W,
 * wherever in the order the ring stands, as long as the order stays the same. At most
 *
 *	max(burst, min(n burst, 2 pps W))
 *
 * packets come in it, for n queues that share @p pps in any way: W is measured (pace.h); and a loop
 * that takes packets as fast as they come takes the n bursts of W no slower than pps brings them,
 * or W would be too long for polling too. Twice, as costs may double before anybody sees it. While
 * W is not known, n bursts count. An iteration right after a rest may be so dear that more packets
 * come in it than it takes (lull_pace_behind_pkts()); the one before the rest may be such a one and
 * the one after it, so that many more come in either. Where the loop is outrun (lull_pace_outrun())
 * that is no reason any more, and twice pps W counts in full.
 *
 * What stands in the rings when the rest is over only gets less from there on, if the loop is not
 * outrun: an iteration with a full burst in it takes no longer than pps needs to bring what it
 * takes. Hence nothing is lost later either that polling would have kept.
 */
uint64_t lull_bound_iteration_pkts(const struct lull_idle_limits *limits,
				   const struct lull_pace *pace, uint64_t pps);

/**
 * Longest rest to *request* so that the fullest ring cannot overflow:
 * (ring - held - lull_bound_iteration_pkts()) / pps - overshoot. 0 when not even the shortest fits.
 */
uint64_t lull_bound_ring_ns(const struct lull_idle_limits *limits, const struct lull_pace *pace,
			    uint64_t pps, uint64_t overshoot_ns);

/**
 * The same for arrivals that were learned: the longest request r for which twice the curve, and
 * LULL_BOUND_PPS_FLOOR, fit into the ring in r + @p usual_ns, and the curve itself in
 * r + @p rare_ns. One burst counts for the poll before the rest; with several queues W is in both
 * times besides. Not proven.
 */
uint64_t lull_bound_learned_ns(const struct lull_idle_limits *limits, const struct lull_pace *pace,
			       const struct lull_arrival_curve *curve, uint64_t usual_ns,
			       uint64_t rare_ns);

/**
 * Longest *real* rest that keeps P(wait > T) <= e if overshoot were constant:
 * S = T / (1 - e (1 - rho) / f), at most T / rho, UINT64_MAX when f <= e (1 - rho).
 * A packet arriving u into a rest of length S waits S - u (1 - rho).
 */
uint64_t lull_bound_latency_ns(const struct lull_idle_limits *limits, uint32_t busy_ppm,
			       uint32_t resting_ppm);

/**
 * Longest rest to *request* for the same, with the overshoot distribution that
 * was measured: the largest r with
 *   f * sum_o p(o) max(0, r + o - T)  <=  (e - s) (1 - rho) * sum_o p(o) (r + o),
 * where o are overshoots short of a stall, and s is the share of packets that stalls make late.
 * 0 when even the shortest request breaks the objective.
 *
 * @param stalls  NULL: reckon as if there were none
 */
uint64_t lull_bound_request_ns(const struct lull_idle_limits *limits,
			       const struct lull_calibration *calibration,
			       const struct lull_stalls *stalls, uint32_t busy_ppm,
			       uint32_t resting_ppm, uint64_t request_ns_max);

/**
 * Added wait at the percentile when requesting @p request_ns: the same model solved for T, bins
 * rounded up.
 */
uint64_t lull_bound_predict_ns(const struct lull_idle_limits *limits,
			       const struct lull_calibration *calibration,
			       const struct lull_stalls *stalls, uint32_t busy_ppm,
			       uint32_t resting_ppm, uint64_t request_ns);

/** Shortest request worth making: its real length saves a fifth of the CPU that it spans. */
uint64_t lull_bound_break_even_ns(const struct lull_calibration *calibration);

#endif
