/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate that a meter tells of a path, and how long its packets are. */
#include "base/filter.h"
#include "bundle_samples.h"

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
