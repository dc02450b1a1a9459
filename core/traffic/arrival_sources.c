/* SPDX-License-Identifier: BSD-3-Clause */
#include "arrival_sources.h"

/* A source is on for a third of the time: the shortest and the mean off times are twice as long. */
#define OFF_SHARE 2
#define SHORTEST_ON_NS 100e3
#define CUT_DOUBLINGS 17
/* Longer times are centuries: cut, so that they fit any arithmetic. */
#define TIME_NS_MAX 0x1p62

/* 1 / LN_2 and ln(2)^n / n!; what comes after the last term is below 2^-50. */
#define LOG2_E 1.4426950408889634
static const double doubling_series[] = {
	1.0,
	0.69314718055994531,
	0.24022650695910071,
	0.055504108664821580,
	0.0096181291076284772,
	0.0013333558146428443,
	1.5403530393381610e-4,
	1.5252733804059840e-5,
	1.3215486790144309e-6,
	1.0178086009239699e-7,
	7.0549116208011233e-9,
	4.4455382718708115e-10,
	2.5678435993488202e-11,
	1.3691488853904129e-12,
};
#define SERIES_LAST ((int)(sizeof(doubling_series) / sizeof(doubling_series[0])) - 1)

/* 2^doublings, up to 2^CUT_DOUBLINGS, without libm: the same bits everywhere. */
static double
sources_double(double doublings)
{
	uint32_t whole = (uint32_t)LULL_MIN(doublings, (double)CUT_DOUBLINGS);
	double part = LULL_MIN(doublings, (double)CUT_DOUBLINGS) - whole;
	double sum = doubling_series[SERIES_LAST];

	for (int i = SERIES_LAST - 1; i >= 0; i--)
		sum = sum * part + doubling_series[i];
	return sum * (double)(1U << whole);
}

static double
sources_step(struct lull_prng *prng)
{
	return (double)lull_prng_exponential(prng) * (1.0 / (1ULL << LULL_PRNG_UNIT_BITS));
}

/* @p from_ns and a time of @p stretch times the shortest. */
static uint64_t
sources_later(const struct lull_arrival_sources *sources, bool on, uint64_t from_ns, double stretch)
{
	double time_ns = LULL_MIN(sources->shortest_ns[on] * stretch, TIME_NS_MAX);
	uint64_t change_ns;

	if (__builtin_add_overflow(from_ns, (uint64_t)(time_ns + 0.5), &change_ns))
		return UINT64_MAX;
	return change_ns;
}

/*
 * What is left, in shortest times, of an on or off time that one comes upon at
 * random. Up to 1 all are alike; beyond, the density falls as x^-alpha, so the
 * logarithm is exponential, of mean 1 / (alpha - 1), and cut where the times are.
 * An exponential number modulo the cut is one that stayed below it.
 */
static double
sources_rest_of_time(struct lull_prng *prng, double alpha)
{
	double cut = CUT_DOUBLINGS;
	double mean = (alpha - 1 / sources_double(cut * (alpha - 1))) / (alpha - 1);
	double at = (double)(lull_prng_u64(prng) >> 11) * 0x1p-53 * mean;
	double doublings;

	if (at < 1)
		return at;
	doublings = sources_step(prng) * LOG2_E / (alpha - 1);
	return sources_double(doublings - cut * (double)(uint64_t)(doublings / cut));
}

/* The first source changes later than it did: let it sink to its place. */
static void
sources_sink(struct lull_arrival_sources *sources, uint32_t index)
{
	struct lull_arrival_source *heap = sources->heap, moved = heap[index];
	uint32_t child;

	while ((child = 2 * index + 1) < sources->count) {
		if (child + 1 < sources->count && heap[child + 1].change_ns < heap[child].change_ns)
			child++;
		if (heap[child].change_ns >= moved.change_ns)
			break;
		heap[index] = heap[child];
		index = child;
	}
	heap[index] = moved;
}

void
lull_arrival_sources_init(struct lull_arrival_sources *sources,
			  const struct lull_arrival_config *config, struct lull_prng *prng,
			  uint64_t now_ns)
{
	double alpha = 3 - 2 * config->hurst;
	double peak_pps = config->pps * (1 + OFF_SHARE) / config->source_count;

	sources->count = config->source_count;
	sources->on_count = 0;
	sources->stretch_doublings = LOG2_E / alpha;
	sources->pkts_per_ns = peak_pps / 1e9;
	/* With a packet in each, changes are no more frequent than packets. */
	sources->shortest_ns[true] = LULL_MAX(SHORTEST_ON_NS, 1e9 / peak_pps);
	sources->shortest_ns[false] = sources->shortest_ns[true] * OFF_SHARE;
	for (uint32_t i = 0; i < sources->count; i++) {
		bool on = lull_prng_below(prng, 1 + OFF_SHARE) == 0;

		sources->on_count += on;
		sources->heap[i].on = on;
		sources->heap[i].change_ns =
			sources_later(sources, on, now_ns, sources_rest_of_time(prng, alpha));
	}
	for (uint32_t i = sources->count / 2; i-- > 0;)
		sources_sink(sources, i);
}

void
lull_arrival_sources_change(struct lull_arrival_sources *sources, struct lull_prng *prng)
{
	struct lull_arrival_source *first = &sources->heap[0];
	double stretch = sources_double(sources_step(prng) * sources->stretch_doublings);

	first->on = !first->on;
	sources->on_count += first->on ? 1 : UINT32_MAX;
	first->change_ns = sources_later(sources, first->on, first->change_ns, stretch);
	sources_sink(sources, 0);
}
