/* SPDX-License-Identifier: BSD-3-Clause */
/* What every control of the list keeps to. */
#include <stdio.h>
#include <string.h>

#include "../unit/bundle_world.h"
#include "case.h"

#define SEED 1700
#define WORLDS 150

#define FOR_EACH_CONTROL(control)                                                                  \
	for (const struct lull_bundle_control *const *entry = lull_bundle_controls, *control;      \
	     (control = *entry) != NULL; entry++)

static struct bundle_world world;

TEST(control__window_is_within_its_limits)
{
	static _Alignas(16) uint8_t state[BUNDLE_CONTROL_STATE + 16];
	struct bundle_round round = { 0 };
	struct lull_prng prng;

	printf("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	FOR_EACH_CONTROL(control)
	for (uint32_t run = 0; run < 300; run++) {
		struct bundle_control_limits limits = {
			.window_pkts_max = 64u << lull_prng_below(&prng, 5),
			.fixed_pkts = (uint32_t)lull_prng_below(&prng, 1025)
		};

		memset(state, 0xa5, sizeof(state));
		control->init(state, &limits, run % 2 == 0 ? 1 : 8);
		for (uint32_t i = 0; i < 300; i++) {
			assert_in_range(control->window(state), BUNDLE_WINDOW_PKTS_MIN,
					limits.window_pkts_max);
			round.now_ns += lull_prng_below(&prng, 1ULL << lull_prng_below(&prng, 33));
			round.rtt_ns = lull_prng_below(&prng, 1ULL << lull_prng_below(&prng, 35));
			round.base_rtt_ns =
				1 + lull_prng_below(&prng, 1ULL << lull_prng_below(&prng, 31));
			round.absent_ns = lull_prng_below(&prng, 10 * LULL_NS_PER_MS + 1);
			round.packet_ns =
				lull_prng_below(&prng, 1ULL << lull_prng_below(&prng, 25));
			round.acked_pkts = 1 + (uint32_t)lull_prng_below(&prng, 1024);
			round.lost_pkts = (uint32_t)lull_prng_below(
				&prng, 1ULL << lull_prng_below(&prng, 11));
			round.limited = lull_prng_below(&prng, 4) > 0;
			control->round(state, &round);
			if (lull_prng_below(&prng, 50) == 0)
				control->timeout(state);
		}
		for (uint32_t i = 0; i < 16; i++) /* it stays within its memory */
			assert_int_equal(state[BUNDLE_CONTROL_STATE + i], 0xa5);
	}
}

/* Any link, any hosts, up to 1 % of loss. */
static void
world_random(const struct lull_bundle_control *control, uint32_t number)
{
	static const struct bundle_host hosts[] = {
		{ 0, 0 },
		{ LULL_NS_PER_MS, LULL_NS_PER_MS },
		{ 2 * LULL_NS_PER_MS, 30 * LULL_NS_PER_MS },
		{ 10 * LULL_NS_PER_MS, 200 * LULL_NS_PER_MS },
	};
	struct lull_prng prng;

	lull_prng_init(&prng, SEED, number);
	memset(&world, 0, sizeof(world));
	world.control = control;
	world.rate_bps = 10000000 + lull_prng_below(&prng, 1ULL << (24 + number % 9));
	world.rtt_ns = lull_prng_below(&prng, 1ULL << (14 + number % 10));
	world.queue_pkts = 16 + (uint32_t)lull_prng_below(&prng, 2000);
	world.loss_ppm = (uint32_t)lull_prng_below(&prng, 3) * 5000;
	world.window_pkts_max = 64u << lull_prng_below(&prng, 5);
	world.fixed_pkts = 64;
	world.share = number % 2 == 0 ? 1 : 8;
	world.offer_pkts = number % 5 == 0 ? 4 : 0;
	world.sender = hosts[lull_prng_below(&prng, COUNT(hosts))];
	world.receiver = hosts[lull_prng_below(&prng, COUNT(hosts))];
	world.seed = number;
}

TEST(control__progress_is_made)
{
	FOR_EACH_CONTROL(control)
	for (uint32_t number = 0; number < WORLDS; number++) {
		world_random(control, number);
		bundle_world_init(&world);
		for (uint32_t i = 0; i < 5; i++) {
			bundle_world_measure(&world);
			bundle_world_run(&world, 200 * LULL_NS_PER_MS);
			/* The least window once per round trip, queue and absences. */
			assert_true(world.delivered_pkts > 0);
			assert_in_range(world.window_pkts_least, BUNDLE_WINDOW_PKTS_MIN,
					world.window_pkts_max);
			assert_true(world.window_pkts_most <= world.window_pkts_max);
		}
	}
}

TEST(control__same_inputs_same_windows)
{
	FOR_EACH_CONTROL(control)
	for (uint32_t number = 0; number < WORLDS; number++) {
		uint64_t digest;

		world_random(control, number);
		bundle_world_init(&world);
		bundle_world_run(&world, 200 * LULL_NS_PER_MS);
		digest = world.digest;
		world_random(control, number);
		world.fill = 0xff;
		bundle_world_init(&world);
		bundle_world_run(&world, 200 * LULL_NS_PER_MS);
		assert_int_equal(world.digest, digest);
	}
}
