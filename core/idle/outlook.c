/* SPDX-License-Identifier: BSD-3-Clause */
#include "outlook.h"

#include "bound.h"

void
lull_outlook_begin(struct lull_outlook *outlook, const struct lull_idle_view *view,
		   uint64_t ring_ns)
{
	struct lull_idle_limits *limits = &outlook->limits;
	uint64_t spent_ns;

	*outlook = (struct lull_outlook){ .limits = *view->limits, .binding = LULL_BOUND_CAP };
	/* What is left of the objective after serving a burst, less a margin. */
	spent_ns = view->load->serve_ns + limits->latency_ns / LULL_OUTLOOK_MARGIN_SHARE;
	limits->latency_ns = limits->latency_ns > spent_ns ? limits->latency_ns - spent_ns : 1;
	outlook->goal_ns = limits->rest_ns_max;
	if (ring_ns < outlook->goal_ns) {
		outlook->goal_ns = ring_ns;
		outlook->binding = LULL_BOUND_RING;
	}
}

void
lull_outlook_bound_latency(struct lull_outlook *outlook, const struct lull_idle_view *view,
			   const struct lull_stalls *stalls)
{
	const struct lull_load *load = view->load;
	const struct lull_calibration *calibration = &view->calibration[LULL_IDLE_SLEEP];

	outlook->least_ns = lull_bound_break_even_ns(calibration);
	outlook->latency_ns =
		lull_bound_request_ns(&outlook->limits, calibration, stalls, load->busy_ppm,
				      load->resting_ppm, outlook->limits.rest_ns_max);
	/* Once stalls have spent the budget, shorter rests do not bring it back. */
	if (outlook->latency_ns < outlook->least_ns && stalls != NULL)
		outlook->latency_ns =
			lull_bound_request_ns(&outlook->limits, calibration, NULL, load->busy_ppm,
					      load->resting_ppm, outlook->limits.rest_ns_max);
	if (outlook->latency_ns < outlook->goal_ns) {
		outlook->goal_ns = outlook->latency_ns;
		outlook->binding =
			outlook->latency_ns == 0 ? LULL_BOUND_OVERSHOOT : LULL_BOUND_LATENCY;
	}
	outlook->forbidden = outlook->goal_ns == 0 || outlook->goal_ns < outlook->least_ns;
}

uint32_t
lull_outlook_cpu_ppm(const struct lull_calibration *calibration, uint32_t busy_ppm,
		     uint64_t request_ns)
{
	uint64_t real_ns = request_ns + calibration->p50_ns;
	uint64_t cost_ns = LULL_MIN(calibration->cost_ns, real_ns);
	uint64_t work_ppm = LULL_MIN(busy_ppm, LULL_PPM);

	if (real_ns == 0)
		return LULL_PPM;
	return (uint32_t)(work_ppm + (LULL_PPM - work_ppm) * cost_ns / real_ns);
}
