/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>

#include <lull/base.h>
#include <lull/histogram.h>

#define SUB_BITS LULL_HISTOGRAM_SUB_BITS
#define SUB_COUNT (1u << SUB_BITS)
#define VALUE_MAX ((1ULL << LULL_HISTOGRAM_VALUE_BITS) - 1)

static_assert(sizeof(struct lull_histogram) <= 16 * 1024, "the header promises about 16 KiB");

/*
 * Each octave above SUB_COUNT has SUB_COUNT bins. Shifted so that its leading
 * bit lands on SUB_COUNT, a value is SUB_COUNT + its bin within the octave;
 * octaves then follow each other without a hole.
 */
static inline uint32_t
histogram_bin(uint64_t value)
{
	uint64_t cut = LULL_MIN(value, VALUE_MAX);
	uint32_t shift = 63 - SUB_BITS - (uint32_t)__builtin_clzll(cut | SUB_COUNT);

	return (shift << SUB_BITS) + (uint32_t)(cut >> shift);
}

uint32_t
lull_histogram_bin(uint64_t value)
{
	return histogram_bin(value);
}

uint64_t
lull_histogram_low(uint32_t bin)
{
	uint32_t shift = bin < 2 * SUB_COUNT ? 0 : (bin >> SUB_BITS) - 1;

	return (uint64_t)(bin - (shift << SUB_BITS)) << shift;
}

uint64_t
lull_histogram_high(uint32_t bin)
{
	return bin + 1 < LULL_HISTOGRAM_BINS ? lull_histogram_low(bin + 1) - 1 : UINT64_MAX;
}

/* The order lets a reader that starts at the count meet bins and maximum that are not older. */
void
lull_histogram_add(struct lull_histogram *histogram, uint64_t value, uint64_t weight)
{
	if (value > histogram->max && weight > 0)
		LULL_COUNTER_ADD(histogram->max, value - histogram->max);
	LULL_COUNTER_ADD(histogram->bins[histogram_bin(value)], weight);
	LULL_COUNTER_ADD(histogram->sum, value * weight);
	LULL_COUNTER_ADD(histogram->count, weight);
}

void
lull_histogram_clear(struct lull_histogram *histogram)
{
	__atomic_store_n(&histogram->count, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&histogram->sum, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&histogram->max, 0, __ATOMIC_RELAXED);
	for (uint32_t bin = 0; bin < LULL_HISTOGRAM_BINS; bin++)
		__atomic_store_n(&histogram->bins[bin], 0, __ATOMIC_RELAXED);
}

void
lull_histogram_merge(struct lull_histogram *into, const struct lull_histogram *from)
{
	uint64_t sum = LULL_COUNTER_READ(from->sum);
	uint64_t count = 0;
	uint64_t max;

	for (uint32_t bin = 0; bin < LULL_HISTOGRAM_BINS; bin++) {
		uint64_t weight = LULL_COUNTER_READ(from->bins[bin]);

		LULL_COUNTER_ADD(into->bins[bin], weight);
		count += weight;
	}
	max = LULL_COUNTER_READ(from->max);
	if (max > into->max)
		LULL_COUNTER_ADD(into->max, max - into->max);
	LULL_COUNTER_ADD(into->sum, sum);
	LULL_COUNTER_ADD(into->count, count);
}

/* ceil(count * ppm / 1e6), at least 1, without overflow. */
static uint64_t
histogram_rank(uint64_t count, uint32_t ppm)
{
	uint64_t share = LULL_MIN(ppm, LULL_PPM);
	uint64_t rank =
		count / LULL_PPM * share + (count % LULL_PPM * share + LULL_PPM - 1) / LULL_PPM;

	return LULL_MAX(rank, 1);
}

uint64_t
lull_histogram_quantile(const struct lull_histogram *histogram, uint32_t ppm)
{
	uint64_t count = LULL_COUNTER_READ(histogram->count);
	uint64_t left = histogram_rank(count, ppm);
	uint32_t bin;
	uint64_t high, max;

	if (count == 0)
		return 0;
	for (bin = 0; bin < LULL_HISTOGRAM_BINS; bin++) {
		uint64_t weight = LULL_COUNTER_READ(histogram->bins[bin]);

		if (weight >= left)
			break;
		left -= weight;
	}
	high = bin < LULL_HISTOGRAM_BINS ? lull_histogram_high(bin) : UINT64_MAX;
	max = LULL_COUNTER_READ(histogram->max);
	return LULL_MIN(high, max);
}
