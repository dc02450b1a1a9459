/* SPDX-License-Identifier: BSD-3-Clause */
#include "ticks.h"

#include <stdlib.h>
#include <string.h>

#define MEDIANS_MAX 3

void
ticks_clear(struct ticks *ticks)
{
	ticks->count = 0;
}

void
ticks_add(struct ticks *ticks, uint64_t value)
{
	if (ticks->count < TICKS_WINDOWS_MAX)
		ticks->values[ticks->count++] = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static int
compare_values(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

double
ticks_mean(struct ticks *ticks)
{
	uint64_t limit, sum = 0;
	uint32_t kept = 0;

	if (ticks->count == 0)
		return 0;
	memcpy(ticks->sorted, ticks->values, ticks->count * sizeof(ticks->sorted[0]));
	qsort(ticks->sorted, ticks->count, sizeof(ticks->sorted[0]), compare_values);
	limit = MEDIANS_MAX * (uint64_t)ticks->sorted[ticks->count / 2];
	while (kept < ticks->count && ticks->sorted[kept] <= limit)
		sum += ticks->sorted[kept++];
	ticks->windows += ticks->count;
	ticks->left_out += ticks->count - kept;
	return (double)sum / kept;
}
