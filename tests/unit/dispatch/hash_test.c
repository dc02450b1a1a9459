/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch_stand.h"

/* Equal ranges of digests, also when the number of workers is no power of two. */
TEST(hash__equal_ranges)
{
	struct dispatch_stand stand;

	for (uint32_t worker_count = 1; worker_count <= 32; worker_count++) {
		struct lull_dispatch_config config = stand_config("hash");

		config.worker_count = worker_count;
		stand_init(&stand, &config);
		assert_int_equal(stand_one(&stand, 0), 0);
		assert_int_equal(stand_one(&stand, LULL_DIGEST_MAX), worker_count - 1);
		for (uint64_t worker = 1; worker < worker_count; worker++) {
			uint64_t first = ((worker << 31) + worker_count - 1) / worker_count;

			assert_int_equal(stand_one(&stand, (uint32_t)first), worker);
			assert_int_equal(stand_one(&stand, (uint32_t)first - 1), worker - 1);
		}
		stand_end(&stand);
	}
}
