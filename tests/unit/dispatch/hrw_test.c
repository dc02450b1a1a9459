/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch_stand.h"

/* Whatever the loads, whatever way the weights are computed. */
TEST(hrw__by_definition)
{
	struct dispatch_stand stand;
	uint32_t digests[75];

	for (uint32_t worker_count = 1; worker_count <= 32; worker_count++) {
		struct lull_dispatch_config config = stand_config("hrw");

		config.worker_count = worker_count;
		config.weights = worker_count % 2 ? LULL_WEIGHTS_SCALAR : LULL_WEIGHTS_BEST;
		stand_init(&stand, &config);
		for (uint32_t i = 0; i < worker_count; i++)
			stand.loads[i].used_pkts = i % 3 * STAND_CAPACITY / 2;
		for (uint32_t i = 0; i < COUNT(digests); i++)
			digests[i] = stand_digest(&stand);
		stand_burst(&stand, digests, COUNT(digests));
		for (uint32_t i = 0; i < COUNT(digests); i++)
			assert_int_equal(stand.workers[i], stand_hrw(digests[i], worker_count));
		stand_end(&stand);
	}
}
