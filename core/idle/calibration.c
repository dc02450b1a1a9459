/* SPDX-License-Identifier: BSD-3-Clause */
#include "calibration.h"

#include <lull/base.h>

/* Before anything is measured: twice what a virtual machine needs at 1 us timer slack. */
#define GUESS_COST_NS (20 * LULL_NS_PER_US)
#define GUESS_OVERSHOOT_NS (40 * LULL_NS_PER_US)

#define REFRESH_RESTS 64
#define LATE_SLACK_NS (50 * LULL_NS_PER_US)
#define LATE_SMOOTH_RESTS 256
#define OUTDATED_RESTS 256
#define OUTDATED_PPM 1000

static uint32_t
calibration_bin(uint64_t ns)
{
	uint32_t octave;

	if (ns < (1u << LULL_CALIBRATION_SUB_BITS))
		return (uint32_t)ns;
	octave = 63u - (uint32_t)__builtin_clzll(ns) - LULL_CALIBRATION_SUB_BITS;
	if (octave >= LULL_CALIBRATION_OCTAVES)
		return LULL_CALIBRATION_BINS - 1;
	return ((octave + 1) << LULL_CALIBRATION_SUB_BITS) +
	       ((uint32_t)(ns >> octave) & ((1u << LULL_CALIBRATION_SUB_BITS) - 1));
}

uint64_t
lull_calibration_high(uint32_t bin)
{
	uint32_t octave = bin >> LULL_CALIBRATION_SUB_BITS;
	uint64_t sub = bin & ((1u << LULL_CALIBRATION_SUB_BITS) - 1);

	if (octave == 0)
		return bin;
	octave--;
	return (((1ULL << LULL_CALIBRATION_SUB_BITS) + sub + 1) << octave) - 1;
}

void
lull_calibration_init(struct lull_calibration *calibration)
{
	*calibration = (struct lull_calibration){
		.cost_ns = GUESS_COST_NS,
		.p50_ns = GUESS_OVERSHOOT_NS,
		.p99_ns = GUESS_OVERSHOOT_NS,
		.p999_ns = GUESS_OVERSHOOT_NS,
		.p9999_ns = GUESS_OVERSHOOT_NS,
		.usual_p99_ns = GUESS_OVERSHOOT_NS,
		.bin_first = LULL_CALIBRATION_BINS,
	};
}

/* Of the bins below @p bin, which hold @p weight rests. */
static uint64_t
calibration_quantile(const struct lull_calibration *calibration, uint32_t bin, uint64_t weight,
		     uint32_t ppm)
{
	/* Rests that may lie above the answer; rounding down errs to the safe side. */
	uint64_t above = weight * (LULL_PPM - ppm) / LULL_PPM;

	while (bin > 0) {
		bin--;
		if (calibration->bins[bin] > above)
			return lull_calibration_high(bin);
		above -= calibration->bins[bin];
	}
	return 0;
}

uint64_t
lull_calibration_quantile(const struct lull_calibration *calibration, uint32_t ppm)
{
	if (calibration->count < LULL_CALIBRATION_READY)
		return GUESS_OVERSHOOT_NS;
	return calibration_quantile(calibration, calibration->bin_last + 1, calibration->weight,
				    ppm);
}

uint64_t
lull_calibration_usual(const struct lull_calibration *calibration, uint32_t ppm)
{
	uint64_t weight = calibration->weight;
	uint32_t bin = LULL_CALIBRATION_STALL_BIN;

	if (calibration->count < LULL_CALIBRATION_READY)
		return GUESS_OVERSHOOT_NS;
	for (; bin <= calibration->bin_last; bin++)
		weight -= calibration->bins[bin];
	bin = LULL_MIN(LULL_CALIBRATION_STALL_BIN, calibration->bin_last + 1);
	return calibration_quantile(calibration, bin, weight, ppm);
}

static void
calibration_fade(struct lull_calibration *calibration)
{
	uint32_t first = LULL_CALIBRATION_BINS, last = 0, bin;

	calibration->weight = 0;
	for (bin = calibration->bin_first; bin <= calibration->bin_last; bin++) {
		calibration->bins[bin] /= 2;
		if (calibration->bins[bin] == 0)
			continue;
		calibration->weight += calibration->bins[bin];
		first = LULL_MIN(first, bin);
		last = bin;
	}
	calibration->bin_first = first;
	calibration->bin_last = last;
}

/* Share of remembered rests that count as late. */
static uint64_t
calibration_remembered_late_ppm(const struct lull_calibration *calibration)
{
	uint64_t late = 0;
	uint32_t bin;

	for (bin = calibration_bin(4 * calibration->p50_ns + LATE_SLACK_NS) + 1;
	     bin <= calibration->bin_last; bin++)
		late += calibration->bins[bin];
	return late * LULL_PPM / calibration->weight;
}

/*
 * Where rests are rare, because they were found too late, memory would outlive the trouble by
 * minutes. When hundreds of rests in a row contradict it, it fades faster.
 */
static bool
calibration_outdated(const struct lull_calibration *calibration)
{
	return calibration->count % OUTDATED_RESTS == 0 && calibration->weight > OUTDATED_RESTS &&
	       calibration_remembered_late_ppm(calibration) >
		       8ULL * calibration->late_ppm + OUTDATED_PPM;
}

static void
calibration_refresh(struct lull_calibration *calibration)
{
	calibration->p50_ns = lull_calibration_quantile(calibration, 500000);
	calibration->p99_ns = lull_calibration_quantile(calibration, 990000);
	calibration->p999_ns = lull_calibration_quantile(calibration, 999000);
	calibration->p9999_ns = lull_calibration_quantile(calibration, 999900);
	calibration->usual_p99_ns = lull_calibration_usual(calibration, 990000);
}

bool
lull_calibration_add(struct lull_calibration *calibration, uint64_t overshoot_ns, uint64_t cpu_ns)
{
	bool late = calibration->count >= LULL_CALIBRATION_READY &&
		    overshoot_ns > 4 * calibration->p50_ns + LATE_SLACK_NS;
	uint32_t goal_ppm = late ? LULL_PPM : 0;
	uint32_t bin = calibration_bin(overshoot_ns);

	calibration->bins[bin]++;
	calibration->bin_first = LULL_MIN(calibration->bin_first, bin);
	calibration->bin_last = LULL_MAX(calibration->bin_last, bin);
	calibration->weight++;
	calibration->count++;
	if (calibration->weight >= LULL_CALIBRATION_WEIGHT || calibration_outdated(calibration))
		calibration_fade(calibration);
	if (calibration->count % REFRESH_RESTS == 0 || calibration->count == LULL_CALIBRATION_READY)
		calibration_refresh(calibration);

	calibration->late_ppm =
		(uint32_t)(((uint64_t)calibration->late_ppm * (LATE_SMOOTH_RESTS - 1) + goal_ppm) /
			   LATE_SMOOTH_RESTS);

	if (cpu_ns > 0 && !calibration->cost_measured) {
		calibration->cost_measured = true;
		calibration->cost_ns = cpu_ns;
	} else if (cpu_ns > 0) {
		/* One disturbed sample must not move the break-even far. */
		cpu_ns = LULL_MIN(cpu_ns, 4 * calibration->cost_ns);
		calibration->cost_ns = (7 * calibration->cost_ns + cpu_ns) / 8;
	}
	return late;
}
