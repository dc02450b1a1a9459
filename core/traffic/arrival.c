/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "arrival.h"
#include "base/assert.h"

/* A cosine as so many chords: at most 4e-5 of the swing off, the mean exact. */
#define TIDE_SEGMENTS 256
/* An even rate for ever is a cycle too, short enough for a double to hold its packets exactly. */
#define FLAT_CYCLE_NS (1ULL << 42)

enum { PRNG_GAP, PRNG_SIZE };

/* ---- profile ---- */

static void
segment_set(struct lull_arrival_segment *segment, double begin_ns, double length_ns,
	    double pps_begin, double pps_end)
{
	segment->begin_ns = begin_ns;
	segment->length_ns = length_ns;
	segment->area_pkts = (pps_begin + pps_end) / 2 * length_ns / 1e9;
	segment->pkts_per_ns = pps_begin / 1e9;
	segment->slope = (pps_end - pps_begin) / 1e9 / length_ns;
	segment->gap_ns = pps_begin > 0 ? 1e9 / pps_begin : 0;
}

/* From the segment's begin until @p work packets were due; work is at most the area. */
static double
segment_delay(const struct lull_arrival_segment *segment, double work)
{
	double rate = segment->pkts_per_ns;
	double under_root, delay_ns;

	if (!(segment->slope < 0) && !(segment->slope > 0))
		return work * segment->gap_ns;
	/*
	 * rate * t + slope / 2 * t^2 = work, solved without cancellation. The
	 * division stays: multiplying by an inverse loses the digits at small slopes.
	 */
	under_root = rate * rate + 2 * segment->slope * work;
	delay_ns = 2 * work / (rate + sqrt(LULL_MAX(under_root, 0.0)));
	return LULL_MIN(delay_ns, segment->length_ns);
}

/* sin^2 by its series: the same bits everywhere, which libm does not promise. */
static double
tide_sine_squared(double angle)
{
	double square = angle * angle;
	double tail = 1 - square / 42 * (1 - square / 72 * (1 - square / 110));
	double sine = angle * (1 - square / 6 * (1 - square / 20 * tail));

	return sine * sine;
}

/* (1 - cos(2 pi index / TIDE_SEGMENTS)) / 2 */
static double
tide_level(uint32_t index)
{
	const double step = 3.14159265358979323846 / TIDE_SEGMENTS;

	index = LULL_MIN(index, TIDE_SEGMENTS - index);
	if (index <= TIDE_SEGMENTS / 4)
		return tide_sine_squared(index * step);
	return 1 - tide_sine_squared((TIDE_SEGMENTS / 2 - index) * step);
}

static void
tide_segment(const struct lull_arrival_config *config, uint32_t index,
	     struct lull_arrival_segment *segment)
{
	double swing = config->pps_high - config->pps;
	double length_ns = (double)config->period_ns / TIDE_SEGMENTS;

	segment_set(segment, index * length_ns, length_ns, config->pps + swing * tide_level(index),
		    config->pps + swing * tide_level(index + 1));
}

/* Segment @p index of the cycle. */
static void
profile_segment(const struct lull_arrival_config *config, uint32_t index,
		struct lull_arrival_segment *segment)
{
	double pps = config->pps;

	switch (config->kind) {
	case LULL_ARRIVAL_TIDAL:
		tide_segment(config, index, segment);
		return;
	case LULL_ARRIVAL_ONOFF: /* the rest of the cycle belongs to no segment */
		segment_set(segment, 0, (double)config->on_ns, pps, pps);
		return;
	case LULL_ARRIVAL_RAMP:
	case LULL_ARRIVAL_STEP:
		pps = config->pps_high;
		break;
	case LULL_ARRIVAL_OFF:
		pps = 0;
		break;
	case LULL_ARRIVAL_CONSTANT:
	case LULL_ARRIVAL_POISSON:
	case LULL_ARRIVAL_SELFSIMILAR: /* these two have no cycle */
	case LULL_ARRIVAL_INCAST:
		break;
	}
	segment_set(segment, 0, FLAT_CYCLE_NS, pps, pps);
}

