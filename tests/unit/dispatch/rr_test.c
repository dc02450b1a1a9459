/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch_stand.h"

TEST(rr_packet__goes_round)
{
	struct lull_dispatch_config config = stand_config("rr-packet");
	const uint32_t digests[7] = { 9, 9, 9, 1, 2, 9, 9 };
	struct dispatch_stand stand;

	config.worker_count = 3;
	config.seed = 5; /* begins at 5 mod 3 */
	stand_init(&stand, &config);
	for (uint32_t round = 0, next = 2; round < 5; round++) {
		stand_burst(&stand, digests, COUNT(digests));
		for (uint32_t i = 0; i < COUNT(digests); i++, next++)
			assert_int_equal(stand.workers[i], next % 3);
	}
	stand_end(&stand);
}

TEST(rr_burst__stays_for_a_burst)
{
	struct lull_dispatch_config config = stand_config("rr-burst");
	const uint32_t digests[5] = { 1, 2, 3, 4, 5 };
	struct dispatch_stand stand;

	stand_init(&stand, &config);
	for (uint32_t round = 0; round < 9; round++) {
		stand_burst(&stand, digests, COUNT(digests));
		for (uint32_t i = 0; i < COUNT(digests); i++)
			assert_int_equal(stand.workers[i], round % 4);
	}
	stand_end(&stand);
}
