/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "../case.h"
#include "base/prng.h"
#include "bundle/meter.h"
#include "bundle/spread.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

static struct bundle_spread_state state;
static struct bundle_spread_view view;

/* Paths of 1 ms and 200 Mb/s, with nothing under way, and much that waits. */
static void
view_of(uint32_t path_count)
{
	memset(&state, 0, sizeof(state));
	memset(&view, 0, sizeof(view));
	view.path_count = path_count;
	view.waiting_pkts = 10000;
	view.message_pkts = 10000;
	view.not_path = LULL_BUNDLE_ANY;
	for (uint32_t i = 0; i < path_count; i++)
		view.paths[i] = (struct bundle_spread_path){ .up = true,
							     .window_pkts = 32,
							     .arrival_ns = 560 * US,
							     .packet_ns = 60 * US,
							     .srtt_ns = MS };
}

static const struct lull_bundle_spread *
pull(void)
{
	return lull_bundle_spread_find("pull");
}

static uint32_t
take(const struct lull_bundle_spread *spread, uint32_t path)
{
	return spread->take(&state, &view, path);
}

/* What a path gets is sent at once. */
static uint32_t
send_on(const struct lull_bundle_spread *spread, uint32_t path)
{
	uint32_t pkts = take(spread, path);

	if (pkts > 0) {
		view.paths[path].under_way_pkts += pkts;
		spread->sent(&state, &view, path, pkts);
		view.waiting_pkts -= pkts;
	}
	return pkts;
}

TEST(spreads__are_found_by_name)
{
	assert_string_equal(lull_bundle_spread_name(lull_bundle_spreads[0]), "pull");
	assert_ptr_equal(lull_bundle_spread_find("turn"), lull_bundle_spreads[1]);
	assert_ptr_equal(lull_bundle_spread_find("weigh"), lull_bundle_spreads[2]);
	assert_null(lull_bundle_spreads[3]);
	assert_null(lull_bundle_spread_find("random"));
	assert_true(strlen(lull_bundle_spread_summary(lull_bundle_spreads[1])) > 10);
}

TEST(spreads__give_a_quantum_and_no_more_than_there_is_room)
{
	for (uint32_t i = 0; lull_bundle_spreads[i] != NULL; i++) {
		view_of(1);
		assert_int_equal(take(lull_bundle_spreads[i], 0), 8);
		view.paths[0].under_way_pkts = 29;
		assert_int_equal(take(lull_bundle_spreads[i], 0), 3);
		view.paths[0].under_way_pkts = 32;
		assert_int_equal(take(lull_bundle_spreads[i], 0), 0);
		view.paths[0].under_way_pkts = 40; /* the window has shrunk */
		assert_int_equal(take(lull_bundle_spreads[i], 0), 0);
		view.paths[0].under_way_pkts = 0;
		view.waiting_pkts = 5;
		assert_int_equal(take(lull_bundle_spreads[i], 0), 5);
		view.waiting_pkts = 0;
		assert_int_equal(take(lull_bundle_spreads[i], 0), 0);
		view.waiting_pkts = 5;
		view.paths[0].up = false;
		assert_int_equal(take(lull_bundle_spreads[i], 0), 0);
	}
}

TEST(spreads__resend_on_another_path)
{
	for (uint32_t i = 0; lull_bundle_spreads[i] != NULL; i++) {
		view_of(3);
		view.resend = true;
		view.not_path = 1;
		view.waiting_pkts = 3;
		assert_int_equal(take(lull_bundle_spreads[i], 0), 3);
		assert_int_equal(take(lull_bundle_spreads[i], 1), 0);
		assert_int_equal(take(lull_bundle_spreads[i], 2), 3);
		view.paths[2].up = false;
		view.paths[0].under_way_pkts = 32; /* full, but it will be heard of */
		assert_int_equal(take(lull_bundle_spreads[i], 0), 0);
		assert_int_equal(take(lull_bundle_spreads[i], 1), 0);
		view.paths[0].under_way_pkts = 0; /* closed, and never heard of again */
		view.paths[0].window_pkts = 0;
		assert_int_equal(take(lull_bundle_spreads[i], 1), 3);
		view.paths[0].window_pkts = 32;
		view.paths[0].up = false;
		assert_int_equal(take(lull_bundle_spreads[i], 1), 3);
	}
}

