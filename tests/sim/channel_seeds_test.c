/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenarios under sanitizers: seeds that once failed, and the first ones. Prints a digest of the
 * first ones, which is to be that of lull-channel-sim in any other build (channel_program.py).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "case.h"
#include "sim/channel.h"

#define FIRST_SEEDS 100

static uint64_t
digest(uint64_t seed)
{
	static struct lull_sim_channel_config config;
	static struct lull_sim_channel_result result;
	struct lull_sim_channel *world;

	lull_sim_channel_scenario(&config, seed);
	assert_int_equal(lull_sim_channel_create(&config, &world), 0);
	if (lull_sim_channel_run(world, NULL, NULL) != 0)
		fail_msg("%s (lull-channel-sim --scenarios 1 --seed %" PRIu64 ")",
			 lull_sim_channel_failure(world), seed);
	lull_sim_channel_read(world, &result);
	lull_sim_channel_free(world);
	return result.digest;
}

TEST(scenario__the_first_ones)
{
	uint64_t sum = 0;

	for (uint64_t seed = 1; seed <= FIRST_SEEDS; seed++)
		sum = sum * 0x9e3779b97f4a7c15ULL + digest(seed);
	printf("digest %016" PRIx64 "\n", sum);
}

/* In the order in which their defects were found; CHANGELOG and commits say what they were. */
TEST(scenario__seeds_that_failed)
{
	static const uint64_t seeds[] = { 2,       40,      50,      52,     54,      65,
					  86,      235,     257,     360,    450,     709,
					  1056,    1300,    2459,    2856,   3327,    3456,
					  4241,    4519,    500029,  901887, 1002805, 5047135,
					  5117983, 5235553, 5459283, 5592661 };

	for (size_t i = 0; i < COUNT(seeds); i++)
		(void)digest(seeds[i]);
}
