/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch_stand.h"

/* What this burst adds counts; the first of equals is taken. */
TEST(jsq__fills_up)
{
	struct lull_dispatch_config config = stand_config("jsq");
	const uint16_t expected[] = { 3, 3, 1, 3, 0, 1, 3, 0, 1, 2, 3 };
	const uint32_t digests[COUNT(expected)] = { 0 };
	struct dispatch_stand stand;

	stand_init(&stand, &config);
	stand.loads[0].used_pkts = 12;
	stand.loads[1].used_pkts = 11;
	stand.loads[2].used_pkts = 13;
	stand.loads[3].used_pkts = 9;
	stand_burst(&stand, digests, COUNT(digests));
	for (uint32_t i = 0; i < COUNT(expected); i++)
		assert_int_equal(stand.workers[i], expected[i]);
	stand_end(&stand);
}
