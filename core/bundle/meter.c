/* SPDX-License-Identifier: BSD-3-Clause */
#include "meter.h"

#include <string.h>

#include <lull/bundle.h>

#include "base/filter.h"

#define METER_BASE_NS (5 * LULL_NS_PER_S) /* one of the two windows of the least round trip */
#define METER_ABSENT_NS_MAX (10 * LULL_NS_PER_MS)
#define METER_LEAP 8 /* a sample is at most so many times as long as those before it, and 10 ms */
#define METER_LEAP_NS (10 * LULL_NS_PER_MS)
#define METER_FIRST_NS_MAX LULL_NS_PER_S
#define METER_TAIL_NS_MIN (200 * LULL_NS_PER_US)
#define METER_TAIL_NS_FIRST (10 * LULL_NS_PER_MS)
/* A span is long enough after so much time, or after rounds of so many packets, so that one lost is
 * no other rate; the first spans already with fewer packets. */
#define METER_SPAN_PKTS 64
#define METER_SPAN_PKTS_FIRST LULL_BUNDLE_QUANTUM_PKTS
#define METER_SPAN_NS (4 * LULL_NS_PER_MS)
#define METER_SPAN_OF_SRTT 2  /* the least part of a round trip */
#define METER_SPAN_ABSENCES 4 /* so much longer than an absence at either end of it */

void
bundle_meter_init(struct bundle_meter *meter, uint64_t now_ns)
{
	memset(meter, 0, sizeof(*meter));
	meter->base_since_ns = now_ns;
	meter->round_psn = 1;
}

/* RFC 6298, section 2. */
static void
meter_smooth(struct bundle_meter *meter, uint64_t rtt_ns)
{
	uint64_t off_ns;

	if (meter->srtt_ns == 0) {
		meter->srtt_ns = rtt_ns;
		meter->rttvar_ns = rtt_ns / 2;
		return;
	}
	off_ns = LULL_MAX(meter->srtt_ns, rtt_ns) - LULL_MIN(meter->srtt_ns, rtt_ns);
	meter->rttvar_ns = (3 * meter->rttvar_ns + off_ns) / 4;
	meter->srtt_ns = LULL_MAX((7 * meter->srtt_ns + rtt_ns) / 8, 1);
}

static void
meter_base(struct bundle_meter *meter, uint64_t now_ns, uint64_t rtt_ns)
{
	uint64_t age_ns = now_ns - meter->base_since_ns;

	if (meter->base_rtt_ns == 0 || age_ns >= 2 * METER_BASE_NS) {
		meter->base_before_ns = rtt_ns;
		meter->base_now_ns = rtt_ns;
		meter->base_since_ns = now_ns;
	} else if (age_ns >= METER_BASE_NS) {
		meter->base_before_ns = meter->base_now_ns;
		meter->base_now_ns = rtt_ns;
		meter->base_since_ns = now_ns;
	}
	meter->base_now_ns = LULL_MIN(meter->base_now_ns, rtt_ns);
	meter->base_rtt_ns = LULL_MIN(meter->base_now_ns, meter->base_before_ns);
}

/*
 * A clock that leaps, or a machine that is stopped, makes one sample as long as that. A round trip
 * that did become so long is known after a few samples.
 */
static uint64_t
meter_bounded_ns(const struct bundle_meter *meter, uint64_t rtt_ns)
{
	if (meter->srtt_ns == 0)
		return LULL_MIN(rtt_ns, METER_FIRST_NS_MAX);
	return LULL_MIN(rtt_ns, METER_LEAP * meter->srtt_ns + METER_LEAP_NS);
}

static void
meter_sample(struct bundle_meter *meter, const struct bundle_sample *sample)
{
	uint64_t wait_ns = LULL_MIN(sample->wait_ns, sample->rtt_ns);
	uint64_t absent_ns = LULL_MIN(sample->absent_ns, sample->rtt_ns);
	uint64_t longest_ns = LULL_MAX(wait_ns, absent_ns);
	uint64_t added_ns = wait_ns + absent_ns;
	uint64_t rtt_ns = sample->rtt_ns > added_ns ? sample->rtt_ns - added_ns : 1;
	uint64_t bounded_ns = meter_bounded_ns(meter, sample->rtt_ns);

	meter_smooth(meter, bounded_ns);
	meter_base(meter, sample->now_ns, bounded_ns);
	if (sample->overtook)
		rtt_ns = LULL_MAX(rtt_ns, meter->srtt_ns);
	if (meter->round_rtt_ns == 0 || rtt_ns < meter->round_rtt_ns)
		meter->round_rtt_ns = rtt_ns;
	meter->round_absent_ns = LULL_MAX(meter->round_absent_ns, longest_ns);
}

static uint64_t
meter_absent_ns(const struct bundle_meter *meter)
{
	uint64_t longest_ns = meter->round_absent_ns;

	for (uint32_t i = 0; i < BUNDLE_METER_ABSENTS; i++)
		longest_ns = LULL_MAX(longest_ns, meter->absents_ns[i]);
	return LULL_MIN(longest_ns, METER_ABSENT_NS_MAX);
}

/*
 * What is unsure about a span: it begins and ends with an acknowledgement, up to a packet and up to
 * an absence beside the truth, which is a variance of a sixth of their squares.
 */