TEST(spreads__resent_packets_count_in_no_turn)
{
	for (uint32_t i = 1; lull_bundle_spreads[i] != NULL; i++) {
		view_of(2);
		assert_int_equal(take(lull_bundle_spreads[i], 0), 8);
		view.resend = true;
		lull_bundle_spreads[i]->sent(&state, &view, 0, 8);
		view.resend = false;
		assert_int_equal(take(lull_bundle_spreads[i], 0), 8);
		assert_int_equal(take(lull_bundle_spreads[i], 1), 0);
	}
}

TEST(pull__every_path_with_room_takes_of_a_long_message)
{
	view_of(3);
	view.paths[1].packet_ns = 240 * US;
	view.paths[1].arrival_ns = 5 * MS;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(take(pull(), i), 8);
}

TEST(pull__short_message_goes_where_it_is_there_first)
{
	view_of(3);
	view.waiting_pkts = 1;
	view.message_pkts = 1;
	view.paths[1].arrival_ns = 500 * US;
	assert_int_equal(take(pull(), 0), 0);
	assert_int_equal(take(pull(), 1), 1);
	assert_int_equal(take(pull(), 2), 0);
	view.paths[1].under_way_pkts = 32; /* worth waiting for */
	assert_int_equal(take(pull(), 0), 0);
	view.paths[1].arrival_ns = 2 * MS; /* not any more */
	assert_int_equal(take(pull(), 0), 1);
	view.paths[1].arrival_ns = 500 * US;
	view.paths[1].up = false;
	assert_int_equal(take(pull(), 0), 1);
}

TEST(pull__long_short_message_goes_where_it_is_whole_first)
{
	view_of(2);
	view.waiting_pkts = 8;
	view.message_pkts = 8;
	view.paths[0].arrival_ns = 300 * US; /* its first packet would be there sooner */
	view.paths[0].packet_ns = 240 * US;
	assert_int_equal(take(pull(), 0), 0);
	assert_int_equal(take(pull(), 1), 8);
}

TEST(pull__compares_the_last_packets)
{
	view_of(2);
	view.waiting_pkts = 20;
	view.paths[1].arrival_ns = MS;
	view.paths[1].packet_ns = 100 * US; /* its quantum: 1 ms + 700 us */
	view.paths[0].arrival_ns = 1700 * US - 19 * 60 * US;
	assert_int_equal(take(pull(), 1), 8); /* as soon as all on the other */
	view.paths[0].arrival_ns -= 1;
	assert_int_equal(take(pull(), 1), 0);
	view.paths[1].under_way_pkts = 31; /* room for one, which is there sooner */
	assert_int_equal(take(pull(), 1), 1);
	view.paths[0].packet_ns = 0; /* not measured: nobody waits for it */
	view.paths[1].under_way_pkts = 0;
	assert_int_equal(take(pull(), 1), 8);
}

TEST(pull__slow_path_leaves_the_tail_alone)
{
	view_of(2);
	view.paths[1].packet_ns = 1200 * US; /* 10 Mb/s: a quantum takes 9 ms */
	view.paths[1].arrival_ns = 2 * MS;
	view.paths[0].under_way_pkts = 32; /* no room now */
	view.paths[0].arrival_ns = 2 * MS;
	view.waiting_pkts = 200;
	assert_int_equal(take(pull(), 1), 8);
	view.waiting_pkts = 100; /* 8 ms on the other path alone */
	assert_int_equal(take(pull(), 1), 0);
}

TEST(pull__nobody_waits_for_a_path_without_measurement)
{
	view_of(2);
	view.waiting_pkts = 1;
	view.paths[0].packet_ns = 0; /* never full yet */
	view.paths[0].arrival_ns = 100 * US;
	assert_int_equal(take(pull(), 0), 1);
	assert_int_equal(take(pull(), 1), 1);
	view.paths[0].packet_ns = 60 * US;
	view.paths[0].srtt_ns = 0; /* nothing came back yet */
	view.paths[0].arrival_ns = 0;
	assert_int_equal(take(pull(), 0), 1);
	assert_int_equal(take(pull(), 1), 1);
}

