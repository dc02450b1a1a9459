/* SPDX-License-Identifier: BSD-3-Clause */
#include "pace.h"

#include <string.h>

#include <lull/base.h>

/* Mean costs scatter: a loop is outrun when it misses the rate by more than a sixteenth. */
#define OUTRUN_SHIFT 4

/* Costs after a rest: seldom measured, so slowly followed; one that was held up counts little. */
#define COLD_SHIFT 6
#define COLD_GROWTH 8
#define COLD_COUNT 8 /* of each kind, before they are compared */

/* Means of fewer tell nothing: one may have been held up. */
#define OUTRUN_COUNT 8

void
lull_pace_forget(struct lull_pace *pace)
{
	pace->empty_x256 = 0;
	memset(pace->scales, 0, sizeof(pace->scales));
	memset(pace->full, 0, sizeof(pace->full));
	memset(pace->cold, 0, sizeof(pace->cold));
}

static void
pace_halve(struct lull_pace_scale *scale)
{
	scale->count /= 2;
	if (scale->count == 0)
		*scale = (struct lull_pace_scale){ 0 };
}

static void
pace_halve_cold(struct lull_pace_cold *cold)
{
	cold->count /= 2;
	cold->old_x256 = cold->long_x256;
	cold->long_x256 = 0;
}

