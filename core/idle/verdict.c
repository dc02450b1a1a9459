/* SPDX-License-Identifier: BSD-3-Clause */
#include "verdict.h"

#include "bound.h"
#include "outlook.h"

/*
 * No loss at a rate that the loop cannot take: whatever a rest lets wait, polling would have had
 * room for. The rest is as short as the ring needs for a burst that it holds.
 */
static void
verdict_judge_rate(struct lull_verdict *verdict, const struct lull_idle_view *view)
{
	const struct lull_idle_limits *limits = view->limits;

	verdict->outrun = limits->loss == LULL_LOSS_ZERO &&
			  limits->envelope != LULL_ENVELOPE_LEARNED &&
			  lull_pace_outrun(view->pace, limits->burst_pkts, limits->pps_max);
	if (verdict->outrun && verdict->state == LULL_VERDICT_FEASIBLE) {
		verdict->state = LULL_VERDICT_INFEASIBLE;
		verdict->binding = LULL_BOUND_RING;
	}
}

/* What is measured besides what the governor goes by. */
static void
verdict_measure(struct lull_verdict *verdict, const struct lull_idle_view *view,
		const struct lull_waits *waits, uint64_t now_ns)
{
	const struct lull_stall_watch *watch = &waits->watch;
	const struct lull_stalls *stalls = watch->polling ? &watch->poll : &watch->rest;
	struct lull_waits_mark window = lull_waits_window(waits);
	uint32_t budget_ppm = (uint32_t)LULL_PPM - view->limits->percentile_ppm;

	if (window.pkts > 0)
		verdict->late_ppm = (uint32_t)((double)window.late_pkts_x256 / 256 * LULL_PPM /
					       (double)window.pkts);
	verdict->stall_ppm = lull_stalls_late_ppm(stalls, view->limits->latency_ns, budget_ppm);
	verdict->stall_rate = lull_stalls_rate(stalls);
	verdict->stall_ns = lull_stalls_longest_ns(stalls);
	for (uint32_t i = 0; i < LULL_ARRIVAL_SCALES; i++)
		verdict->arrival_pkts[i] = lull_arrival_curve_pkts(&waits->curve, i);
	/* A promise is taken back where the packets say otherwise. */
	if (verdict->state == LULL_VERDICT_FEASIBLE &&
	    lull_waits_missed(waits, now_ns, budget_ppm)) {
		verdict->state = LULL_VERDICT_INFEASIBLE;
		verdict->binding = LULL_BOUND_OVERSHOOT;
	}
}

static void
verdict_predict(struct lull_verdict *verdict, const struct lull_idle_view *view)
{
	const struct lull_idle_limits *limits = view->limits;
	const struct lull_load *load = view->load;
	const struct lull_stall_watch *watch = view->stalls;

	if (verdict->idle_state >= LULL_IDLE_SLEEP)
		verdict->predicted_ns = lull_bound_predict_ns(
			limits, &view->calibration[LULL_IDLE_SLEEP], &watch->rest, load->busy_ppm,
			load->resting_ppm, verdict->rest_ns);
	else
		verdict->predicted_ns =
			LULL_MAX(load->serve_ns,
				 lull_stalls_wait_ns(&watch->poll,
						     (uint32_t)LULL_PPM - limits->percentile_ppm));
	verdict->predicted_cpu_ppm =
		verdict->idle_state < LULL_IDLE_SLEEP ?
			(uint32_t)LULL_PPM :
			lull_outlook_cpu_ppm(&view->calibration[LULL_IDLE_SLEEP], load->busy_ppm,
					     verdict->rest_ns);
}

void
lull_verdict_complete(struct lull_verdict *verdict, const struct lull_idle_view *view,
		      const struct lull_waits *waits, uint64_t now_ns)
{
	verdict_judge_rate(verdict, view);
	verdict_measure(verdict, view, waits, now_ns);
	verdict_predict(verdict, view);
}
