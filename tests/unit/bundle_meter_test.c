/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/bundle.h>

#include "../case.h"
#include "base/filter.h"
#include "bundle/meter.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define S LULL_NS_PER_S

static struct bundle_meter meter;
static struct bundle_round ended;

/* Of one packet, which ends no round. */
static struct bundle_sample
sample_of(uint64_t now_ns, uint64_t rtt_ns)
{
	return (struct bundle_sample){ .now_ns = now_ns,
				       .rtt_ns = rtt_ns,
				       .psn = 1,
				       .psn_next = 1000,
				       .acked_pkts = 1,
				       .acked_bytes = 1500 };
}

static bool
add(struct bundle_sample sample)
{
	return bundle_meter_add(&meter, &sample, &ended);
}

/* A round that ends with its only sample. */
static void
add_round(uint64_t now_ns, uint64_t rtt_ns, uint64_t wait_ns, uint64_t absent_ns)
{
	struct bundle_sample sample = sample_of(now_ns, rtt_ns);

	sample.psn = UINT64_MAX;
	sample.wait_ns = wait_ns;
	sample.absent_ns = absent_ns;
	assert_true(add(sample));
}

TEST(meter_init__knows_nothing)
{
	bundle_meter_init(&meter, 5 * S);
	assert_int_equal(meter.srtt_ns, 0);
	assert_int_equal(meter.base_rtt_ns, 0);
	assert_int_equal(meter.rate_bps, 0);
	assert_int_equal(bundle_meter_tail_ns(&meter), 10 * MS);
	assert_int_equal(bundle_meter_arrival_ns(&meter, 100), 0);
}

TEST(meter_add__smooths_as_rfc_6298)
{
	bundle_meter_init(&meter, S);
	add(sample_of(S, 800));
	assert_int_equal(meter.srtt_ns, 800);
	assert_int_equal(meter.rttvar_ns, 400);
	add(sample_of(S + 1, 1600));
	assert_int_equal(meter.rttvar_ns, (3 * 400 + 800) / 4);
	assert_int_equal(meter.srtt_ns, (7 * 800 + 1600) / 8);
	add(sample_of(S + 2, 100));
	assert_int_equal(meter.rttvar_ns, (3 * 500 + 800) / 4);
	assert_int_equal(meter.srtt_ns, (7 * 900 + 100) / 8);
}

TEST(meter_add__smooths_whole_samples)
{
	struct bundle_sample sample = sample_of(S, 800);

	bundle_meter_init(&meter, S);
	sample.wait_ns = 300;
	sample.absent_ns = 200;
	add(sample);
	assert_int_equal(meter.srtt_ns, 800);
	assert_int_equal(meter.base_rtt_ns, 800);
}

/* Once 10 s too long: soon nothing is left of it. */
TEST(meter_add__forgets_a_leap_of_the_clock)
{
	uint64_t now_ns = S;

	bundle_meter_init(&meter, S);
	for (uint32_t i = 0; i < 10; i++)
		add(sample_of(now_ns += MS, 200 * US));
	add(sample_of(now_ns += 10 * S, 10 * S));
	assert_int_equal(meter.srtt_ns, (7 * 200 * US + 8 * 200 * US + 10 * MS) / 8);
	assert_in_range(bundle_meter_tail_ns(&meter), 0, 20 * MS);
	assert_in_range(meter.base_rtt_ns, 0, 12 * MS);
	for (uint32_t i = 0; i < 10; i++)
		add(sample_of(now_ns += MS, 200 * US));
	assert_in_range(meter.srtt_ns, 200 * US, 700 * US);
	assert_int_equal(meter.base_rtt_ns, 200 * US);
	/* Also when it is the first. */
	bundle_meter_init(&meter, S);
	add(sample_of(S, 100 * S));
	assert_int_equal(meter.srtt_ns, S);
}

/* A way that is really longer now is believed. */
TEST(meter_add__follows_a_longer_round_trip)
{
	bundle_meter_init(&meter, S);
	add(sample_of(S, 100 * US));
	for (uint32_t i = 1; i <= 20; i++)
		add(sample_of(S + i * MS, 300 * MS));
	assert_in_range(meter.srtt_ns, 240 * MS, 300 * MS);
}

TEST(meter_add__never_smooths_to_nothing)
{
	bundle_meter_init(&meter, S);
	for (uint64_t i = 0; i < 100; i++)
		add(sample_of(S + i, 1));
	assert_int_equal(meter.srtt_ns, 1);
}