static void
profile_init(struct lull_arrival *arrival)
{
	const struct lull_arrival_config *config = &arrival->config;
	enum lull_arrival_kind kind = config->kind;

	arrival->random = kind == LULL_ARRIVAL_POISSON || kind == LULL_ARRIVAL_TIDAL;
	arrival->segment_count = 1;
	arrival->cycle_ns = FLAT_CYCLE_NS;
	profile_segment(config, 0, &arrival->segment);
	arrival->cycle_pkts = arrival->segment.area_pkts;
	if (kind == LULL_ARRIVAL_ONOFF)
		arrival->cycle_ns = config->on_ns + config->off_ns;
	if (kind == LULL_ARRIVAL_TIDAL) {
		arrival->segment_count = TIDE_SEGMENTS;
		arrival->cycle_ns = config->period_ns;
		arrival->cycle_pkts =
			(config->pps + config->pps_high) / 2 * (double)config->period_ns / 1e9;
	}
	arrival->lead_in = kind == LULL_ARRIVAL_RAMP || kind == LULL_ARRIVAL_STEP;
	if (arrival->lead_in)
		segment_set(&arrival->segment, 0, (double)config->period_ns, config->pps,
			    kind == LULL_ARRIVAL_RAMP ? config->pps_high : config->pps);
}

/* Until the first source changes its state. */
static void
sources_segment(struct lull_arrival *arrival)
{
	struct lull_arrival_segment *segment = &arrival->segment;
	const struct lull_arrival_sources *sources = &arrival->sources;
	uint64_t length_ns = sources->heap[0].change_ns - arrival->cycle_begin_ns;
	double rate = sources->pkts_per_ns * sources->on_count;

	*segment = (struct lull_arrival_segment){
		.length_ns = LULL_MIN((double)length_ns, 0x1p62),
		.pkts_per_ns = rate,
		.gap_ns = rate > 0 ? 1 / rate : 0,
	};
	segment->area_pkts = rate * segment->length_ns;
}

/* ---- packets ---- */

/* Pass over @p count cycles; false when the clock ends before that. */
static bool
arrival_pass_cycles(struct lull_arrival *arrival, double count)
{
	double span_ns = count * (double)arrival->cycle_ns;

	if (span_ns > 0x1p63)
		return false;
	return !__builtin_add_overflow(arrival->cycle_begin_ns, (uint64_t)count * arrival->cycle_ns,
				       &arrival->cycle_begin_ns);
}

/* At a cycle's begin: pass over all cycles that end before the next packet is due. */
static bool
arrival_skip_cycles(struct lull_arrival *arrival)
{
	double count;

	if (!(arrival->cycle_pkts > 0))
		return false;
	if (arrival->work_pkts <= arrival->cycle_pkts)
		return true;
	count = (double)(uint64_t)(arrival->work_pkts / arrival->cycle_pkts);
	arrival->work_pkts -= count * arrival->cycle_pkts;
	if (arrival->work_pkts <= 0) { /* due right at the end of the last one */
		arrival->work_pkts += arrival->cycle_pkts;
		count -= 1;
	}
	return arrival_pass_cycles(arrival, count);
}

static bool
arrival_next_sources(struct lull_arrival *arrival)
{
	arrival->cycle_begin_ns = arrival->sources.heap[0].change_ns;
	if (arrival->cycle_begin_ns == UINT64_MAX)
		return false;
	lull_arrival_sources_change(&arrival->sources, &arrival->gap_prng);
	sources_segment(arrival);
	return true;
}

/* The next packet lies behind the segment: go on to the next; false when none will come. */
static bool
arrival_next_segment(struct lull_arrival *arrival)
{
	arrival->work_pkts -= arrival->segment.area_pkts;
	if (arrival->config.kind == LULL_ARRIVAL_SELFSIMILAR)
		return arrival_next_sources(arrival);
	if (arrival->lead_in) {
		arrival->lead_in = false;
		arrival->cycle_begin_ns += arrival->config.period_ns;
		arrival->segment_index = 0;
	} else if (++arrival->segment_index == arrival->segment_count) {
		arrival->segment_index = 0;
		if (!arrival_pass_cycles(arrival, 1))
			return false;
	}
	if (arrival->segment_index == 0 && !arrival_skip_cycles(arrival))
		return false;
	profile_segment(&arrival->config, arrival->segment_index, &arrival->segment);
	return true;
}

