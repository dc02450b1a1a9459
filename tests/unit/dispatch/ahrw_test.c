/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch_stand.h"

#define FLOWS 65536

/* Share of FLOWS, in ppm, that go to worker 0 whose ring is half full; the workers in @p to. */
static uint32_t
share_of_half(const char *scheduler, uint16_t *to)
{
	struct lull_dispatch_config config = stand_config(scheduler);
	struct dispatch_stand stand;
	uint32_t pkts = 0;

	config.bucket_bits = 22;
	stand_init(&stand, &config);
	stand.loads[0].used_pkts = STAND_CAPACITY / 2;
	for (uint32_t i = 0; i < FLOWS; i++) {
		to[i] = stand_one(&stand, stand_digest(&stand));
		pkts += to[i] == 0;
		stand.now_ns -= 1000; /* one moment */
	}
	assert_true(stand.counters->relieved > 0);
	stand_end(&stand);
	return (uint32_t)(pkts * LULL_PPM / FLOWS);
}

TEST(ahrw__in_proportion)
{
	static uint16_t to[FLOWS];
	struct dispatch_stand stand;
	uint32_t moved = 0;

	/* 0.5 / 3.5 */
	assert_in_range(share_of_half("ahrw", to), 137000, 149000);
	/* Only flows of the lowered worker moved. */
	stand.config.worker_count = 4;
	lull_prng_init(&stand.prng, 5, 0);
	for (uint32_t i = 0; i < FLOWS; i++) {
		uint16_t home = stand_hrw(stand_digest(&stand), 4);

		assert_true(to[i] == home || home == 0);
		moved += to[i] != home;
	}
	assert_in_range(moved, FLOWS / 12, FLOWS / 8);
}

TEST(ahrw_paper__not_in_proportion)
{
	static uint16_t to[FLOWS];

	/* As analysed: 3.1 %. */
	assert_in_range(share_of_half("ahrw-paper", to), 29000, 33500);
}

/* Below the threshold nothing is lowered; what was lowered rises again, slowly. */
TEST(ahrw__comes_back)
{
	struct lull_dispatch_config config = stand_config("ahrw");
	struct dispatch_stand stand;
	uint32_t away = 0, after = 0, digests[512];

	stand_init(&stand, &config);
	for (uint32_t i = 0; i < 512; i++)
		digests[i] = stand_digest_of(&stand, 2);
	stand.loads[2].used_pkts = STAND_CAPACITY / 4;
	stand_burst(&stand, digests, 512);
	assert_int_equal(stand.counters->worker_pkts[2], 512);
	stand.loads[2].used_pkts = STAND_CAPACITY * 3 / 4;
	stand.now_ns += LULL_NS_PER_MS;
	stand_burst(&stand, digests, 512);
	for (uint32_t i = 0; i < 512; i++)
		away += stand.workers[i] != 2;
	assert_in_range(away, 512 / 2, 512);
	stand.loads[2].used_pkts = 0;
	stand_burst(&stand, digests, 512); /* within the period */
	for (uint32_t i = 0; i < 512; i++)
		after += stand.workers[i] != 2;
	assert_int_equal(after, away);
	for (uint32_t ms = 0; ms < 500; ms++) {
		uint32_t now = 0;

		stand.now_ns += LULL_NS_PER_MS;
		stand_burst(&stand, digests, 512);
		for (uint32_t i = 0; i < 512; i++)
			now += stand.workers[i] != 2;
		assert_true(now <= after);
		assert_true(ms > 0 || now > 0);
		after = now;
	}
	assert_int_equal(after, 0);
	stand_end(&stand);
}