TEST(pull__path_without_measurement_waits_for_others)
{
	view_of(2);
	view.waiting_pkts = 1;
	view.paths[0].packet_ns = 0;
	view.paths[0].arrival_ns = 5 * MS; /* half its round trip */
	assert_int_equal(take(pull(), 0), 0);
	view.waiting_pkts = 100;
	assert_int_equal(take(pull(), 0), 8);
}

TEST(pull__paths_without_measurement_share_by_round_trip)
{
	view_of(3);
	view.paths[0].packet_ns = view.paths[1].packet_ns = 0;
	view.paths[0].arrival_ns = view.paths[1].arrival_ns = 100 * US;
	assert_int_equal(take(pull(), 0), 8);
	assert_int_equal(take(pull(), 1), 8);
	view.paths[0].under_way_pkts = 1;
	assert_int_equal(take(pull(), 0), 0);
	assert_int_equal(take(pull(), 1), 8);
	view.paths[1].arrival_ns = 200 * US; /* twice as far: a quantum more */
	view.paths[0].under_way_pkts = 8;
	assert_int_equal(take(pull(), 0), 8);
	view.paths[0].under_way_pkts = 9;
	assert_int_equal(take(pull(), 0), 0);
	view.paths[1].window_pkts = 0;
	assert_int_equal(take(pull(), 0), 8);
}

TEST(turn__takes_turns_and_waits)
{
	const struct lull_bundle_spread *turn = lull_bundle_spread_find("turn");

	view_of(3);
	view.paths[0].window_pkts = 8;
	assert_int_equal(take(turn, 1), 0);
	assert_int_equal(send_on(turn, 0), 8);
	assert_int_equal(take(turn, 0), 0);
	assert_int_equal(send_on(turn, 1), 8);
	assert_int_equal(send_on(turn, 2), 8);
	/* The first is full, and it is its turn: the others wait. */
	assert_int_equal(take(turn, 0) + take(turn, 1) + take(turn, 2), 0);
	view.paths[0].under_way_pkts = 3;
	assert_int_equal(send_on(turn, 0), 5);
	assert_int_equal(take(turn, 1), 0); /* a turn is a quantum */
	view.paths[0].up = false;           /* now it loses it */
	assert_int_equal(send_on(turn, 1), 8);
	assert_int_equal(send_on(turn, 2), 8);
	assert_int_equal(send_on(turn, 1), 8);
	view.path_count = 1; /* paths that are gone have no turn */
	view.paths[0].up = true;
	view.paths[0].under_way_pkts = 0;
	assert_int_equal(take(turn, 0), 8);
}

/* Packets each path gets of a thousand quanta, with whole windows all the time. */
static void
share_out(const struct lull_bundle_spread *spread, uint64_t pkts[])
{
	memset(pkts, 0, LULL_BUNDLE_PATHS_MAX * sizeof(pkts[0]));
	for (uint32_t i = 0; i < 1000;) {
		for (uint32_t k = 0; k < view.path_count; k++) {
			uint32_t sent = send_on(spread, k);

			pkts[k] += sent;
			i += sent > 0;
			view.paths[k].under_way_pkts = 0;
		}
		view.waiting_pkts = 10000;
	}
}

TEST(turn__gives_all_the_same)
{
	uint64_t pkts[LULL_BUNDLE_PATHS_MAX];

	view_of(4);
	share_out(lull_bundle_spread_find("turn"), pkts);
	for (uint32_t i = 0; i < 4; i++)
		assert_in_range(pkts[i], 2000 - 8, 2000 + 8);
}

TEST(weigh__goes_by_declared_speeds)
{
	const struct lull_bundle_spread *weigh = lull_bundle_spread_find("weigh");
	uint64_t pkts[LULL_BUNDLE_PATHS_MAX];

	view_of(4);
	view.paths[0].declared_bps = 400000000;
	view.paths[1].declared_bps = 100000000;
	view.paths[2].declared_bps = 200000000; /* 3: unknown, as the slowest */
	share_out(weigh, pkts);
	assert_in_range(pkts[0], 4000 - 16, 4000 + 16);
	assert_in_range(pkts[1], 1000 - 16, 1000 + 16);
	assert_in_range(pkts[2], 2000 - 16, 2000 + 16);
	assert_in_range(pkts[3], 1000 - 16, 1000 + 16);
	view_of(2);
	share_out(weigh, pkts);
	assert_in_range(pkts[0], 4000 - 8, 4000 + 8);
}

