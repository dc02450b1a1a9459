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
lull_resting_limits(const struct lull_resting *resting, const struct lull_ring_facts *rings)
{
	static const struct lull_ring_facts unknown = { .count = 0 };
	const struct lull_pps_max *pps_max = &resting->pps_max;
	struct lull_idle_limits limits = {
		.latency_ns = resting->max_latency_ns,
		.percentile_ppm = lull_resting_ppm(resting->percentile),
		.loss = (enum lull_loss)resting->loss,
		.rest_ns_max = resting->max_rest_ns,
		.rest_ns = resting->rest_ns,
		.backup_ns = resting->backup_rest_ns,
		.envelope = pps_max->envelope,
		.pps_max = pps_max->pps,
		.kalman = resting->kalman,
	};

	limits.kalman.tolerance_ppm = lull_resting_ppm(resting->kalman_tolerance);
	limits.kalman.layout = (enum lull_record_layout)resting->kalman_layout;
	if (rings == NULL)
		rings = &unknown;
	limits.ring_pkts = rings->ring_pkts;
	limits.ring_pkts_max = rings->ring_pkts_max;
	limits.held_pkts = rings->held_pkts;
	limits.short_leaves = rings->short_leaves;
	limits.loss_lag_ns = rings->loss_lag_ns;
	/* A smaller ring may have been stated than the port has: what is held back stays held. */
	if (limits.held_pkts >= limits.ring_pkts)
		limits.held_pkts = limits.ring_pkts > 0 ? limits.ring_pkts - 1 : 0;
	if (pps_max->automatic) {
		limits.envelope =
			rings->hardware_pps > 0 ? LULL_ENVELOPE_LINK : LULL_ENVELOPE_LEARNED;
		limits.pps_max = rings->hardware_pps;
	} else if (limits.envelope == LULL_ENVELOPE_LINK) {
		limits.pps_max = rings->link_pps;
	}
	return limits;
}