static void
meter_weigh(struct bundle_meter *meter, uint64_t span_ns, uint64_t absent_ns)
{
	double speed = 8.0 * (double)meter->span_bytes / (double)span_ns;
	double packet = 8.0 * meter->packet_bytes / (double)span_ns;
	double absent = speed * (double)LULL_MIN(absent_ns, span_ns) / (double)span_ns;
	double sum_bits = 0.0, sum_ns = 0.0, mean, variance = 0.0;
	uint32_t count;

	meter->spans_ns[meter->span_count % BUNDLE_METER_SPANS] = span_ns;
	meter->spans_bytes[meter->span_count % BUNDLE_METER_SPANS] = meter->span_bytes;
	meter->span_count++;
	count = LULL_MIN(meter->span_count, BUNDLE_METER_SPANS);
	for (uint32_t i = 0; i < count; i++) {
		sum_bits += 8.0 * (double)meter->spans_bytes[i];
		sum_ns += (double)meter->spans_ns[i];
	}
	mean = sum_bits / sum_ns;
	for (uint32_t i = 0; i < count; i++) {
		double off =
			8.0 * (double)meter->spans_bytes[i] / (double)meter->spans_ns[i] - mean;

		variance += off * off / count;
	}
	speed = lull_filter_weigh(&meter->variance, speed, (packet * packet + absent * absent) / 6,
				  mean, variance);
	meter->rate_bps = (uint64_t)LULL_MAX(speed * (double)LULL_NS_PER_S, 1.0);
	meter->packet_ns = (uint64_t)LULL_MAX(8.0 * meter->packet_bytes / speed, 1.0);
}

uint64_t
bundle_meter_tail_ns(const struct bundle_meter *meter)
{
	if (meter->srtt_ns == 0)
		return METER_TAIL_NS_FIRST;
	return LULL_MAX(2 * meter->srtt_ns + 4 * meter->rttvar_ns, METER_TAIL_NS_MIN);
}

static void
meter_begin(struct bundle_meter *meter, uint64_t now_ns)
{
	meter->span_begin_ns = now_ns;
	meter->span_bytes = 0;
	meter->span_pkts = 0;
}

/* Bytes acknowledged between two acknowledgements, as long as the window was always full. */
static void
meter_span(struct bundle_meter *meter, const struct bundle_sample *sample, bool round_ends)
{
	uint32_t enough_pkts =
		meter->span_count < BUNDLE_METER_SPANS ? METER_SPAN_PKTS_FIRST : METER_SPAN_PKTS;
	bool broken = sample->now_ns - meter->span_last_ns > bundle_meter_tail_ns(meter);
	uint64_t absent_ns, span_ns;

	meter->span_last_ns = sample->now_ns;
	meter->round_paused |= broken;
	if (!meter->span_open || !sample->limited || broken) {
		meter->span_open = true;
		meter_begin(meter, sample->now_ns);
		return;
	}
	meter->span_bytes += sample->acked_bytes;
	meter->span_pkts += sample->acked_pkts;
	absent_ns = meter_absent_ns(meter);
	span_ns = sample->now_ns - meter->span_begin_ns;
	/* Acknowledgements that came in one look tell of no time. */
	if (span_ns == 0 || span_ns < METER_SPAN_ABSENCES * absent_ns || meter->span_bytes == 0)
		return;
	if (span_ns < METER_SPAN_NS && (!round_ends || meter->span_pkts < enough_pkts))
		return;
	meter_weigh(meter, span_ns, absent_ns);
	meter_begin(meter, sample->now_ns);
}

/* Full packets alone say how long one is, as long as there are any. */
static void
meter_length(struct bundle_meter *meter)
{
	double bytes;

	if (meter->round_acked == 0 || (!meter->round_limited && meter->packet_bytes > 0.0))
		return;
	bytes = (double)meter->round_bytes / meter->round_acked;
	if (meter->packet_bytes > 0.0)
		meter->packet_bytes += (bytes - meter->packet_bytes) / 8;
	else
		meter->packet_bytes = bytes;
}

static void
meter_round(struct bundle_meter *meter, const struct bundle_sample *sample,
	    struct bundle_round *round)
{
	meter->absents_ns[meter->round_count++ % BUNDLE_METER_ABSENTS] = meter->round_absent_ns;
	round->now_ns = sample->now_ns;
	round->rtt_ns = meter->round_rtt_ns;
	round->base_rtt_ns = meter->base_rtt_ns;
	round->absent_ns = meter_absent_ns(meter);
	round->packet_ns = meter->packet_ns;
	round->acked_pkts = meter->round_acked;
	round->lost_pkts = meter->round_lost;
	round->limited = meter->round_limited;
	round->paused = meter->round_paused;
	meter->round_psn = sample->psn_next;
	meter->round_rtt_ns = 0;
	meter->round_absent_ns = 0;
	meter->round_bytes = 0;
	meter->round_acked = 0;
	meter->round_lost = 0;
	meter->round_limited = meter->round_paused = false;
}

bool
bundle_meter_add(struct bundle_meter *meter, const struct bundle_sample *sample,
		 struct bundle_round *round)
{
	bool round_ends = sample->acked_pkts > 0 && sample->psn >= meter->round_psn;

	if (sample->rtt_ns > 0)
		meter_sample(meter, sample);
	meter->round_acked += sample->acked_pkts;
	meter->round_lost += sample->lost_pkts;
	meter->round_bytes += sample->acked_bytes;
	meter->round_limited |= sample->limited;
	if (round_ends)
		meter_length(meter);
	meter_span(meter, sample, round_ends);
	if (round_ends)
		meter_round(meter, sample, round);
	return round_ends;
}

uint64_t
bundle_meter_arrival_ns(const struct bundle_meter *meter, uint32_t under_way_pkts)
{
	uint64_t sent_ns = (under_way_pkts + 1ULL) * meter->packet_ns;
	uint64_t queue_ns = sent_ns > meter->base_rtt_ns ? sent_ns - meter->base_rtt_ns : 0;

	return meter->base_rtt_ns / 2 + LULL_MAX(queue_ns, meter->packet_ns);
}
