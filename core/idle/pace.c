/* SPDX-License-Identifier: BSD-3-Clause */
#include "pace.h"

#include <string.h>

#include <lull/base.h>

/* Mean costs scatter: a loop is outrun when it misses the rate by more than a sixteenth. */
#define OUTRUN_SHIFT 4

/* Means of fewer tell nothing: one may have been held up. */
#define OUTRUN_COUNT 8

void
lull_pace_forget(struct lull_pace *pace)
{
	pace->empty_x256 = 0;
	memset(pace->scales, 0, sizeof(pace->scales));
	memset(pace->full, 0, sizeof(pace->full));
}

static void
pace_halve(struct lull_pace_scale *scale)
{
	scale->count /= 2;
	if (scale->count == 0)
		*scale = (struct lull_pace_scale){ 0 };
}

void
lull_pace_halve(struct lull_pace *pace, uint64_t now_ns)
{
	pace->fade_ns = now_ns;
	for (uint32_t i = 0; i < LULL_PACE_SCALES; i++) {
		pace_halve(&pace->scales[i]);
		pace_halve(&pace->full[i]);
	}
}

/* The largest iterations seen; NULL: none. */
static const struct lull_pace_scale *
pace_largest(const struct lull_pace *pace)
{
	for (uint32_t i = LULL_PACE_SCALES; i > 0; i--)
		if (pace->scales[i - 1].count > 0)
			return &pace->scales[i - 1];
	return NULL;
}

/* On the line from an empty iteration through one of @p scale that took @p span_x256. */
static uint64_t
pace_on_line(const struct lull_pace *pace, const struct lull_pace_scale *scale, uint64_t span_x256,
	     uint64_t pkts)
{
	uint64_t empty_x256 = LULL_MIN(pace->empty_x256, span_x256);
	uint64_t per_pkt_x256 = ((span_x256 - empty_x256) << LULL_PACE_SHIFT) / scale->pkts_x256;

	return (empty_x256 + per_pkt_x256 * pkts) >> LULL_PACE_SHIFT;
}

/* Packets, in 1/256, that come in a time. */
static uint64_t
pace_brought_x256(uint64_t span_x256, uint64_t pps)
{
	return (uint64_t)((double)span_x256 * (double)pps / LULL_NS_PER_S);
}

uint64_t
lull_pace_full_ns(const struct lull_pace *pace, uint32_t burst_pkts)
{
	const struct lull_pace_scale *scale = pace_largest(pace);
	uint64_t pkts = (uint64_t)pace->queue_count * burst_pkts, long_ns;

	if (scale == NULL)
		return 0;
	/* One that is seldom so large may have been held up less often than others. */
	long_ns = pace_on_line(pace, scale, scale->long_x256, pkts);
	for (uint32_t i = 0; i < LULL_PACE_SCALES; i++)
		long_ns = LULL_MAX(long_ns, pace->scales[i].long_x256 >> LULL_PACE_SHIFT);
	return long_ns;
}

/* Do iterations with a backlog take less than comes meanwhile? */
static bool
pace_falls_behind(const struct lull_pace_scale *full, uint64_t pps)
{
	return full->count >= OUTRUN_COUNT &&
	       pace_brought_x256(full->mean_x256, pps) >
		       full->pkts_x256 + (full->pkts_x256 >> OUTRUN_SHIFT);
}

bool
lull_pace_outrun(const struct lull_pace *pace, uint32_t burst_pkts, uint64_t pps)
{
	if (pace_brought_x256(pace->empty_x256, pps) > (uint64_t)burst_pkts << LULL_PACE_SHIFT)
		return true;
	for (uint32_t i = 0; i < LULL_PACE_SCALES; i++)
		if (pace_falls_behind(&pace->full[i], pps))
			return true;
	return false;
}
