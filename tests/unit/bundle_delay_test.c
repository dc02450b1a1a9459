/* SPDX-License-Identifier: BSD-3-Clause */
/* The control `delay` round by round; bundle_control_test.c has it on links. */
#include "../case.h"
#include "bundle/control.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define S LULL_NS_PER_S

static _Alignas(16) uint8_t state[BUNDLE_CONTROL_STATE];
static const struct bundle_control_limits limits = { .window_pkts_max = 512, .fixed_pkts = 64 };

/* The window has been full for two rounds, which say nothing else. */
static void
delay_begin(uint32_t share)
{
	const struct bundle_round full = { .limited = true };

	lull_bundle_controls[0]->init(state, &limits, share);
	for (uint32_t i = 0; i < 2; i++)
		lull_bundle_controls[0]->round(state, &full);
}

/* 200 Mb/s, 1 ms: the target is 1.58 ms. Twice, since the round after a change is left out. */
static uint32_t
delay_rounds(struct bundle_round round)
{
	static uint64_t now_ns = S;

	round.base_rtt_ns = MS;
	for (uint32_t i = 0; i < 2; i++) {
		round.now_ns = now_ns += MS;
		lull_bundle_controls[0]->round(state, &round);
	}
	return lull_bundle_controls[0]->window(state);
}

static struct bundle_round
round_of(uint64_t rtt_ns)
{
	return (struct bundle_round){
		.rtt_ns = rtt_ns, .packet_ns = 60 * US, .acked_pkts = 20, .limited = true
	};
}

TEST(delay__begins_with_8_quanta_or_an_eighth)
{
	delay_begin(1);
	assert_int_equal(lull_bundle_controls[0]->window(state), 64);
	delay_begin(8);
	assert_int_equal(lull_bundle_controls[0]->window(state), 8);
}

TEST(delay__doubles_at_first_up_to_the_most)
{
	delay_begin(1);
	assert_int_equal(delay_rounds(round_of(MS)), 128);
	assert_int_equal(delay_rounds(round_of(MS)), 256);
	assert_int_equal(delay_rounds(round_of(MS)), 512);
	assert_int_equal(delay_rounds(round_of(MS)), 512);
}

/* The first packets of a burst see no queue: three rounds in a row have to be full. */
TEST(delay__grows_from_the_third_full_round_on)
{
	struct bundle_round round = round_of(MS);

	round.base_rtt_ns = MS;
	lull_bundle_controls[0]->init(state, &limits, 1);
	for (uint32_t i = 0; i < 12; i++) {
		round.now_ns = S + i * MS;
		round.limited = i % 3 != 0;
		lull_bundle_controls[0]->round(state, &round);
		assert_int_equal(lull_bundle_controls[0]->window(state), 64);
	}
	/* A round with a pause is the first again. */
	round.limited = true;
	for (uint32_t i = 0; i < 3; i++) {
		round.paused = i == 0;
		lull_bundle_controls[0]->round(state, &round);
		assert_int_equal(lull_bundle_controls[0]->window(state), i < 2 ? 64 : 128);
	}
	lull_bundle_controls[0]->init(state, &limits, 1);
	for (uint32_t i = 0; i < 12; i++) {
		round.paused = i % 2 == 0;
		lull_bundle_controls[0]->round(state, &round);
		assert_int_equal(lull_bundle_controls[0]->window(state), 64);
	}
}

TEST(delay__does_not_grow_unless_limited)
{
	struct bundle_round round = round_of(MS);

	delay_begin(1);
	round.limited = false;
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(delay_rounds(round), 64);
	round.rtt_ns = 3 * MS; /* but it shrinks */
	assert_true(delay_rounds(round) < 64);
}

TEST(delay__shrinks_by_what_is_above_the_target)
{
	delay_begin(1);
	/* 64 x (1 - 0.8 (3.16 - 1.58) / 3.16) */
	assert_int_equal(delay_rounds(round_of(3160 * US)), 39);
	/* Slow start is over: a quantum, then two while there is hardly any queue. */
	assert_int_equal(delay_rounds(round_of(MS)), 47);
	assert_int_equal(delay_rounds(round_of(MS)), 63);
	assert_int_equal(delay_rounds(round_of(MS)), 95);
	assert_int_equal(delay_rounds(round_of(1200 * US)), 101); /* room for 6.3 packets */
	assert_int_equal(delay_rounds(round_of(1550 * US)), 101); /* for half a packet */
	assert_int_equal(delay_rounds(round_of(MS)), 109);
}

