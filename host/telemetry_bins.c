/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry.h"

#include <lull/base.h>

static void
bins_merge_pairs(struct lull_telemetry_bins *bins)
{
	uint32_t merged = 0;

	for (uint32_t i = 0; i < bins->count; i += 2) {
		uint64_t second = i + 1 < bins->count ? bins->bins[i + 1].count : 0;

		bins->bins[merged].low = bins->bins[i].low;
		bins->bins[merged].count = bins->bins[i].count + second;
		merged++;
	}
	bins->count = merged;
}

void
lull_telemetry_bins(const struct lull_histogram *histogram, uint32_t count_max,
		    struct lull_telemetry_bins *bins)
{
	bins->count = 0;
	for (uint32_t i = 0; i < LULL_HISTOGRAM_BINS; i++) {
		uint64_t count = LULL_COUNTER_READ(histogram->bins[i]);

		if (count == 0)
			continue;
		bins->bins[bins->count].low = lull_histogram_low(i);
		bins->bins[bins->count].count = count;
		bins->count++;
	}
	while (bins->count > count_max)
		bins_merge_pairs(bins);
}
