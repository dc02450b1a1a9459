/* SPDX-License-Identifier: BSD-3-Clause */
/* What every spread of the list keeps to, over links in virtual time with windows that fit them. */
#include <stdio.h>
#include <string.h>

#include "base/prng.h"
#include "bundle/meter.h"
#include "bundle/spread.h"
#include "case.h"

#define SEED 1700
#define WORLDS 100
#define PACKET_BITS (8 * 1500ULL)
#define WINDOW_MAX 1024

#define FOR_EACH_SPREAD(spread)                                                                    \
	for (const struct lull_bundle_spread *const *entry = lull_bundle_spreads, *spread;         \
	     (spread = *entry) != NULL; entry++)

struct link {
	uint64_t rate_bps, rtt_ns, free_ns, sent_pkts;
	struct bundle_meter meter;
	uint64_t acks_ns[WINDOW_MAX]; /* a ring */
	uint32_t head, tail;
};

struct world {
	const struct lull_bundle_spread *spread;
	struct bundle_spread_state state;
	struct bundle_spread_view view;
	struct link links[LULL_BUNDLE_PATHS_MAX];
	uint64_t now_ns, digest;
	uint32_t first; /* path that is asked first */
};

static struct world world;

static void
link_init(uint32_t index, uint64_t rate_bps, uint64_t rtt_ns)
{
	struct bundle_spread_path *path = &world.view.paths[index];
	struct link *link = &world.links[index];
	uint64_t packet_ns = PACKET_BITS * LULL_NS_PER_S / rate_bps;

	memset(link, 0, sizeof(*link));
	link->rate_bps = rate_bps;
	link->rtt_ns = rtt_ns;
	bundle_meter_init(&link->meter, 0);
	link->meter.base_rtt_ns = rtt_ns + packet_ns;
	link->meter.srtt_ns = link->meter.base_rtt_ns;
	link->meter.packet_ns = packet_ns;
	path->up = true;
	path->packet_ns = packet_ns;
	path->srtt_ns = link->meter.srtt_ns;
	path->declared_bps = rate_bps;
	path->window_pkts = (uint32_t)LULL_MIN(rtt_ns / packet_ns + 10, (uint64_t)WINDOW_MAX);
}

static void
world_init(const struct lull_bundle_spread *spread, uint32_t path_count)
{
	memset(&world, 0, sizeof(world));
	world.spread = spread;
	world.view.path_count = path_count;
	world.view.not_path = LULL_BUNDLE_ANY;
}

/* What is due comes back. */
static void
world_acknowledge(uint32_t index)
{
	struct link *link = &world.links[index];

	while (link->head < link->tail && link->acks_ns[link->head % WINDOW_MAX] <= world.now_ns) {
		link->head++;
		world.view.paths[index].under_way_pkts--;
	}
}

static uint32_t
world_offer(uint32_t index)
{
	struct bundle_spread_path *path = &world.view.paths[index];
	struct link *link = &world.links[index];
	uint32_t pkts;

	for (uint32_t i = 0; i < world.view.path_count; i++)
		world.view.paths[i].arrival_ns = bundle_meter_arrival_ns(
			&world.links[i].meter, world.view.paths[i].under_way_pkts);
	pkts = world.spread->take(&world.state, &world.view, index);
	assert_true(pkts <= LULL_BUNDLE_QUANTUM_PKTS);
	assert_true(pkts <= bundle_spread_room(path));
	assert_true(pkts <= world.view.waiting_pkts);
	for (uint32_t i = 0; i < pkts; i++) {
		link->free_ns = LULL_MAX(link->free_ns, world.now_ns) + path->packet_ns;
		link->acks_ns[link->tail++ % WINDOW_MAX] = link->free_ns + link->rtt_ns;
	}
	if (pkts == 0)
		return 0;
	path->under_way_pkts += pkts;
	link->sent_pkts += pkts;
	world.view.waiting_pkts -= pkts;
	world.digest = (world.digest ^ index ^ world.now_ns << 8) * 0x100000001b3ULL + pkts;
	world.spread->sent(&world.state, &world.view, index, pkts);
	return pkts;
}

/* To the next packet that comes back; false: none will. */
static bool
world_wait(void)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < world.view.path_count; i++) {
		struct link *link = &world.links[i];

		if (link->head < link->tail)
			next_ns = LULL_MIN(next_ns, link->acks_ns[link->head % WINDOW_MAX]);
	}
	if (next_ns == UINT64_MAX)
		return false;
	world.now_ns = LULL_MAX(world.now_ns, next_ns);
	for (uint32_t i = 0; i < world.view.path_count; i++)
		world_acknowledge(i);
	return true;
}

