/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring_guard.h"

#include "bound.h"

#define SHARE_MIN_PPM 10000u
#define RELEASE_NS (100 * LULL_NS_PER_MS)

void
lull_ring_guard_init(struct lull_ring_guard *guard)
{
	*guard = (struct lull_ring_guard){ .share_ppm = LULL_PPM };
}

static uint64_t
guard_learned_ns(const struct lull_idle_view *view)
{
	const struct lull_idle_limits *limits = view->limits;
	const struct lull_calibration *calibration = &view->calibration[LULL_IDLE_SLEEP];

	return lull_bound_learned_ns(limits, view->pace, view->curve, calibration->usual_p99_ns,
				     calibration->p999_ns);
}

uint64_t
lull_ring_guard_ns(const struct lull_ring_guard *guard, const struct lull_idle_view *view)
{
	const struct lull_idle_limits *limits = view->limits;
	uint64_t ring_ns;

	if (limits->loss == LULL_LOSS_TOLERATE)
		return UINT64_MAX;
	if (limits->envelope == LULL_ENVELOPE_LEARNED)
		ring_ns = guard_learned_ns(view);
	else
		ring_ns = lull_bound_ring_ns(limits, view->pace, limits->pps_max,
					     LULL_MAX(view->calibration[LULL_IDLE_SLEEP].p9999_ns,
						      lull_stalls_longest_ns(&view->stalls->rest)));
	return ring_ns / LULL_PPM * guard->share_ppm +
	       ring_ns % LULL_PPM * guard->share_ppm / LULL_PPM;
}

void
lull_ring_guard_release(struct lull_ring_guard *guard, uint64_t now_ns)
{
	if (guard->share_ppm == LULL_PPM || now_ns < guard->released_ns + RELEASE_NS)
		return;
	guard->released_ns = now_ns;
	guard->share_ppm += guard->share_ppm / 64 + 1;
	guard->share_ppm = LULL_MIN(guard->share_ppm, (uint32_t)LULL_PPM);
}

void
lull_ring_guard_miss(struct lull_ring_guard *guard, uint64_t now_ns)
{
	guard->share_ppm = LULL_MAX(guard->share_ppm / 2, SHARE_MIN_PPM);
	guard->released_ns = now_ns;
}
