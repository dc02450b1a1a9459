/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One seed, one result: again in this process, and the one written down here, whichever compiler
 * built it and however it was told to optimise.
 *
 * When a policy, a traffic or a cost changes on purpose, its rows change. The failed case prints
 * every row as it is now: put these in place of the old ones, say in the commit why they changed,
 * and look at the other rows, which should not have.
 */
#include <inttypes.h>

#include "case.h"
#include "stand.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

static const struct {
	const char *governor;
	uint64_t constant, poisson, selfsimilar, incast;
} pinned[] = {
	{ "spin", 0x3f5114e4f711c508, 0x001b792d31c72401, 0xa760a0277707b90f, 0x8271bbfb5e8b5c45 },
	{ "fixed", 0x097298802e94e3e2, 0xda86d77d57b8eff5, 0x58ae1cb72adf10fe, 0xaeae09d3be412e18 },
	{ "ramp", 0x4b203494f502953a, 0x67d65d1fefba63e6, 0x6f3f5554cbc65145, 0x2d22732f7a886e3f },
	{ "halve", 0xfcd23b9ab4ccc894, 0x61e8d2f7691dd7e0, 0x034812f5bf2843d6, 0x1a59b7e9b2e0979f },
	{ "drain", 0x6c740501c1e1859a, 0x92a2d092f29046bc, 0x02d8e06aee90a25b, 0x125c954e9b82bea4 },
	{ "kalman", 0x2d20c7d8c1f1e5e2, 0xbd69ad6748ee93ba, 0x9484b7f958180060,
	  0xdcc88b678a244937 },
	{ "kalman-guarded", 0x629150132780f8fe, 0x49ce6ba12db9c951, 0x181f3d88e83591fd,
	  0xd40c779c1b114422 },
	{ "phase", 0x7fef5e0c70e1eda9, 0x04442e66b19d9fd7, 0x0879548483f54ef4, 0xf365af5299bb7c63 },
	{ "objective", 0x17a4a8f39dd1183a, 0x90c2f776bc8df4cd, 0xf0b25cd04ee26a51,
	  0xe348fec73062cea2 },
};

static const enum lull_arrival_kind kinds[] = { LULL_ARRIVAL_CONSTANT, LULL_ARRIVAL_POISSON,
						LULL_ARRIVAL_SELFSIMILAR, LULL_ARRIVAL_INCAST };

/* A bit of everything that draws at random or reckons with reals. */
static struct lull_sim_config
config_of(const char *governor, enum lull_arrival_kind kind)
{
	struct lull_arrival_config arrival = stand_arrival(kind, 3e5);
	struct lull_sim_config config;

	arrival.size_count = 3;
	arrival.size_bytes[1] = 590;
	arrival.size_bytes[2] = 1514;
	arrival.size_weight[0] = 7;
	arrival.size_weight[1] = 4;
	arrival.size_weight[2] = 1;
	config = stand_config(governor, &arrival);
	config.machine = stand_machine(); /* not one whose costs may be measured anew */
	config.machine.overshoot = (struct lull_sim_curve){
		4, { { 0, 3000 }, { 500000000, 17000 }, { 990000000, 25000 }, { 999900000, 60000 } }
	};
	config.link_bps = 10000000000ULL;
	config.queue_count = 2;
	config.late_ppm = 1000;
	config.late_ns = 100 * US;
	config.stall_every_ns = 10 * MS;
	config.stall_ns = 50 * US;
	config.warmup_ns = 20 * MS;
	config.duration_ns = 60 * MS;
	config.seed = 10;
	return config;
}

static uint64_t
digest_of(const char *governor, enum lull_arrival_kind kind)
{
	struct lull_sim_config config = config_of(governor, kind);
	struct lull_sim_result result;

	stand_run(&config, &result);
	return stand_digest(&result);
}

TEST(seed__gives_the_result_written_down)
{
	uint64_t digests[COUNT(kinds)];
	bool differs = false;

	for (size_t i = 0; i < COUNT(pinned); i++) {
		for (size_t k = 0; k < COUNT(kinds); k++)
			digests[k] = digest_of(pinned[i].governor, kinds[k]);
		differs = differs || digests[0] != pinned[i].constant ||
			  digests[1] != pinned[i].poisson || digests[2] != pinned[i].selfsimilar ||
			  digests[3] != pinned[i].incast;
		print_message("{ \"%s\", 0x%016" PRIx64 ", 0x%016" PRIx64 ", 0x%016" PRIx64
			      ", 0x%016" PRIx64 " },\n",
			      pinned[i].governor, digests[0], digests[1], digests[2], digests[3]);
	}
	if (differs)
		fail_msg("the rows above are not those written down");
}

TEST(seed__gives_the_same_result_again)
{
	static const enum lull_sim_path paths[] = { LULL_SIM_RECEIVE, LULL_SIM_SEND_RECEIVE };
	static struct lull_sim_result a[LULL_SIM_SIDE_COUNT], b[LULL_SIM_SIDE_COUNT];

	for (uint32_t g = 0; lull_idle_governors[g] != NULL; g++)
		for (size_t p = 0; p < COUNT(paths); p++) {
			struct lull_sim_config config =
				config_of(lull_idle_governor_name(lull_idle_governors[g]),
					  LULL_ARRIVAL_SELFSIMILAR);

			config.path = paths[p];
			config.queue_count = 1;
			stand_run_sides(&config, a);
			stand_run_sides(&config, b);
			for (int side = 0; side < LULL_SIM_SIDE_COUNT; side++) {
				assert_int_equal(stand_digest(&a[side]), stand_digest(&b[side]));
				/* the verdict and the limits have gaps between their members */
				memset(&a[side].verdict, 0, sizeof(a[side].verdict));
				memset(&b[side].verdict, 0, sizeof(b[side].verdict));
				memset(&a[side].limits, 0, sizeof(a[side].limits));
				memset(&b[side].limits, 0, sizeof(b[side].limits));
				assert_memory_equal(&a[side], &b[side], sizeof(a[side]));
			}
			config.seed++;
			stand_run_sides(&config, b);
			assert_true(stand_digest(&a[LULL_SIM_SIDE_RECEIVE]) !=
				    stand_digest(&b[LULL_SIM_SIDE_RECEIVE]));
		}
}

/* Side by side they do not touch each other: no state outside a simulation. */
TEST(seed__is_alone_in_its_simulation)
{
	struct lull_sim_config config = config_of("objective", LULL_ARRIVAL_POISSON);
	static struct lull_sim_result result;
	struct lull_sim *sims[2];
	uint64_t alone;

	alone = digest_of("objective", LULL_ARRIVAL_POISSON);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(lull_sim_create(&config, &sims[i]), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(lull_sim_run(sims[i], NULL, NULL), 0);
	for (uint32_t i = 0; i < 2; i++) {
		lull_sim_read(sims[i], LULL_SIM_SIDE_RECEIVE, &result);
		assert_int_equal(stand_digest(&result), alone);
		lull_sim_free(sims[i]);
	}
}