/* A message, until all of it is there. */
static void
world_message(uint32_t pkts)
{
	world.view.message_pkts = pkts;
	world.view.waiting_pkts = pkts;
	while (world.view.waiting_pkts > 0) {
		uint32_t sent = 0;

		for (uint32_t i = 0; i < world.view.path_count; i++)
			sent += world_offer((world.first + i) % world.view.path_count);
		world.first++;
		if (sent == 0)
			assert_true(world_wait()); /* else nobody ever sends the rest */
	}
	while (world_wait())
		;
}

static void
world_random(const struct lull_bundle_spread *spread, uint32_t number, struct lull_prng *prng)
{
	lull_prng_init(prng, SEED, number);
	world_init(spread, 1 + (uint32_t)lull_prng_below(prng, LULL_BUNDLE_PATHS_MAX));
	for (uint32_t i = 0; i < world.view.path_count; i++) {
		link_init(i, 1000000 + lull_prng_below(prng, 1ULL << (20 + number % 14)),
			  1 + lull_prng_below(prng, 1ULL << (10 + lull_prng_below(prng, 14))));
		if (lull_prng_below(prng, 3) == 0)
			world.view.paths[i].declared_bps = 0;
	}
}

/* Paths come and go between messages, but for one. */
static void
world_course(const struct lull_bundle_spread *spread, uint32_t number)
{
	struct lull_prng prng;

	world_random(spread, number, &prng);
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t stays = (uint32_t)lull_prng_below(&prng, world.view.path_count);

		for (uint32_t k = 0; k < world.view.path_count; k++)
			world.view.paths[k].up = k == stays || lull_prng_below(&prng, 3) > 0;
		world_message(1 +
			      (uint32_t)lull_prng_below(&prng, 1ULL << lull_prng_below(&prng, 11)));
	}
}

TEST(spread__all_of_a_message_is_sent)
{
	printf("seed %d\n", SEED);
	FOR_EACH_SPREAD(spread)
	for (uint32_t number = 0; number < WORLDS; number++)
		world_course(spread, number);
}

TEST(spread__same_inputs_same_paths)
{
	FOR_EACH_SPREAD(spread)
	for (uint32_t number = 0; number < WORLDS; number++) {
		uint64_t digest;

		world_course(spread, number);
		digest = world.digest;
		world_course(spread, number);
		assert_int_equal(world.digest, digest);
	}
}

/* Packets delivered, in parts of a million of what the links carry together. */
static uint64_t
share_ppm(const uint64_t rates_bps[], const uint64_t rtts_ns[], uint32_t count)
{
	uint64_t sum_bps = 0;

	for (uint32_t i = 0; i < count; i++) {
		link_init(i, rates_bps[i], rtts_ns[i]);
		sum_bps += rates_bps[i];
	}
	world_message(200000);
	return (uint64_t)(200000.0 * PACKET_BITS * LULL_NS_PER_S / (double)sum_bps /
			  (double)world.now_ns * LULL_PPM);
}

static const uint64_t equal_bps[] = { 100000000, 100000000, 100000000, 100000000,
				      100000000, 100000000, 100000000, 100000000 };
static const uint64_t unequal_bps[] = { 200000000, 100000000, 50000000, 10000000 };
static const uint64_t equal_ns[] = {
	100000, 100000, 100000, 100000, 100000, 100000, 100000, 100000
};
static const uint64_t unequal_ns[] = { 10000000, 1000000, 1000000, 100000 };

TEST(spread__every_one_fills_equal_links)
{
	FOR_EACH_SPREAD(spread)
	{
		world_init(spread, 8);
		assert_true(share_ppm(equal_bps, equal_ns, 8) >= 950000);
	}
}

TEST(spread__first_of_the_list_fills_any_links)
{
	world_init(lull_bundle_spreads[0], 4);
	assert_true(share_ppm(unequal_bps, equal_ns, 4) >= 990000);
	world_init(lull_bundle_spreads[0], 4);
	assert_true(share_ppm(unequal_bps, unequal_ns, 4) >= 980000);
	world_init(lull_bundle_spreads[0], 2);
	assert_true(share_ppm(equal_bps, unequal_ns, 2) >= 980000);
}

/* What the comparison is for: declared speeds suit, turns go as fast as the slowest. */
TEST(spread__others_show_what_they_cost)
{
	world_init(lull_bundle_spread_find("weigh"), 4);
	assert_true(share_ppm(unequal_bps, equal_ns, 4) >= 900000);
	world_init(lull_bundle_spread_find("turn"), 4);
	assert_in_range(share_ppm(unequal_bps, equal_ns, 4), 80000, 140000); /* 4 x 10 of 360 */
}
