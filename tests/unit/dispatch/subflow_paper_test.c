/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch_stand.h"

/* Slots are counted modulo 144, the burst of the program the paper was built upon. */
TEST(subflow_paper__shares_slots)
{
	struct lull_dispatch_config config = stand_config("subflow-paper");
	struct dispatch_stand stand;
	uint32_t digests[4];

	config.bucket_bits = 22;
	stand_init(&stand, &config);
	digests[0] = stand_digest_of(&stand, 1);
	digests[0] =
		digests[0] > LULL_DIGEST_MAX / 2 ? digests[0] - LULL_DIGEST_MAX / 2 : digests[0];
	digests[1] = digests[0] + 144;
	while (stand_hrw(digests[1], 4) == stand_hrw(digests[0], 4))
		digests[1] += 144;
	digests[2] = digests[0] + 1;
	digests[3] = digests[1];
	stand_burst(&stand, digests, 4);
	assert_int_equal(stand.workers[0], stand_hrw(digests[0], 4));
	assert_int_equal(stand.workers[1], stand.workers[0]);
	assert_int_equal(stand.workers[2], stand_hrw(digests[2], 4));
	assert_int_equal(stand.workers[3], stand.workers[0]);
	assert_int_equal(stand.counters->collisions, 2);
	/* Alone it goes home: nothing is kept between bursts. */
	assert_int_equal(stand_one(&stand, digests[1]), stand_hrw(digests[1], 4));
	stand_end(&stand);
}

/* The threshold is looked at only while nothing is staged for the worker. */
TEST(subflow_paper__looks_when_nothing_waits)
{
	struct lull_dispatch_config config = stand_config("subflow-paper");
	struct dispatch_stand stand;
	uint32_t digests[2];

	config.bucket_bits = 22;
	stand_init(&stand, &config);
	digests[0] = stand_digest_of(&stand, 0);
	do {
		digests[1] = stand_digest_of(&stand, 1);
	} while (digests[1] % 144 == digests[0] % 144);
	/* All above the threshold: the other one with the least load is chosen. */
	for (uint16_t i = 0; i < 4; i++)
		stand.loads[i].used_pkts = STAND_CAPACITY / 2 + i;
	assert_int_equal(stand_one(&stand, digests[1]), 0);
	stand_burst(&stand, digests, 2);
	assert_int_equal(stand.workers[0], 1);
	assert_int_equal(stand.workers[1], 1); /* a packet waits there: greedily */
	assert_int_equal(stand.counters->relieved, 2);
	stand_end(&stand);
}

/* What an earlier burst left staged counts as well: it is written with what follows. */
TEST(subflow_paper__knows_what_is_staged)
{
	struct lull_dispatch_config config = stand_config("subflow-paper");
	struct dispatch_stand stand;
	uint32_t digests[146];
	uint16_t home;

	stand_init(&stand, &config);
	digests[0] = stand_digest_of(&stand, 0);
	home = stand_hrw(digests[0], 4);
	for (uint32_t i = 1; i < COUNT(digests); i++)
		digests[i] = digests[0];
	for (uint16_t i = 0; i < 4; i++)
		stand.loads[i].used_pkts = STAND_CAPACITY / 2 + i;
	stand.loads[home].staged_pkts = 1;
	assert_int_equal(stand_one(&stand, digests[0]), home);
	/* The 143rd fills the 144 that are written at once, and the next one is looked at. */
	stand_burst(&stand, digests, COUNT(digests));
	for (uint32_t i = 0; i < 143; i++)
		assert_int_equal(stand.workers[i], home);
	assert_int_not_equal(stand.workers[143], home);
	stand.loads[home].staged_pkts = 0;
	assert_int_not_equal(stand_one(&stand, digests[0]), home);
	stand_end(&stand);
}

/* 144 packets are staged and written at once: then the subflow is adjusted again. */
TEST(subflow_paper__adjusts_again)
{
	struct lull_dispatch_config config = stand_config("subflow-paper");
	struct dispatch_stand stand;
	uint32_t digests[300];

	stand_init(&stand, &config);
	digests[0] = stand_digest_of(&stand, 0);
	for (uint32_t i = 1; i < COUNT(digests); i++)
		digests[i] = digests[0];
	for (uint16_t i = 0; i < 4; i++)
		stand.loads[i].used_pkts = STAND_CAPACITY / 2 + i;
	stand_burst(&stand, digests, COUNT(digests));
	/* The least of the others: 1, then 0, then 1. */
	for (uint32_t i = 0; i < COUNT(digests); i++)
		assert_int_equal(stand.workers[i], i / 144 % 2 == 0);
	stand_end(&stand);
}
