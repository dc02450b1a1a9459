/* SPDX-License-Identifier: BSD-3-Clause */
#include "arrival_curve.h"

#include <string.h>

#include <lull/base.h>

#define FADE_STEP_NS (100 * LULL_NS_PER_MS)
#define FADE_SHIFT 7 /* 1/128 per 100 ms: half in about 9 s */
#define FADE_STEPS_MAX 1024
#define UNIT_SHIFT 8

static uint64_t
curve_window_ns(uint32_t scale)
{
	return LULL_NS_PER_US << scale;
}

void
lull_arrival_curve_init(struct lull_arrival_curve *curve, uint64_t now_ns)
{
	memset(curve, 0, sizeof(*curve));
	curve->fade_ns = now_ns;
}

/* What a window that has just taken a batch of pkts, up to to_ns, says of its scale. */
static uint64_t
curve_seen(uint64_t window_ns, uint64_t window_pkts, uint64_t span_ns, uint64_t pkts)
{
	uint64_t even_pkts;

	if (span_ns <= window_ns || window_pkts == pkts)
		return window_pkts;
	/* It was full before this batch; with it, by even spread. The batch may be one burst. */
	even_pkts = window_pkts * window_ns / span_ns;
	return LULL_MAX(LULL_MAX(even_pkts, window_pkts - pkts), pkts);
}

void
lull_arrival_curve_add(struct lull_arrival_curve *curve, struct lull_arrival_windows *windows,
		       uint64_t from_ns, uint64_t to_ns, uint64_t pkts)
{
	const uint64_t widest_ns = curve_window_ns(LULL_ARRIVAL_SCALES - 1);
	uint64_t batch_ns = to_ns > from_ns ? to_ns - from_ns : 0;
	uint32_t scale = 0;

	/* Longer than any window: an even part of it. */
	if (batch_ns > widest_ns) {
		pkts = (uint64_t)((double)pkts * (double)widest_ns / (double)batch_ns) + 1;
		from_ns = to_ns - widest_ns;
		batch_ns = widest_ns;
	}
	/* The smallest window that holds the batch. */
	if (batch_ns > LULL_NS_PER_US)
		scale = 64u - (uint32_t)__builtin_clzll((batch_ns - 1) / LULL_NS_PER_US);
	for (; scale < LULL_ARRIVAL_SCALES; scale++) {
		uint64_t window_ns = curve_window_ns(scale);
		uint64_t begin_ns = windows->scales[scale].begin_ns;
		uint64_t window_pkts = windows->scales[scale].pkts, seen;

		if (window_pkts == 0 || from_ns >= begin_ns + window_ns) {
			begin_ns = from_ns;
			window_pkts = 0;
		}
		window_pkts += pkts;
		seen = curve_seen(window_ns, window_pkts, to_ns - begin_ns, pkts) << UNIT_SHIFT;
		if (seen > curve->pkts_x256[scale])
			curve->pkts_x256[scale] = seen;
		if (to_ns > begin_ns + window_ns) {
			begin_ns = from_ns;
			window_pkts = pkts;
		}
		windows->scales[scale].begin_ns = begin_ns;
		windows->scales[scale].pkts = window_pkts;
	}
}

void
lull_arrival_curve_fade(struct lull_arrival_curve *curve, uint64_t now_ns)
{
	uint32_t steps = 0;

	while (now_ns >= curve->fade_ns + FADE_STEP_NS && steps++ < FADE_STEPS_MAX) {
		curve->fade_ns += FADE_STEP_NS;
		for (uint32_t i = 0; i < LULL_ARRIVAL_SCALES; i++)
			curve->pkts_x256[i] -=
				(curve->pkts_x256[i] + (1u << FADE_SHIFT) - 1) >> FADE_SHIFT;
	}
	if (steps > FADE_STEPS_MAX)
		curve->fade_ns = now_ns;
}

/*
 * A longer window holds no fewer than a shorter one, and one of its halves no fewer than half of
 * what it holds: so scales tell of each other.
 */
static void
curve_read(const struct lull_arrival_curve *curve, uint64_t pkts_x256[LULL_ARRIVAL_SCALES])
{
	uint32_t i;

	memcpy(pkts_x256, curve->pkts_x256, sizeof(curve->pkts_x256));
	for (i = LULL_ARRIVAL_SCALES - 1; i > 0; i--)
		pkts_x256[i - 1] = LULL_MAX(pkts_x256[i - 1], pkts_x256[i] / 2);
	for (i = 1; i < LULL_ARRIVAL_SCALES; i++)
		pkts_x256[i] = LULL_MAX(pkts_x256[i], pkts_x256[i - 1]);
}

uint64_t
lull_arrival_curve_pkts(const struct lull_arrival_curve *curve, uint32_t scale)
{
	uint64_t pkts_x256[LULL_ARRIVAL_SCALES];

	curve_read(curve, pkts_x256);
	return (pkts_x256[scale] + (1u << UNIT_SHIFT) - 1) >> UNIT_SHIFT;
}

uint64_t
lull_arrival_curve_window_ns(const struct lull_arrival_curve *curve, uint64_t room_pkts,
			     uint32_t margin)
{
	const uint32_t last = LULL_ARRIVAL_SCALES - 1;
	uint64_t room_x256 = (room_pkts << UNIT_SHIFT) / margin;
	uint64_t pkts_x256[LULL_ARRIVAL_SCALES];
	uint64_t low_x256, high_x256;
	uint32_t i;

	curve_read(curve, pkts_x256);
	if (pkts_x256[last] == 0)
		return UINT64_MAX;
	if (room_x256 >= pkts_x256[last])
		return (uint64_t)((double)curve_window_ns(last) * (double)room_x256 /
				  (double)pkts_x256[last]);
	for (i = 0; pkts_x256[i] <= room_x256; i++)
		continue;
	/* Below the first scale the curve rises from nothing. */
	low_x256 = i > 0 ? pkts_x256[i - 1] : 0;
	high_x256 = pkts_x256[i];
	return (i > 0 ? curve_window_ns(i - 1) : 0) +
	       (uint64_t)((double)(curve_window_ns(i) - (i > 0 ? curve_window_ns(i - 1) : 0)) *
			  (double)(room_x256 - low_x256) / (double)(high_x256 - low_x256));
}