TEST(meter_add__no_round_trip_is_no_sample)
{
	bundle_meter_init(&meter, S);
	add(sample_of(S, 0));
	assert_int_equal(meter.srtt_ns, 0);
	assert_int_equal(meter.base_rtt_ns, 0);
	add_round(S + 1, 0, 50, 50);
	assert_int_equal(ended.rtt_ns, 0);
	assert_int_equal(ended.absent_ns, 0);
	assert_int_equal(ended.acked_pkts, 1);
}

TEST(meter_base__is_the_least_of_two_windows)
{
	bundle_meter_init(&meter, S);
	add(sample_of(S, 500));
	assert_int_equal(meter.base_rtt_ns, 500);
	add(sample_of(S + 1, 400));
	add(sample_of(S + 2, 700));
	assert_int_equal(meter.base_rtt_ns, 400);
	add(sample_of(6 * S - 1, 650));
	assert_int_equal(meter.base_rtt_ns, 400);
	add(sample_of(6 * S, 600)); /* the second window */
	assert_int_equal(meter.base_rtt_ns, 400);
	add(sample_of(11 * S - 1, 900));
	assert_int_equal(meter.base_rtt_ns, 400);
	add(sample_of(11 * S, 800)); /* the third: the first is forgotten */
	assert_int_equal(meter.base_rtt_ns, 600);
	add(sample_of(16 * S, 800));
	assert_int_equal(meter.base_rtt_ns, 800);
}

TEST(meter_base__is_forgotten_in_silence)
{
	bundle_meter_init(&meter, S);
	add(sample_of(S, 500));
	add(sample_of(11 * S - 1, 900));
	assert_int_equal(meter.base_rtt_ns, 500);
	bundle_meter_init(&meter, S);
	add(sample_of(S, 500));
	add(sample_of(11 * S, 900));
	assert_int_equal(meter.base_rtt_ns, 900);
}

TEST(meter_round__ends_with_a_packet_sent_after_its_begin)
{
	struct bundle_sample sample = sample_of(S, 500);

	bundle_meter_init(&meter, S);
	sample.psn_next = 10;
	assert_true(add(sample)); /* sent after bundle_meter_init() */
	sample.psn = 9;
	sample.psn_next = 20;
	assert_false(add(sample));
	sample.psn = 10;
	sample.psn_next = 30;
	assert_true(add(sample));
	sample.psn = 29;
	assert_false(add(sample));
	sample.psn = 40;
	sample.acked_pkts = 0; /* of losses alone none ends */
	assert_false(add(sample));
	sample.acked_pkts = 1;
	assert_true(add(sample));
}

TEST(meter_round__takes_absences_out)
{
	struct bundle_sample sample = sample_of(S, 5000);

	bundle_meter_init(&meter, S);
	sample.wait_ns = 1000;
	sample.absent_ns = 500;
	sample.psn = 0;
	assert_false(add(sample));
	add_round(S + 1, 4000, 0, 0);
	assert_int_equal(ended.now_ns, S + 1);
	assert_int_equal(ended.rtt_ns, 3500);
	assert_int_equal(ended.base_rtt_ns, 4000);
	assert_int_equal(ended.absent_ns, 1000);
	assert_int_equal(ended.acked_pkts, 2);
	add_round(S + 2, 900, 0, 0); /* nothing is left over from the round before */
	assert_int_equal(ended.rtt_ns, 900);
	add_round(S + 3, 900, 500, 400);
	assert_int_equal(ended.rtt_ns, 1);
	add_round(S + 4, 900, 5000, 5000);
	assert_int_equal(ended.rtt_ns, 1);
}

TEST(meter_round__tells_the_longest_absence_of_eight)
{
	bundle_meter_init(&meter, S);
	add_round(S, 9 * MS, 3 * MS, 4 * MS);
	assert_int_equal(ended.absent_ns, 4 * MS);
	for (uint64_t i = 1; i < 8; i++) {
		add_round(S + i, 9 * MS, i * US, 0);
		assert_int_equal(ended.absent_ns, 4 * MS);
	}
	add_round(S + 8, 9 * MS, 0, 0);
	assert_int_equal(ended.absent_ns, 7 * US);
}

TEST(meter_round__cuts_absences)
{
	bundle_meter_init(&meter, S);
	add_round(S, 30 * MS, 25 * MS, 0);
	assert_int_equal(ended.absent_ns, 10 * MS);
	bundle_meter_init(&meter, S);
	add_round(S, 200 * US, S, 0); /* the packet ended it */
	assert_int_equal(ended.absent_ns, 200 * US);
	bundle_meter_init(&meter, S);
	add_round(S, 200 * US, 0, S);
	assert_int_equal(ended.absent_ns, 200 * US);
}