TEST(delay__target_lasts_for_an_absence)
{
	struct bundle_round round = round_of(5900 * US);

	delay_begin(1);
	round.absent_ns = 5 * MS;
	assert_true(delay_rounds(round) > 64);
	round.rtt_ns = 9 * MS;
	assert_true(delay_rounds(round) < 128);
}

TEST(delay__never_below_a_quantum)
{
	delay_begin(8);
	assert_int_equal(delay_rounds(round_of(500 * MS)), 8);
	lull_bundle_controls[0]->timeout(state);
	assert_int_equal(lull_bundle_controls[0]->window(state), 8);
}

TEST(delay__timeout_halves)
{
	delay_begin(1);
	lull_bundle_controls[0]->timeout(state);
	assert_int_equal(lull_bundle_controls[0]->window(state), 32);
	/* The rounds that follow say nothing about this window yet, and slow start is over. */
	assert_int_equal(delay_rounds(round_of(MS)), 40);
}

TEST(delay__unknown_rate_is_no_reason_to_shrink)
{
	struct bundle_round round = round_of(2 * MS);

	delay_begin(1);
	round.packet_ns = 0;
	assert_int_equal(delay_rounds(round), 128);
	round.rtt_ns = 0; /* no sample says nothing */
	assert_int_equal(delay_rounds(round), 128);
}

TEST(delay__one_of_eight_is_noise)
{
	struct bundle_round round = round_of(1580 * US);

	delay_begin(1);
	delay_rounds(round);
	round.acked_pkts = 7;
	round.lost_pkts = 1;
	delay_rounds(round);
	round.acked_pkts = 200;
	round.lost_pkts = 0;
	for (uint32_t i = 0; i < 100; i++) {
		delay_rounds(round);
		round.lost_pkts = i % 2;
	}
	assert_true(lull_bundle_controls[0]->window(state) >= 64);
}

TEST(delay__more_than_2_percent_halves_once_per_event)
{
	struct bundle_round round = round_of(1580 * US);

	delay_begin(1);
	delay_rounds(round_of(1580 * US));
	assert_int_equal(lull_bundle_controls[0]->window(state), 128);
	round.acked_pkts = 72;
	round.lost_pkts = 8; /* 8 - 1.6 > 6; the round after it belongs to the same event */
	assert_int_equal(delay_rounds(round), 64);
	assert_int_equal(delay_rounds(round), 32);
}

TEST(delay__3_percent_halves_after_a_while)
{
	struct bundle_round round = round_of(1580 * US);
	uint32_t rounds = 0;

	delay_begin(1);
	delay_rounds(round_of(2 * MS));
	round.acked_pkts = 97;
	round.lost_pkts = 3;
	while (lull_bundle_controls[0]->window(state) > 40 && rounds < 100) {
		delay_rounds(round);
		rounds++;
	}
	/* 600 packets, of two rounds each */
	assert_in_range(rounds, 3, 5);
}

TEST(delay__loss_leaves_out_the_round_after)
{
	const struct lull_bundle_control *delay = lull_bundle_controls[0];
	struct bundle_round lossy = round_of(1580 * US), clean = round_of(MS);

	lossy.base_rtt_ns = clean.base_rtt_ns = MS;
	lossy.acked_pkts = 70;
	lossy.lost_pkts = 30;
	clean.now_ns = lossy.now_ns = S;
	delay_begin(1);
	delay->round(state, &lossy);
	assert_int_equal(delay->window(state), 32);
	delay->round(state, &lossy); /* sent before it was halved */
	assert_int_equal(delay->window(state), 32);
	delay->round(state, &clean); /* a quantum: slow start is over */
	assert_int_equal(delay->window(state), 40);
	delay->round(state, &lossy);
	assert_int_equal(delay->window(state), 20);
	delay->round(state, &clean); /* says nothing about this window yet */
	assert_int_equal(delay->window(state), 20);
	delay->round(state, &clean);
	assert_int_equal(delay->window(state), 28);
}

