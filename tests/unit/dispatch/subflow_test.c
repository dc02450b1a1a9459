/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch_stand.h"

/* By definition: the allowed worker with the largest weight times free places. */
static uint16_t
adjusted(const struct dispatch_stand *stand, uint32_t digest, uint16_t target)
{
	uint16_t best = target;
	double best_weight = -1;

	for (uint16_t worker = 0; worker < stand->config.worker_count; worker++) {
		uint32_t used = stand->loads[worker].used_pkts;
		double weight = (double)lull_weight(digest, worker) * (STAND_CAPACITY - used);

		if (worker != target && used <= STAND_CAPACITY / 4 && weight > best_weight) {
			best_weight = weight;
			best = worker;
		}
	}
	return best;
}

TEST(subflow__hrw_below_threshold)
{
	struct lull_dispatch_config config = stand_config("subflow");
	struct dispatch_stand stand;
	uint32_t digests[512];

	config.bucket_bits = 22;
	stand_init(&stand, &config);
	for (uint32_t i = 0; i < 4; i++)
		stand.loads[i].used_pkts = STAND_CAPACITY / 4;
	for (uint32_t i = 0; i < 512; i++)
		digests[i] = stand_digest(&stand);
	stand_burst(&stand, digests, 512);
	for (uint32_t i = 0; i < 512; i++)
		assert_int_equal(stand.workers[i], stand_hrw(digests[i], 4));
	assert_int_equal(stand.counters->relieved, 0);
	stand_end(&stand);
}

/* A full burst of flows that begin at one slot: none inherits another one's worker. */
TEST(subflow__adjusts_once)
{
	struct lull_dispatch_config config = stand_config("subflow");
	struct dispatch_stand stand;
	uint32_t digests[512];

	config.bucket_bits = 22;
	stand_init(&stand, &config);
	stand.loads[0].used_pkts = STAND_CAPACITY / 2;
	stand.loads[1].used_pkts = STAND_CAPACITY / 8;
	stand.loads[3].used_pkts = STAND_CAPACITY / 4 + 1;
	for (uint32_t i = 0; i < 512; i++)
		digests[i] = i % 2 == 0 ? (stand_digest(&stand) & ~1023u) | 77 : digests[i / 2];
	stand_burst(&stand, digests, 512);
	for (uint32_t i = 0; i < 512; i++) {
		uint16_t home = stand_hrw(digests[i], 4);
		bool overloaded = home == 0 || home == 3;

		assert_int_equal(stand.workers[i],
				 overloaded ? adjusted(&stand, digests[i], home) : home);
	}
	assert_true(stand.counters->relieved > 0);
	assert_int_equal(stand.counters->collisions, 0);
	stand_end(&stand);
}

/* Nobody below the threshold: the least used; nobody has room: no pointless move. */
TEST(subflow__all_overloaded)
{
	struct lull_dispatch_config config = stand_config("subflow");
	struct dispatch_stand stand;
	uint32_t digest;

	config.bucket_bits = 22;
	stand_init(&stand, &config);
	for (uint32_t i = 0; i < 4; i++)
		stand.loads[i].used_pkts = STAND_CAPACITY - i;
	digest = stand_digest_of(&stand, 1);
	assert_int_equal(stand_one(&stand, digest), 3);
	digest = stand_digest_of(&stand, 3);
	assert_int_equal(stand_one(&stand, digest), 2);
	for (uint32_t i = 0; i < 4; i++)
		stand.loads[i].used_pkts = STAND_CAPACITY + i;
	digest = stand_digest_of(&stand, 1);
	assert_int_equal(stand_one(&stand, digest), 1);
	stand_end(&stand);
}

TEST(subflow__forgets_after_the_burst)
{
	struct lull_dispatch_config config = stand_config("subflow");
	struct dispatch_stand stand;
	uint32_t digest;

	stand_init(&stand, &config);
	digest = stand_digest_of(&stand, 2);
	/* More bursts than the stamps of slots can tell apart. */
	for (uint32_t i = 0; i < 140000; i++) {
		stand.loads[2].used_pkts = STAND_CAPACITY / 2 * (i % 2);
		stand.loads[0].used_pkts = i % 4 == 1 ? STAND_CAPACITY : 0;
		stand.loads[1].used_pkts = i % 4 == 3 ? STAND_CAPACITY : 0;
		assert_int_equal(stand_one(&stand, digest),
				 i % 2 == 0 ? 2 : adjusted(&stand, digest, 2));
	}
	stand_end(&stand);
}
