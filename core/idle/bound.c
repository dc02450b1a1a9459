/* SPDX-License-Identifier: BSD-3-Clause */
#include "bound.h"

/*
 * Sums run over 16384 rests of up to 2^30 ns times parts per million: count in 64 ns to fit 64
 * bits.
 */
#define UNIT_SHIFT 6

/* Packets of a ring that may come from a burst of it until it is looked at again. */
static uint64_t
bound_room_pkts(const struct lull_idle_limits *limits)
{
	uint64_t kept_pkts = (uint64_t)limits->held_pkts + limits->burst_pkts;

	return limits->ring_pkts > kept_pkts ? limits->ring_pkts - kept_pkts : 0;
}

uint64_t
lull_bound_iteration_pkts(const struct lull_idle_limits *limits, const struct lull_pace *pace,
			  uint64_t pps)
{
	uint64_t queues = LULL_MAX(pace->queue_count, 1u);
	uint64_t iteration_ns = lull_pace_full_ns(pace, limits->burst_pkts);
	uint64_t bursts_pkts = queues * limits->burst_pkts, behind_pkts, pkts;

	if (iteration_ns == 0)
		return bursts_pkts;
	behind_pkts = lull_pace_behind_pkts(pace, limits->burst_pkts, pps);
	/* Costs may change before anybody has seen it: they may double. */
	pkts = (uint64_t)(2.0 * (double)iteration_ns * (double)pps / LULL_NS_PER_S) + 1;
	if (!lull_pace_outrun(pace, limits->burst_pkts, pps))
		pkts = LULL_MIN(pkts, bursts_pkts + behind_pkts);
	return LULL_MAX(pkts, limits->burst_pkts) + behind_pkts;
}

uint64_t
lull_bound_ring_ns(const struct lull_idle_limits *limits, const struct lull_pace *pace,
		   uint64_t pps, uint64_t overshoot_ns)
{
	uint64_t kept_pkts, fill_ns;

	if (pps == 0)
		return UINT64_MAX;
	kept_pkts = limits->held_pkts + lull_bound_iteration_pkts(limits, pace, pps);
	if (kept_pkts >= limits->ring_pkts)
		return 0;
	fill_ns = (limits->ring_pkts - kept_pkts) * LULL_NS_PER_S / pps;
	return fill_ns > overshoot_ns ? fill_ns - overshoot_ns : 0;
}

uint64_t
lull_bound_learned_ns(const struct lull_idle_limits *limits, const struct lull_pace *pace,
		      const struct lull_arrival_curve *curve, uint64_t usual_ns, uint64_t rare_ns)
{
	uint64_t room_pkts = bound_room_pkts(limits);
	uint64_t iteration_ns =
		pace->queue_count > 1 ? lull_pace_full_ns(pace, limits->burst_pkts) : 0;
	uint64_t doubled_ns, once_ns;

	usual_ns += iteration_ns;
	rare_ns += iteration_ns;
	doubled_ns = lull_arrival_curve_window_ns(curve, room_pkts, LULL_ARRIVAL_MARGIN);
	doubled_ns = LULL_MIN(doubled_ns, room_pkts * LULL_NS_PER_S / LULL_BOUND_PPS_FLOOR);
	once_ns = lull_arrival_curve_window_ns(curve, room_pkts, 1);
	doubled_ns = doubled_ns > usual_ns ? doubled_ns - usual_ns : 0;
	once_ns = once_ns > rare_ns ? once_ns - rare_ns : 0;
	return LULL_MIN(doubled_ns, once_ns);
}

uint64_t
lull_bound_pps(const struct lull_idle_limits *limits, const struct lull_arrival_curve *curve)
{
	static const struct lull_pace alone = { .queue_count = 1 };
	uint64_t window_ns;

	if (limits->envelope != LULL_ENVELOPE_LEARNED && limits->pps_max > 0)
		return limits->pps_max;
	window_ns = LULL_MAX(lull_bound_learned_ns(limits, &alone, curve, 0, 0), 1);
	return LULL_MAX(bound_room_pkts(limits) * LULL_NS_PER_S / window_ns, LULL_BOUND_PPS_FLOOR);
}

/* s: share of packets that stalls make wait longer than wait_ns. */
static uint32_t
bound_spent_ppm(const struct lull_idle_limits *limits, const struct lull_stalls *stalls,
		uint64_t wait_ns)
{
	if (stalls == NULL)
		return 0;
	return lull_stalls_late_ppm(stalls, wait_ns, (uint32_t)LULL_PPM - limits->percentile_ppm);
}

/* (e - s) (1 - rho), parts per million, rounded down: a tighter budget than allowed. */
static uint64_t
bound_budget_ppm(const struct lull_idle_limits *limits, uint32_t spent_ppm, uint32_t busy_ppm)
{
	uint32_t error_ppm = (uint32_t)LULL_PPM - limits->percentile_ppm;

	if (spent_ppm >= error_ppm)
		return 0;
	error_ppm -= spent_ppm;
	return (uint64_t)error_ppm * (LULL_PPM - LULL_MIN(busy_ppm, LULL_PPM)) / LULL_PPM;
}

/* The most a packet arriving during the drain waits is rho S: keep that below T as well. */
static uint64_t
bound_drain_ns(const struct lull_idle_limits *limits, uint32_t busy_ppm)
{
	return busy_ppm == 0 ? UINT64_MAX : limits->latency_ns * LULL_PPM / busy_ppm;
}

