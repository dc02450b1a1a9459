/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle_samples.h"

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

/* A packet that overtook others has seen no queue: it ends no round with less than srtt. */
TEST(meter_round__does_not_go_by_one_that_overtook)
{
	struct bundle_sample sample = sample_of(S + 2, 100);
	struct bundle_round round;

	bundle_meter_init(&meter, S);
	add(sample_of(S, 800));
	sample.overtook = true;
	sample.psn = sample.psn_next = 1000;
	assert_true(bundle_meter_add(&meter, &sample, &round));
	assert_int_equal(meter.srtt_ns, (7 * 800 + 100) / 8);
	assert_int_equal(round.rtt_ns, (7 * 800 + 100) / 8);
	assert_int_equal(round.base_rtt_ns, 100);
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

TEST(meter_tail__waits_for_two_round_trips)
{
	bundle_meter_init(&meter, S);
	add(sample_of(S, MS));
	assert_int_equal(bundle_meter_tail_ns(&meter), 2 * MS + 4 * MS / 2);
	bundle_meter_init(&meter, S);
	add(sample_of(S, 10 * US));
	assert_int_equal(bundle_meter_tail_ns(&meter), 200 * US);
}