TEST(delay__sum_of_losses_decides_exactly)
{
	const struct lull_bundle_control *delay = lull_bundle_controls[0];
	struct bundle_round round = round_of(1580 * US);

	round.base_rtt_ns = MS;
	round.limited = false; /* nothing grows */
	round.now_ns = S;
	round.acked_pkts = 143;
	round.lost_pkts = 9; /* 9 - 152 / 50 = 5.96 */
	delay_begin(1);
	delay->round(state, &round);
	assert_int_equal(delay->window(state), 64);
	round.acked_pkts = 46; /* none of 46 takes 0.92 off, 2 of 50 add one: 6.04 */
	round.lost_pkts = 0;
	delay->round(state, &round);
	round.acked_pkts = 48;
	round.lost_pkts = 2;
	delay->round(state, &round);
	assert_int_equal(delay->window(state), 32);
	round.acked_pkts = 1; /* forgiven; then the sum begins at 0 */
	round.lost_pkts = 0;
	delay->round(state, &round);
	round.lost_pkts = 6;
	delay->round(state, &round);
	assert_int_equal(delay->window(state), 32);
	round.lost_pkts = 1;
	delay->round(state, &round);
	assert_int_equal(delay->window(state), 16);
}

/* Rounds with this round trip; returns the window after so many ms. */
static uint32_t
delay_stand(uint64_t rtt_ns, uint64_t from_ns, uint64_t for_ms, bool limited)
{
	struct bundle_round round = round_of(rtt_ns);

	round.base_rtt_ns = MS;
	round.limited = limited;
	for (uint64_t i = 0; i < for_ms; i++) {
		round.now_ns = from_ns + i * MS;
		lull_bundle_controls[0]->round(state, &round);
	}
	return lull_bundle_controls[0]->window(state);
}

static void
delay_begin_full(void)
{
	delay_begin(1);
	assert_int_equal(delay_stand(2 * MS, S, 1, true), 54); /* over: 0.8 x 0.42 / 2 */
	assert_int_equal(delay_stand(1580 * US, S, 2, true), 54);
}

TEST(delay__drains_the_queue_each_4_s)
{
	delay_begin_full();
	assert_int_equal(delay_stand(1580 * US, S, 4000, true), 54);
	/* 54 x 1 / 1.58 x 3 / 4, for two rounds; one more says nothing yet */
	assert_int_equal(delay_stand(1580 * US, 5 * S, 1, true), 25);
	assert_int_equal(delay_stand(1580 * US, 5 * S + MS, 1, true), 25);
	assert_int_equal(delay_stand(MS, 5 * S + 2 * MS, 1, true), 54);
	assert_int_equal(delay_stand(MS, 5 * S + 3 * MS, 1, true), 54);
	assert_int_equal(delay_stand(1400 * US, 5 * S + 4 * MS, 1, true), 57);
	assert_int_equal(delay_stand(1580 * US, 5 * S + 5 * MS, 3996, true), 57);
	assert_true(delay_stand(1580 * US, 9 * S + 3 * MS, 1, true) < 57);
}

TEST(delay__leaves_the_window_alone_around_a_drain)
{
	delay_begin_full();
	assert_int_equal(delay_stand(1580 * US, S, 4000, true), 54);
	/* The round that begins it is above the target: 54 x 1 / 1.62 x 3 / 4, and no more */
	assert_int_equal(delay_stand(1620 * US, 5 * S, 1, true), 24);
	assert_int_equal(delay_stand(1620 * US, 5 * S + MS, 2, true), 54);
	/* What comes back now was sent while the window was small. */
	assert_int_equal(delay_stand(1900 * US, 5 * S + 3 * MS, 1, true), 54);
	assert_int_equal(delay_stand(1900 * US, 5 * S + 4 * MS, 1, true), 47);
	/* 4 s from its end */
	assert_int_equal(delay_stand(1580 * US, 5 * S + 5 * MS, 3997, true), 47);
	assert_true(delay_stand(1580 * US, 9 * S + 2 * MS, 1, true) < 47);
}

