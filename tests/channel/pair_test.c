/* SPDX-License-Identifier: BSD-3-Clause */
/* The library over pair: rails: every function, by a thread of its own and by the caller's. */
#include "stand.h"

#include <poll.h>

#include <lull/rest.h>

/* ---- messages ---- */

static void
carry(bool own_loop)
{
	static const uint64_t sizes[] = { 0,    1,     7,     8,      64,      1400,
					  1500, 10000, 65536, 100001, 1 << 20, 5000003 };
	struct stand stand = { .own_loop = own_loop, .rail_count = 2 };

	stand_open(&stand);
	for (uint32_t i = 0; i < COUNT(sizes); i++) {
		stand_carry(&stand, 0, sizes[i], 100 + i);
		stand_carry(&stand, 1, sizes[i], 200 + i);
	}
	stand_close(&stand);
}

TEST(messages__of_all_sizes)
{
	carry(false);
}

TEST(messages__of_all_sizes_in_the_callers_loop)
{
	carry(true);
}