uint64_t
lull_bound_latency_ns(const struct lull_idle_limits *limits, uint32_t busy_ppm,
		      uint32_t resting_ppm)
{
	uint64_t budget_ppm = bound_budget_ppm(limits, 0, busy_ppm);
	uint64_t drain_ns = bound_drain_ns(limits, busy_ppm);

	if (resting_ppm <= budget_ppm)
		return drain_ns;
	return LULL_MIN(drain_ns, limits->latency_ns * resting_ppm / (resting_ppm - budget_ppm));
}

/*
 * Mean of max(0, request + overshoot - floor) over the measured overshoots, times their weight;
 * without those of stalls, whose share is known from elsewhere.
 */
static uint64_t
bound_excess(const struct lull_calibration *calibration, uint64_t request_ns, uint64_t floor_ns)
{
	uint32_t bin_last = LULL_MIN(calibration->bin_last, LULL_CALIBRATION_STALL_BIN - 1);
	uint64_t excess = 0;
	uint64_t real_ns;
	uint32_t bin;

	for (bin = calibration->bin_first; bin <= bin_last; bin++) {
		real_ns = request_ns + lull_calibration_high(bin);
		if (calibration->bins[bin] > 0 && real_ns > floor_ns)
			excess +=
				calibration->bins[bin] * (((real_ns - floor_ns) >> UNIT_SHIFT) + 1);
	}
	return excess;
}

/* Share of packets waiting longer than floor_ns stays within e? */
static bool
bound_holds(const struct lull_calibration *calibration, uint64_t request_ns, uint64_t floor_ns,
	    uint64_t budget_ppm, uint32_t resting_ppm)
{
	return resting_ppm * bound_excess(calibration, request_ns, floor_ns) <=
	       budget_ppm * bound_excess(calibration, request_ns, 0);
}

uint64_t
lull_bound_request_ns(const struct lull_idle_limits *limits,
		      const struct lull_calibration *calibration, const struct lull_stalls *stalls,
		      uint32_t busy_ppm, uint32_t resting_ppm, uint64_t request_ns_max)
{
	uint64_t budget_ppm = bound_budget_ppm(
		limits, bound_spent_ppm(limits, stalls, limits->latency_ns), busy_ppm);
	uint64_t drain_ns = bound_drain_ns(limits, busy_ppm);
	uint64_t low_ns, high_ns, middle_ns, usual_ns;

	drain_ns = drain_ns > calibration->usual_p99_ns ? drain_ns - calibration->usual_p99_ns : 0;
	high_ns = LULL_MIN(request_ns_max, drain_ns);
	if (resting_ppm <= budget_ppm)
		return high_ns;

	/*
	 * Excess minus budget is convex in the request; its minimum lies where the share of
	 * rests longer than T equals budget / f. Right of it the condition only gets worse.
	 */
	usual_ns = lull_calibration_usual(
		calibration, (uint32_t)(LULL_PPM - budget_ppm * LULL_PPM / resting_ppm));
	low_ns = limits->latency_ns > usual_ns ? limits->latency_ns - usual_ns : 0;
	low_ns = LULL_MIN(low_ns, high_ns);
	if (!bound_holds(calibration, low_ns, limits->latency_ns, budget_ppm, resting_ppm))
		return 0;
	while (high_ns - low_ns > LULL_NS_PER_US / 2) {
		middle_ns = low_ns + (high_ns - low_ns) / 2;
		if (bound_holds(calibration, middle_ns, limits->latency_ns, budget_ppm,
				resting_ppm))
			low_ns = middle_ns;
		else
			high_ns = middle_ns;
	}
	return low_ns;
}

uint64_t
lull_bound_predict_ns(const struct lull_idle_limits *limits,
		      const struct lull_calibration *calibration, const struct lull_stalls *stalls,
		      uint32_t busy_ppm, uint32_t resting_ppm, uint64_t request_ns)
{
	uint64_t drain_ns = (request_ns + calibration->usual_p99_ns) * busy_ppm / LULL_PPM;
	uint64_t low_ns = 0;
	uint64_t high_ns = request_ns + lull_calibration_high(LULL_CALIBRATION_BINS - 1);
	uint64_t middle_ns;
	uint32_t spent_ppm;

	if (calibration->weight == 0)
		return LULL_MAX(drain_ns, request_ns + calibration->usual_p99_ns);
	while (high_ns - low_ns > LULL_NS_PER_US / 4) {
		middle_ns = low_ns + (high_ns - low_ns) / 2;
		spent_ppm = bound_spent_ppm(limits, stalls, middle_ns);
		if (spent_ppm <= LULL_PPM - limits->percentile_ppm &&
		    bound_holds(calibration, request_ns, middle_ns,
				bound_budget_ppm(limits, spent_ppm, busy_ppm), resting_ppm))
			high_ns = middle_ns;
		else
			low_ns = middle_ns;
	}
	return LULL_MAX(drain_ns, high_ns);
}

uint64_t
lull_bound_break_even_ns(const struct lull_calibration *calibration)
{
	uint64_t real_ns = calibration->cost_ns * 5 / 4;

	return real_ns > calibration->p50_ns ? real_ns - calibration->p50_ns : 1;
}
