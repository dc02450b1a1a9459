/* SPDX-License-Identifier: BSD-3-Clause */
#include "resting.h"

const char *const lull_resting_losses[] = { "zero", "tolerate", NULL };
/* As enum lull_sched_policy has them. */
const char *const lull_resting_policies[] = { "auto", "other", "fifo", "deadline", NULL };
const char *const lull_resting_layouts[] = { "linked", "array", "segments", NULL };

const char *
lull_resting_governor_name(uint32_t index)
{
	uint32_t i;

	for (i = 0; i < index && lull_idle_governors[i] != NULL; i++)
		;
	return lull_idle_governors[i] != NULL ? lull_idle_governor_name(lull_idle_governors[i]) :
						NULL;
}

const char *
lull_resting_governor_help(uint32_t index)
{
	return lull_idle_governor_summary(lull_idle_governors[index]);
}

uint32_t
lull_resting_ppm(double percent)
{
	return (uint32_t)(percent * 10000 + 0.5);
}

const struct lull_idle_governor *
lull_resting_governor(const struct lull_resting *resting)
{
	return lull_idle_governors[resting->governor];
}

struct lull_idle_limits
lull_resting_limits(const struct lull_resting *resting, uint32_t ring_pkts, uint32_t held_pkts,
		    uint64_t link_pps)
{
	const struct lull_pps_max *pps_max = &resting->pps_max;
	struct lull_idle_limits limits = {
		.latency_ns = resting->max_latency_ns,
		.percentile_ppm = lull_resting_ppm(resting->percentile),
		.loss = (enum lull_loss)resting->loss,
		.rest_ns_max = resting->max_rest_ns,
		.rest_ns = resting->rest_ns,
		.ring_pkts = ring_pkts,
		/* A ring that is all held back is as good as full. */
		.held_pkts = ring_pkts > 0 ? LULL_MIN(held_pkts, ring_pkts - 1) : 0,
		.envelope = pps_max->envelope,
		.pps_max = pps_max->pps,
		.kalman = resting->kalman,
	};

	limits.kalman.tolerance_ppm = lull_resting_ppm(resting->kalman_tolerance);
	limits.kalman.layout = (enum lull_record_layout)resting->kalman_layout;
	if (pps_max->automatic)
		limits.envelope = link_pps > 0 ? LULL_ENVELOPE_LINK : LULL_ENVELOPE_LEARNED;
	if (limits.envelope == LULL_ENVELOPE_LINK)
		limits.pps_max = link_pps;
	return limits;
}
