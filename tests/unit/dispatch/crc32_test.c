/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/flow.h>

#include "dispatch_stand.h"

static uint16_t
worker_of(struct dispatch_stand *stand, uint32_t crc)
{
	const uint32_t digest = ~crc & LULL_DIGEST_MAX; /* must not matter */

	lull_dispatch_burst(stand->dispatch, stand->now_ns++, stand->loads, &digest, &crc, 1,
			    stand->workers, stand->marks);
	return stand->workers[0];
}

/* The remainder, for every number of workers and at the ends of the range. */
TEST(crc32__modulo_the_workers)
{
	struct dispatch_stand stand;

	for (uint32_t worker_count = 1; worker_count <= 32; worker_count++) {
		struct lull_dispatch_config config = stand_config("crc32");

		config.worker_count = worker_count;
		stand_init(&stand, &config);
		for (uint32_t i = 0; i < 200; i++) {
			uint32_t crc = (uint32_t)lull_prng_u64(&stand.prng);

			assert_int_equal(worker_of(&stand, i), i % worker_count);
			assert_int_equal(worker_of(&stand, UINT32_MAX - i),
					 (UINT32_MAX - i) % worker_count);
			assert_int_equal(worker_of(&stand, crc), crc % worker_count);
		}
		stand_end(&stand);
	}
}

/* What "123456789" gives everywhere, 0xcbf43926, is 2 modulo 4. */
TEST(crc32__goes_by_the_check_value)
{
	struct lull_dispatch_config config = stand_config("crc32");
	struct dispatch_stand stand;

	stand_init(&stand, &config);
	assert_int_equal(worker_of(&stand, 0xcbf43926), 2);
	stand_end(&stand);
}

/* Both asked for and given: of scheduler, shadow and trace, whoever reads them. */
TEST(needs_crcs__says_who_reads_them)
{
	struct lull_dispatch_config config = stand_config("hrw");
	struct dispatch_stand stand;

	stand_init(&stand, &config);
	assert_false(lull_dispatch_needs_crcs(stand.dispatch));
	lull_dispatch_change(stand.dispatch, config.scheduler, lull_scheduler_find("crc32"));
	assert_true(lull_dispatch_needs_crcs(stand.dispatch));
	lull_dispatch_change(stand.dispatch, lull_scheduler_find("crc32"), NULL);
	assert_true(lull_dispatch_needs_crcs(stand.dispatch));
	lull_dispatch_change(stand.dispatch, lull_scheduler_find("hash"), NULL);
	assert_false(lull_dispatch_needs_crcs(stand.dispatch));
	stand_end(&stand);
}