/* Where nothing came back for longer than a tail waits, nothing was under way. */
TEST(meter_round__tells_of_a_pause)
{
	uint64_t now_ns = S;

	bundle_meter_init(&meter, S);
	add_round(now_ns, 100 * US, 0, 0);
	assert_true(ended.paused);
	add_round(now_ns += 100 * US, 100 * US, 0, 0);
	assert_false(ended.paused);
	add(sample_of(now_ns += 10 * MS, 100 * US));
	add_round(now_ns += 100 * US, 100 * US, 0, 0);
	assert_true(ended.paused);
	add_round(now_ns += 100 * US, 100 * US, 0, 0);
	assert_false(ended.paused);
}

TEST(meter_round__counts)
{
	struct bundle_sample sample = sample_of(S, 500);

	bundle_meter_init(&meter, S);
	sample.psn = 0;
	sample.acked_pkts = 3;
	sample.lost_pkts = 2;
	sample.limited = true;
	assert_false(add(sample));
	sample.limited = false;
	sample.psn = 5;
	assert_true(add(sample));
	assert_int_equal(ended.acked_pkts, 6);
	assert_int_equal(ended.lost_pkts, 4);
	assert_true(ended.limited);
	add_round(S + 1, 500, 0, 0);
	assert_int_equal(ended.acked_pkts, 1);
	assert_int_equal(ended.lost_pkts, 0);
	assert_false(ended.limited);
}

/* Packets of 1500 bytes, a sample each, of a link of this speed; each ends a ended. */
static uint64_t
add_stream(uint64_t now_ns, uint64_t rate_bps, uint32_t count, bool limited)
{
	uint64_t packet_ns = 12000 * S / rate_bps;
	struct bundle_sample sample = sample_of(now_ns, LULL_MAX(MS, 8 * packet_ns));

	sample.psn = UINT64_MAX;
	sample.limited = limited;
	for (uint32_t i = 0; i < count; i++) {
		sample.now_ns += packet_ns;
		add(sample);
	}
	return sample.now_ns;
}

static void
assert_near(uint64_t value, uint64_t wanted)
{
	assert_in_range(value, wanted - wanted / 100, wanted + wanted / 100);
}

TEST(meter_rate__is_measured_while_the_window_is_full)
{
	uint64_t now_ns = S;

	bundle_meter_init(&meter, now_ns);
	now_ns = add_stream(now_ns, 10000000, 1000, false);
	assert_int_equal(meter.rate_bps, 0);
	assert_int_equal(ended.packet_ns, 0);
	now_ns = add_stream(now_ns, 200000000, 8, true);
	assert_near(meter.rate_bps, 200000000);
	assert_near(meter.packet_ns, 60000);
	now_ns = add_stream(now_ns, 1000000, 100, false); /* says nothing about the path */
	assert_near(meter.rate_bps, 200000000);
	add_stream(now_ns, 200000000, 500, true);
	assert_near(meter.rate_bps, 200000000);
	assert_near(ended.packet_ns, 60000);
}

TEST(meter_rate__first_span_takes_a_quantum)
{
	bundle_meter_init(&meter, S);
	add_stream(S, 200000000, 8, true); /* the first begins it */
	assert_int_equal(meter.rate_bps, 0);
	add_stream(S + 8 * 60 * US, 200000000, 1, true);
	assert_near(meter.rate_bps, 200000000);
}

TEST(meter_rate__follows_within_50_ms)
{
	uint64_t now_ns = S;

	bundle_meter_init(&meter, now_ns);
	now_ns = add_stream(now_ns, 200000000, 4000, true);
	assert_near(meter.rate_bps, 200000000);
	now_ns = add_stream(now_ns, 50000000, 50 * 50 / 12, true);
	assert_near(meter.rate_bps, 50000000);
	add_stream(now_ns, 200000000, 50 * 200 / 12, true);
	assert_near(meter.rate_bps, 200000000);
}

