/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is proven of many rings: for 1 to 64 of them, packets that are shared among them in any way,
 * at the rate that was stated, a governor that promises no loss loses nothing that polling keeps.
 *
 * Wake-ups are always equally late here, so the bound is met and not only kept away from.
 */
#include "case.h"

#include "base/prng.h"
#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

static const uint32_t queue_counts[] = { 1, 2, 3, 4, 8, 16, 33, 64 };
static const uint64_t links_bps[] = { 1000000000ULL, 5000000000ULL, 10000000000ULL };
static const uint32_t rings_pkts[] = { 512, 1024, 4096 };
/* Who promises, and who rests as long as the ring is proven to last. */
static const char *const governors[] = { "objective", "kalman-guarded", "drain" };

/*
 * Costs of a burst: as of a guest, and where the first packet of a queue is dear. The second shows
 * what other queues take although they give one packet each: the link is shared, so each packet of
 * theirs is none of the burst that fills a ring.
 */
static const struct lull_sim_curve costs[] = {
	{ 4, { { 0, 40 }, { 1, 150 }, { 8, 360 }, { 32, 960 } } },
	{ 3, { { 0, 40 }, { 1, 600 }, { 32, 1500 } } },
};

struct world {
	uint32_t queue_count, ring_pkts;
	uint64_t link_bps;
	bool one_ring; /* bursts at line rate into one ring each; else shared by weight */
	uint64_t seed;
	uint32_t cold_pct;   /* costs of bursts right after a rest */
	uint32_t change_pct; /* costs of all bursts after the warm-up, in which they were learned */
};

static void
world_print(const struct world *world, const char *governor)
{
	print_message("%2u queues, ring %4u, %2llu Gbit/s, %s, seed %llu: %s\n", world->queue_count,
		      world->ring_pkts, (unsigned long long)(world->link_bps / 1000000000),
		      world->one_ring ? "one ring" : "weights", (unsigned long long)world->seed,
		      governor);
}

/* Any split: even, one ring with most of it, a few with all of it, or at random. */
static void
world_weights(struct lull_sim_config *config, struct lull_prng *prng)
{
	uint64_t kind = lull_prng_below(prng, 4);
	uint32_t count = config->queue_count;

	for (uint32_t i = 0; i < count; i++)
		config->queue_weights[i] =
			kind == 0 ? 1 : 1 + (uint32_t)lull_prng_below(prng, kind == 3 ? 1000 : 3);
	if (kind == 1)
		config->queue_weights[lull_prng_below(prng, count)] = 100 * count;
	for (uint32_t i = 0; kind == 2 && i < count; i++)
		config->queue_weights[i] = lull_prng_below(prng, 8) == 0;
	config->queue_weights[lull_prng_below(prng, count)] += 1;
}

static struct lull_sim_config
world_config(const struct world *world, const char *governor)
{
	struct lull_arrival_config arrival =
		stand_arrival(world->one_ring ? LULL_ARRIVAL_POISSON : LULL_ARRIVAL_ONOFF, 20000);
	struct lull_sim_config config;
	struct lull_prng prng;

	lull_prng_init(&prng, world->seed, 7);
	arrival.pps *= (double)(1 + lull_prng_below(&prng, world->link_bps / 100000000));
	if (!world->one_ring) {
		/* more than the link takes, so it is at its rate for a while */
		arrival.pps = 20e6;
		arrival.on_ns = world->ring_pkts * 100ULL;
		arrival.off_ns = 20 * arrival.on_ns + 2 * MS;
	}
	config = stand_config(governor, &arrival);
	config.machine.overshoot = (struct lull_sim_curve){ 1, { { 0, 5 * US } } };
	config.machine.burst = costs[world->seed / 2 % COUNT(costs)];
	config.queue_count = world->queue_count;
	config.ring_pkts = world->ring_pkts;
	config.held_pkts = 32;
	config.link_bps = world->link_bps;
	config.seed = world->seed;
	config.warmup_ns = 100 * MS;
	config.duration_ns = 200 * MS;
	config.quirks.cold_pct = world->cold_pct;
	config.quirks.change_pct = world->change_pct;
	config.quirks.change_ns = config.warmup_ns;
	if (world->one_ring) {
		config.line_every_ns = 400 * US + lull_prng_below(&prng, 100 * US);
		config.line_pkts =
			(uint32_t)(world->ring_pkts * (1 + lull_prng_below(&prng, 4)) / 2);
		config.line_every_ns += config.line_pkts * (1344000000000ULL / world->link_bps);
	}
	world_weights(&config, &prng);
	for (int side = 0; side < LULL_SIM_SIDE_COUNT; side++) {
		config.policy[side].limits.envelope = LULL_ENVELOPE_LINK;
		config.policy[side].limits.latency_ns = 5 * MS;
		config.policy[side].limits.rest_ns_max = 10 * MS;
	}
	return config;
}