void
lull_pace_halve(struct lull_pace *pace, uint64_t now_ns)
{
	pace->fade_ns = now_ns;
	for (uint32_t i = 0; i < LULL_PACE_SCALES; i++) {
		pace_halve(&pace->scales[i]);
		pace_halve(&pace->full[i]);
		pace_halve_cold(&pace->cold[i]);
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

void
lull_pace_after_rest(struct lull_pace *pace, uint64_t span_ns, uint64_t pkts)
{
	uint32_t octave = LULL_MIN(63u - (uint32_t)__builtin_clzll(pkts), LULL_PACE_SCALES - 1u);
	struct lull_pace_cold *cold = &pace->cold[octave];
	uint64_t span_x256;
	uint32_t shift;

	if (cold->count == 0) {
		cold->mean_x256 = lull_pace_cut_first(pace, span_ns, pkts);
		cold->pkts_x256 = pkts << LULL_PACE_SHIFT;
		span_ns = LULL_MIN(span_ns, cold->mean_x256 >> LULL_PACE_SHIFT);
	}
	span_x256 = lull_pace_cut(cold->mean_x256, span_ns);
	cold->long_x256 = LULL_MAX(cold->long_x256, span_x256);
	cold->count += cold->count < LULL_PACE_COUNT_MAX;
	/* A true mean at first, then a moving one. */
	shift = LULL_MIN(63u - (uint32_t)__builtin_clzll(cold->count), (uint32_t)COLD_SHIFT);
	span_x256 = LULL_MIN(span_x256, COLD_GROWTH * cold->mean_x256);
	cold->mean_x256 = lull_pace_moved(cold->mean_x256, span_x256, shift);
	cold->pkts_x256 = lull_pace_moved(cold->pkts_x256, pkts << LULL_PACE_SHIFT, shift);
}

/* What a packet costs beyond an empty iteration. */
static double
pace_rate(const struct lull_pace *pace, uint64_t mean_x256, uint64_t pkts_x256)
{
	uint64_t empty_x256 = LULL_MIN(pace->empty_x256, mean_x256);

	return (double)(mean_x256 - empty_x256 + 1) / (double)pkts_x256;
}

/* The largest iterations right after a rest, NULL: none. */
static const struct lull_pace_cold *
pace_largest_cold(const struct lull_pace *pace)
{
	for (uint32_t i = LULL_PACE_SCALES; i > 0; i--)
		if (pace->cold[i - 1].count > 0)
			return &pace->cold[i - 1];
	return NULL;
}

/* So many times as dear are packets right after a rest; 1: or nobody knows. */
static double
pace_coldness(const struct lull_pace *pace)
{
	for (uint32_t i = LULL_PACE_SCALES; i > 0; i--) {
		const struct lull_pace_scale *usual = &pace->scales[i - 1];
		const struct lull_pace_cold *cold = &pace->cold[i - 1];

		if (usual->count >= COLD_COUNT && cold->count >= COLD_COUNT)
			return LULL_MAX(pace_rate(pace, cold->mean_x256, cold->pkts_x256) /
						pace_rate(pace, usual->mean_x256, usual->pkts_x256),
					1.0);
	}
	return 1.0;
}

/* Iterations of which none was right after a rest. */
static uint64_t
pace_usual_ns(const struct lull_pace *pace, uint64_t pkts)
{
	const struct lull_pace_scale *scale = pace_largest(pace);
	uint64_t long_ns;

	if (scale == NULL)
		return 0;
	/* One that is seldom so large may have been held up less often than others. */
	long_ns = pace_on_line(pace, scale, scale->long_x256, pkts);
	for (uint32_t i = 0; i < LULL_PACE_SCALES; i++)
		long_ns = LULL_MAX(long_ns, pace->scales[i].long_x256 >> LULL_PACE_SHIFT);
	return long_ns;
}

/* And those that were: the usual ones made dearer, or along a line where there were none. */
static uint64_t
pace_cold_ns(const struct lull_pace *pace, uint64_t usual_ns, uint64_t pkts)
{
	const struct lull_pace_cold *largest = pace_largest_cold(pace);
	uint64_t long_ns = 0;

	if (largest == NULL)
		return 0;
	if (usual_ns > 0)
		long_ns = (uint64_t)((double)usual_ns * pace_coldness(pace));
	else
		long_ns = (uint64_t)((double)(pace->empty_x256 >> LULL_PACE_SHIFT) +
				     pace_rate(pace, largest->mean_x256, largest->pkts_x256) *
					     (double)pkts);
	for (uint32_t i = 0; i < LULL_PACE_SCALES; i++) {
		long_ns = LULL_MAX(long_ns, pace->cold[i].long_x256 >> LULL_PACE_SHIFT);
		long_ns = LULL_MAX(long_ns, pace->cold[i].old_x256 >> LULL_PACE_SHIFT);
	}
	return long_ns;
}

uint64_t
lull_pace_full_ns(const struct lull_pace *pace, uint32_t burst_pkts)
{
	uint64_t pkts = (uint64_t)pace->queue_count * burst_pkts;
	uint64_t usual_ns = pace_usual_ns(pace, pkts);

	return LULL_MAX(usual_ns, pace_cold_ns(pace, usual_ns, pkts));
}

/* What comes in such an iteration, so many times as dear, beyond what it takes. */
static uint64_t
pace_behind_x256(double coldness, uint64_t mean_x256, uint64_t pkts_x256, uint64_t pps)
{
	uint64_t brought_x256 = pace_brought_x256((uint64_t)((double)mean_x256 * coldness), pps);

	return brought_x256 > pkts_x256 ? brought_x256 - pkts_x256 : 0;
}

uint64_t
lull_pace_behind_pkts(const struct lull_pace *pace, uint32_t burst_pkts, uint64_t pps)
{
	const struct lull_pace_scale *scale = pace_largest(pace);
	uint64_t pkts = (uint64_t)pace->queue_count * burst_pkts, most_x256, mean_ns;
	double coldness = pace_coldness(pace);

	if (scale == NULL || coldness <= 1.0)
		return 0;
	mean_ns = pace_on_line(pace, scale, scale->mean_x256, pkts);
	most_x256 = pace_behind_x256(coldness, mean_ns << LULL_PACE_SHIFT, pkts << LULL_PACE_SHIFT,
				     pps);
	for (uint32_t i = 0; i < LULL_PACE_SCALES; i++)
		most_x256 = LULL_MAX(most_x256, pace_behind_x256(coldness, pace->full[i].mean_x256,
								 pace->full[i].pkts_x256, pps));
	return (most_x256 + (1u << LULL_PACE_SHIFT) - 1) >> LULL_PACE_SHIFT;
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