static void
arrival_end(struct lull_arrival *arrival)
{
	arrival->next_ns = UINT64_MAX;
	arrival->segment.area_pkts = INFINITY; /* and it stays so */
	arrival->segment.slope = 0;
}

/* Packets of work until the next one. */
static double
arrival_step(struct lull_arrival *arrival)
{
	if (!arrival->random)
		return 1;
	return (double)lull_prng_exponential(&arrival->gap_prng) *
	       (1.0 / (1ULL << LULL_PRNG_UNIT_BITS));
}

/* One more packet of the same sender, or the first of the next. */
static void
arrival_schedule_bunch(struct lull_arrival *arrival)
{
	if (arrival->incast.pkts_left == 0 &&
	    !lull_arrival_incast_next(&arrival->incast, &arrival->next_ns))
		arrival->next_ns = UINT64_MAX;
	else
		arrival->incast.pkts_left--;
}

/* One more packet: find out when it is due. */
static void
arrival_schedule(struct lull_arrival *arrival)
{
	double delay_ns;
	uint64_t due_ns;

	if (arrival->bunched) {
		arrival_schedule_bunch(arrival);
		return;
	}
	arrival->work_pkts += arrival_step(arrival);
	/*
	 * At most one cycle of segments, whole cycles being skipped. Of sources at
	 * most four segments each: one that was on for long enough has sent a packet.
	 */
	while (arrival->work_pkts > arrival->segment.area_pkts)
		if (!arrival_next_segment(arrival)) {
			arrival_end(arrival);
			return;
		}
	delay_ns = arrival->segment.begin_ns + segment_delay(&arrival->segment, arrival->work_pkts);
	if (__builtin_add_overflow(arrival->cycle_begin_ns, (uint64_t)(delay_ns + 0.5), &due_ns))
		due_ns = UINT64_MAX;
	arrival->next_ns = LULL_MAX(arrival->next_ns, due_ns);
}

size_t
lull_arrival_size(void)
{
	return sizeof(struct lull_arrival);
}

void
lull_arrival_init(struct lull_arrival *arrival, const struct lull_arrival_config *config,
		  uint64_t now_ns)
{
	LULL_ASSERT(lull_arrival_config_check(config, NULL) == 0);
	memset(arrival, 0, sizeof(*arrival));
	arrival->config = *config;
	arrival->next_ns = now_ns;
	arrival->cycle_begin_ns = now_ns;
	lull_prng_init(&arrival->gap_prng, config->seed, PRNG_GAP);
	lull_prng_init(&arrival->size_prng, config->seed, PRNG_SIZE);
	for (uint32_t i = 0; config->kind != LULL_ARRIVAL_OFF && i < config->size_count; i++) {
		arrival->weight_sum += config->size_weight[i];
		arrival->weight_ends[i] = arrival->weight_sum;
	}
	profile_init(arrival);
	if (config->kind == LULL_ARRIVAL_SELFSIMILAR) {
		lull_arrival_sources_init(&arrival->sources, config, &arrival->gap_prng, now_ns);
		sources_segment(arrival);
	}
	arrival->bunched = config->kind == LULL_ARRIVAL_INCAST;
	if (arrival->bunched)
		lull_arrival_incast_init(&arrival->incast, config, &arrival->gap_prng, now_ns);
	arrival_schedule(arrival);
}

uint64_t
lull_arrival_next_ns(const struct lull_arrival *arrival)
{
	return arrival->next_ns;
}

uint16_t
lull_arrival_take(struct lull_arrival *arrival)
{
	uint32_t index = 0;

	LULL_ASSERT_HOT(arrival->next_ns != UINT64_MAX);
	if (arrival->config.size_count > 1) {
		uint64_t draw = lull_prng_below(&arrival->size_prng, arrival->weight_sum);

		while (draw >= arrival->weight_ends[index])
			index++;
	}
	arrival_schedule(arrival);
	return arrival->config.size_bytes[index];
}
