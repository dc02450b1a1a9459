/* SPDX-License-Identifier: BSD-3-Clause */
#include "ticks.h"

void
lull_ticks_look(struct lull_ticks *ticks, uint64_t device, uint64_t clock_ns)
{
	int64_t moved = (int64_t)(device - ticks->device);

	if (ticks->begun && clock_ns - ticks->clock_ns < LULL_TICKS_APART_NS)
		return;
	/* One that has gone back began anew. */
	ticks->known = ticks->begun && moved > 0;
	if (!ticks->known)
		ticks->told_ns = 0;
	if (ticks->known)
		ticks->ns_per_tick = (double)(clock_ns - ticks->clock_ns) / (double)moved;
	ticks->device = device;
	ticks->clock_ns = clock_ns;
	ticks->begun = true;
}

bool
lull_ticks_age(const struct lull_ticks *ticks, uint64_t device, uint64_t clock_ns, int64_t *age_ns)
{
	double since_ns;

	if (!ticks->known)
		return false;
	since_ns = (double)(int64_t)(device - ticks->device) * ticks->ns_per_tick;
	since_ns = (double)(int64_t)(clock_ns - ticks->clock_ns) - since_ns;
	if (since_ns > (double)LULL_TICKS_AGE_MAX_NS || -since_ns > (double)LULL_TICKS_AHEAD_MAX_NS)
		return false;
	*age_ns = (int64_t)since_ns;
	return true;
}

/* What several queues brought may go back a little: those are not made later. */
uint64_t
lull_ticks_tell(struct lull_ticks *ticks, uint64_t device, uint64_t ns)
{
	if (ticks->told_ns != 0 && (int64_t)(device - ticks->told_device) < 0)
		return LULL_MIN(ns, ticks->told_ns);
	ticks->told_device = device;
	ticks->told_ns = LULL_MAX(ns, ticks->told_ns);
	return ticks->told_ns;
}