TEST(delay__drains_no_queue_that_empties_by_itself)
{
	delay_begin_full();
	delay_stand(1580 * US, S, 3000, true);
	assert_int_equal(delay_stand(1060 * US, 4 * S, 1, false), 54);
	assert_int_equal(delay_stand(1580 * US, 4 * S + MS, 3999, true), 54);
	assert_int_equal(delay_stand(1580 * US, 8 * S, 1, true), 25);
	delay_begin_full();
	delay_stand(1580 * US, S, 3000, true);
	delay_stand(1580 * US, 4 * S, 1, false); /* not full: it empties soon */
	assert_int_equal(delay_stand(1580 * US, 4 * S + MS, 3999, true), 54);
	delay_begin_full();
	delay_stand(1580 * US, S, 2999, true);
	assert_int_equal(delay_stand(1061 * US, 4 * S, 1, true), 62); /* a packet and a bit */
	assert_int_equal(delay_stand(1580 * US, 5 * S, 1, true), 29);
}

TEST(delay__loss_ends_a_drain)
{
	struct bundle_round lossy = round_of(1580 * US);

	delay_begin_full();
	delay_stand(1580 * US, S, 4000, true);
	assert_int_equal(delay_stand(1580 * US, 5 * S, 1, true), 25);
	lossy.base_rtt_ns = MS;
	lossy.now_ns = 5 * S + MS;
	lossy.lost_pkts = 30;
	lull_bundle_controls[0]->round(state, &lossy);
	assert_int_equal(delay_stand(1580 * US, 5 * S + 2 * MS, 1, false), 12);
	assert_int_equal(delay_stand(1580 * US, 5 * S + 3 * MS, 5, false), 12);
}

TEST(delay__grows_faster_up_to_a_quarter_of_the_queue)
{
	delay_begin_full();
	assert_int_equal(delay_stand(1144 * US, S, 2, true), 62); /* of 580 us: 145 */
	assert_int_equal(delay_stand(1144 * US, S, 2, true), 78);
	assert_int_equal(delay_stand(1146 * US, S, 2, true), 85); /* room for 7.2 packets */
	assert_int_equal(delay_stand(1144 * US, S, 2, true), 93);
}

TEST(delay__grows_by_a_quantum_where_there_is_room_for_more)
{
	struct bundle_round round = round_of(3 * MS);

	delay_begin_full();
	round.absent_ns = 5 * MS; /* the target is 6 ms */
	assert_int_equal(delay_rounds(round), 62);
	assert_int_equal(delay_rounds(round), 70);
}

TEST(delay__round_trip_below_the_least_is_no_queue)
{
	delay_begin_full();
	assert_int_equal(delay_stand(MS / 2, S, 2, true), 62); /* of absences that were taken out */
	assert_int_equal(delay_stand(MS / 2, S, 2, true), 78);
}

TEST(delay__target_counts_held_acknowledgements)
{
	struct bundle_round round = { .base_rtt_ns = 10 * MS,
				      .packet_ns = 1000,
				      .acked_pkts = 20,
				      .limited = true,
				      .now_ns = S };
	const struct lull_bundle_control *delay = lull_bundle_controls[0];

	/* 8 + 16 packets of 1 us */
	round.rtt_ns = 10 * MS + 24000;
	delay_begin(1);
	delay->round(state, &round);
	assert_int_equal(delay->window(state), 128);
	delay->round(state, &round);
	/* 8 packets of 20 us, and 100 us */
	round.packet_ns = 20000;
	round.rtt_ns = 10 * MS + 260000;
	delay->round(state, &round);
	assert_int_equal(delay->window(state), 256);
	delay->round(state, &round);
	/* 8 packets of 20 us, and a quarter of 200 us */
	round.base_rtt_ns = 200 * US;
	round.rtt_ns = 200 * US + 210000;
	delay->round(state, &round);
	assert_int_equal(delay->window(state), 512);
	delay->round(state, &round);
	round.rtt_ns += 4000; /* 0.8 x 4 / 414 of 512: 3 */
	delay->round(state, &round);
	assert_int_equal(delay->window(state), 509);
}