/* Two acknowledgements that came in one look tell of no time. */
TEST(meter_rate__needs_time_that_passed)
{
	struct bundle_sample sample = sample_of(S, 100 * US);

	bundle_meter_init(&meter, S);
	add_round(S, 100 * US, 0, 0);
	sample.now_ns = S + 10 * MS;
	sample.limited = true;
	add(sample);
	sample.psn = UINT64_MAX;
	sample.acked_pkts = 20;
	sample.acked_bytes = 30000;
	assert_true(add(sample));
	assert_int_equal(meter.rate_bps, 0);
	assert_int_equal(meter.packet_ns, 0);
	sample.now_ns += 200 * US;
	assert_true(add(sample)); /* 40 packets in 200 us */
	assert_int_equal(meter.rate_bps, 2400000000);
}

TEST(meter_rate__is_smooth)
{
	uint64_t now_ns = S;
	uint64_t least_bps = UINT64_MAX, most_bps = 0;

	bundle_meter_init(&meter, now_ns);
	now_ns = add_stream(now_ns, 200000000, 2000, true);
	/* Acknowledgements come 16 at once, a millisecond later or sooner. */
	for (uint32_t i = 0; i < 1000; i++) {
		struct bundle_sample sample = sample_of(now_ns, 5 * MS);

		now_ns += 16 * 60 * US;
		sample.now_ns = now_ns + i % 3 * 300 * US;
		sample.psn = UINT64_MAX;
		sample.acked_pkts = 16;
		sample.acked_bytes = 16ULL * 1500;
		sample.limited = true;
		add(sample);
		if (i > 100) {
			least_bps = LULL_MIN(least_bps, meter.rate_bps);
			most_bps = LULL_MAX(most_bps, meter.rate_bps);
		}
	}
	assert_true(least_bps > 165000000);
	assert_true(most_bps < 240000000);
}

/* A span of so many packets of 1500 bytes, that one acknowledgement ends. */
static uint64_t
add_span(uint64_t now_ns, uint64_t span_ns, uint32_t pkts, uint64_t absent_ns)
{
	struct bundle_sample sample = sample_of(now_ns + span_ns, 20 * MS);

	sample.psn = UINT64_MAX;
	sample.acked_pkts = pkts;
	sample.acked_bytes = pkts * 1500ULL;
	sample.absent_ns = absent_ns;
	sample.limited = true;
	add(sample);
	return sample.now_ns;
}

/*
 * Alg. 2 of the sleep model, computed beside it: the newest speed weighed against the mean of the
 * last 8 spans.
 */
TEST(meter_rate__is_the_kalman_estimate)
{
	static const uint64_t spans_ns[] = { 5 * MS, 5200 * US, 4900 * US, 5 * MS,    6 * MS,
					     5 * MS, 4800 * US, 5100 * US, 5 * MS,    7 * MS,
					     5 * MS, 9 * MS,    5 * MS,    5050 * US, 5 * MS };
	uint64_t now_ns = add_span(S, 0, 0, 0);
	double kept = 0.0, wanted = 0.0;

	bundle_meter_init(&meter, now_ns);
	now_ns = add_span(now_ns, 1, 100, MS);
	for (uint32_t i = 0; i < COUNT(spans_ns); i++) {
		uint32_t pkts = 80 + i % 3;
		uint64_t absent_ns = i < 12 ? MS : 0; /* remembered for 8 rounds */
		double speed = pkts * 12000.0 / (double)spans_ns[i];
		double packet = 12000.0 / (double)spans_ns[i];
		double gone = speed * (double)MS / (double)spans_ns[i];
		double bits = 0.0, ns = 0.0, variance = 0.0, mean;
		uint32_t first = i < 7 ? 0 : i - 7;

		for (uint32_t k = first; k <= i; k++) {
			bits += (80 + k % 3) * 12000.0;
			ns += (double)spans_ns[k];
		}
		mean = bits / ns;
		for (uint32_t k = first; k <= i; k++) {
			double off = (80 + k % 3) * 12000.0 / (double)spans_ns[k] - mean;

			variance += off * off / (i - first + 1);
		}
		wanted = lull_filter_weigh(&kept, speed, (packet * packet + gone * gone) / 6, mean,
					   variance);
		now_ns = add_span(now_ns, spans_ns[i], pkts, absent_ns);
		assert_in_range(meter.rate_bps, (uint64_t)(wanted * 1e9) - 2,
				(uint64_t)(wanted * 1e9) + 2);
		assert_in_range(meter.packet_ns, (uint64_t)(12000.0 / wanted) - 1,
				(uint64_t)(12000.0 / wanted) + 1);
	}
}