TEST(weigh__shares_wrap_around)
{
	uint64_t pkts[LULL_BUNDLE_PATHS_MAX];

	view_of(2);
	state.shares[0] = UINT32_MAX - 65536 * 100;
	state.shares[1] = UINT32_MAX - 65536 * 90;
	share_out(lull_bundle_spread_find("weigh"), pkts);
	assert_in_range(pkts[0], 4000 - 16, 4000 + 16);
}

TEST(weigh__returning_path_saved_nothing_up)
{
	const struct lull_bundle_spread *weigh = lull_bundle_spread_find("weigh");
	uint64_t pkts[LULL_BUNDLE_PATHS_MAX];

	view_of(3);
	view.paths[1].up = false;
	view.path_count = 2;
	share_out(weigh, pkts);
	assert_int_equal(pkts[1], 0);
	view.paths[1].up = true;
	view.path_count = 3; /* a new one too */
	share_out(weigh, pkts);
	for (uint32_t i = 0; i < 3; i++)
		assert_in_range(pkts[i], 2667 - 24, 2667 + 24);
}

/* ---- any view ---- */

static void
view_random(struct lull_prng *prng)
{
	view_of(1 + (uint32_t)lull_prng_below(prng, LULL_BUNDLE_PATHS_MAX));
	view.waiting_pkts = 1 + (uint32_t)lull_prng_below(prng, 1 << lull_prng_below(prng, 14));
	view.message_pkts = 1 + (uint32_t)lull_prng_below(prng, view.waiting_pkts);
	view.resend = lull_prng_below(prng, 4) == 0;
	if (view.resend && lull_prng_below(prng, 2) == 0)
		view.not_path = (uint32_t)lull_prng_below(prng, view.path_count);
	for (uint32_t i = 0; i < view.path_count; i++) {
		struct bundle_spread_path *path = &view.paths[i];

		path->up = lull_prng_below(prng, 4) > 0;
		path->window_pkts = (uint32_t)lull_prng_below(prng, 5) * 8;
		path->under_way_pkts = (uint32_t)lull_prng_below(prng, 40);
		if (lull_prng_below(prng, 2) == 0)
			path->under_way_pkts = 0;
		path->packet_ns = lull_prng_below(prng, 4) * lull_prng_below(prng, 100 * US);
		path->srtt_ns = lull_prng_below(prng, 4) * lull_prng_below(prng, 10 * MS);
		path->arrival_ns = lull_prng_below(prng, 20 * MS);
		path->declared_bps = lull_prng_below(prng, 3) * lull_prng_below(prng, 10000000000);
	}
	state.turn = (uint32_t)lull_prng_below(prng, LULL_BUNDLE_PATHS_MAX);
	state.left_pkts = (uint32_t)lull_prng_below(prng, 9);
	for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX; i++)
		state.shares[i] = (uint32_t)lull_prng_below(prng, 1 << 20);
}

/*
 * If something waits and a path is up with room, then some path is given packets, or one that has
 * none has packets under way and will be heard of.
 */
static void
check_progress(const struct lull_bundle_spread *spread)
{
	bool room = false, given = false, heard = false;

	for (uint32_t i = 0; i < view.path_count; i++) {
		const struct bundle_spread_path *path = &view.paths[i];
		uint32_t pkts = take(spread, i);

		assert_true(pkts <= LULL_BUNDLE_QUANTUM_PKTS);
		assert_true(pkts <= view.waiting_pkts);
		assert_true(pkts <= bundle_spread_room(path));
		assert_true(pkts == 0 || path->up);
		room |= bundle_spread_room(path) > 0;
		given |= pkts > 0;
		heard |= path->up && path->under_way_pkts > 0 && bundle_spread_room(path) == 0;
	}
	assert_true(!room || given || heard);
}

TEST(spreads__never_stop)
{
	struct lull_prng prng;
	uint64_t seed = 1700;

	printf("seed %llu\n", (unsigned long long)seed);
	lull_prng_init(&prng, seed, 0);
	for (uint32_t round = 0; round < 200000; round++) {
		view_random(&prng);
		for (uint32_t i = 0; lull_bundle_spreads[i] != NULL; i++)
			check_progress(lull_bundle_spreads[i]);
	}
}