struct tally {
	uint32_t kept, broken, many, polled;
};

/* Promised throughout, bound by the ring: then what polling keeps is kept. */
static void
world_try(const struct world *world, const char *governor, uint64_t spin_lost, struct tally *tally)
{
	struct lull_sim_config config = world_config(world, governor);
	bool promises = strcmp(governor, "drain") != 0;
	static struct lull_sim_result result;

	stand_run(&config, &result);
	if (promises ? result.samples_feasible < result.samples : result.verdict.outrun) {
		tally->polled++;
		return;
	}
	if (result.lost <= spin_lost) {
		tally->kept++;
		tally->many += world->queue_count >= 4 && result.rest.count > 100;
		return;
	}
	tally->broken++;
	world_print(world, governor);
	print_message("\tlost %llu, polling %llu of %llu; rests of %llu ns, iteration %llu ns\n",
		      (unsigned long long)result.lost, (unsigned long long)spin_lost,
		      (unsigned long long)result.offered,
		      (unsigned long long)result.verdict.rest_ns,
		      (unsigned long long)result.verdict.iteration_ns);
}

/* Every number of queues, link and ring, with costs that are so much of the usual. */
static void
worlds_try(uint32_t cold_pct, uint32_t change_pct, struct tally *tally)
{
	uint64_t seed = 100;

	for (size_t q = 0; q < COUNT(queue_counts); q++)
		for (size_t l = 0; l < COUNT(links_bps); l++)
			for (size_t r = 0; r < COUNT(rings_pkts); r++, seed++) {
				struct world world = { queue_counts[q], rings_pkts[r], links_bps[l],
						       seed % 2 == 0,   seed,          cold_pct,
						       change_pct };
				struct lull_sim_config config = world_config(&world, "spin");
				static struct lull_sim_result spin;

				stand_run(&config, &spin);
				for (size_t g = 0; g < COUNT(governors); g++)
					world_try(&world, governors[g], spin.lost, tally);
			}
	print_message("kept %u (%u by 4 queues and more that rest), not promised %u, broken %u\n",
		      tally->kept, tally->many, tally->polled, tally->broken);
}

TEST(proven__loses_nothing_that_polling_keeps)
{
	struct tally tally = { 0 };

	worlds_try(100, 100, &tally);
	assert_int_equal(tally.broken, 0);
	assert_true(tally.kept > 100);
	assert_true(tally.many > 50);
}

/* What is dear is the iteration after a rest: its caches are cold. */
TEST(proven__with_dear_iterations_after_rests)
{
	struct tally tally = { 0 };

	worlds_try(400, 100, &tally);
	assert_int_equal(tally.broken, 0);
	assert_true(tally.kept > 100);
	assert_true(tally.many > 30);
}

/* What was learned is half of what it takes from here on. */
TEST(proven__with_costs_that_double)
{
	struct tally tally = { 0 };

	worlds_try(100, 200, &tally);
	assert_int_equal(tally.broken, 0);
	assert_true(tally.kept > 100);
	assert_true(tally.many > 30);
}

/*
 * 16 queues that cost 100 ns each when empty, and 960 with a burst: one that is filled at the
 * link's rate gets more than the thread takes, and loses packets after any rest. Overload that is
 * spread evenly does not hide that.
 */
TEST(outrun__is_seen_between_even_overloads)
{
	struct world world = { .queue_count = 16, .ring_pkts = 1024, .link_bps = 10000000000ULL };
	struct lull_sim_config config = world_config(&world, "objective");
	static struct lull_sim_result result;

	config.machine.iteration_ns = 100;
	config.machine.burst = (struct lull_sim_curve){ 2, { { 0, 100 }, { 32, 960 } } };
	config.arrival.on_ns = 1 * MS;
	config.arrival.off_ns = 2 * MS;
	config.line_every_ns = 1 * MS;
	config.line_pkts = 1500;
	memset(config.queue_weights, 0, sizeof(config.queue_weights));
	stand_run(&config, &result);
	print_message("outrun: %d, feasible %llu of %llu looks\n", result.verdict.outrun,
		      (unsigned long long)result.samples_feasible,
		      (unsigned long long)result.samples);
	assert_true(result.verdict.outrun);
	assert_int_equal(result.samples_feasible, 0);
}