TEST(meter_rate__knows_no_silence)
{
	uint64_t now_ns = S;

	bundle_meter_init(&meter, now_ns);
	now_ns = add_stream(now_ns, 200000000, 1000, true);
	/* The window was full, then nothing was left to send for a second. */
	now_ns = add_stream(now_ns + S, 200000000, 500, true);
	assert_near(meter.rate_bps, 200000000);
	now_ns = add_stream(now_ns + 3 * MS, 200000000, 70, true);
	assert_near(meter.rate_bps, 200000000);
}

TEST(meter_rate__span_ends_after_64_packets_or_4_ms)
{
	uint64_t now_ns = S, rate_bps;

	bundle_meter_init(&meter, now_ns);
	now_ns = add_stream(now_ns, 1000000000, 1000, true); /* 64 packets: 0.8 ms */
	now_ns = add_stream(now_ns, 500000000, 64, true);    /* one span at least */
	rate_bps = meter.rate_bps;
	assert_true(rate_bps < 900000000);
	bundle_meter_init(&meter, now_ns);
	now_ns = add_stream(now_ns, 10000000, 100, true); /* 1.2 ms each */
	now_ns = add_stream(now_ns, 5000000, 4, true);    /* 9.6 ms */
	assert_true(meter.rate_bps < 9000000);
}

TEST(meter_rate__spans_outlast_absences)
{
	uint64_t now_ns = S;

	bundle_meter_init(&meter, now_ns);
	/* 3 ms of packets at once, as a host sees them that looks each 3 ms. */
	for (uint32_t i = 0; i < 100; i++) {
		struct bundle_sample sample = sample_of(now_ns += 3 * MS, 6 * MS);

		for (uint32_t k = 0; k < 10; k++) {
			sample.psn = UINT64_MAX;
			sample.acked_pkts = 5;
			sample.acked_bytes = 5ULL * 1500;
			sample.absent_ns = k == 0 ? 3 * MS : 0;
			sample.now_ns = now_ns + k;
			sample.limited = true;
			add(sample);
		}
		if (i > 20)
			assert_in_range(meter.rate_bps, 180000000, 220000000);
	}
}

TEST(meter_length__goes_by_full_packets)
{
	struct bundle_sample sample = sample_of(S, MS);
	uint64_t now_ns;

	bundle_meter_init(&meter, S);
	sample.psn = UINT64_MAX;
	sample.acked_bytes = 60;
	add(sample);
	assert_true(meter.packet_bytes == 60.0);
	now_ns = add_stream(S, 100000000, 200, true);
	assert_near(meter.packet_ns, 120000);
	sample.now_ns = now_ns;
	for (uint32_t i = 0; i < 100; i++) /* acknowledgements are short */
		add(sample);
	assert_near((uint64_t)meter.packet_bytes, 1500);
}

TEST(meter_length__is_an_eighth_of_the_newest)
{
	bundle_meter_init(&meter, S);
	add_span(S, 0, 1, 0);
	assert_true(meter.packet_bytes == 1500.0);
	for (uint32_t i = 0; i < 2; i++) {
		struct bundle_sample sample = sample_of(S + i, MS);

		sample.psn = UINT64_MAX;
		sample.limited = true;
		sample.acked_pkts = 2;
		sample.acked_bytes = 2 * 700;
		add(sample);
	}
	assert_true(meter.packet_bytes == 1400.0 - 700.0 / 8);
}

TEST(meter_tail__waits_for_two_round_trips)
{
	bundle_meter_init(&meter, S);
	add(sample_of(S, MS));
	assert_int_equal(bundle_meter_tail_ns(&meter), 2 * MS + 4 * MS / 2);
	bundle_meter_init(&meter, S);
	add(sample_of(S, 10 * US));
	assert_int_equal(bundle_meter_tail_ns(&meter), 200 * US);
}

TEST(meter_arrival__counts_the_queue)
{
	uint64_t packet_ns;

	bundle_meter_init(&meter, S);
	add(sample_of(S, 600 * US));
	assert_int_equal(bundle_meter_arrival_ns(&meter, 100), 300 * US);
	bundle_meter_init(&meter, S);
	add_stream(S, 200000000, 100, true);
	packet_ns = meter.packet_ns;
	assert_int_equal(bundle_meter_arrival_ns(&meter, 0), MS / 2 + packet_ns);
	assert_int_equal(bundle_meter_arrival_ns(&meter, 15), MS / 2 + packet_ns);
	/* A round trip is 16 packets and a bit: what is more stands in the queue. */
	assert_int_equal(bundle_meter_arrival_ns(&meter, 99), MS / 2 + 100 * packet_ns - MS);
}
