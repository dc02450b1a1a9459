/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "case.h"
#include "flow/stamp.h"

#define SECOND LULL_NS_PER_S
#define DAY (1700000000 * SECOND)

/* A burst at @p clock_ns, @p waited_ns after the loop looked before; all stamps rise. */
static void
assert_burst(struct lull_stamp *stamp, uint64_t clock_ns, uint64_t day_ns, uint64_t waited_ns,
	     uint32_t count, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t before_ns = stamp->day_ns;

	lull_stamp_look(stamp, clock_ns, day_ns, clock_ns - waited_ns);
	lull_stamp_burst(stamp, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(lull_stamp_of(stamp, i) >= before_ns);
		before_ns = lull_stamp_of(stamp, i);
	}
	assert_int_equal(lull_stamp_of(stamp, 0), first_ns);
	assert_int_equal(lull_stamp_of(stamp, count - 1), last_ns);
}

TEST(burst__is_spread_over_the_time_since_the_loop_looked)
{
	struct lull_stamp stamp = { .begun = false };

	/* 100 us for four packets; shares are rounded down. */
	assert_burst(&stamp, SECOND, DAY, 100000, 4, DAY - 3 * 24999, DAY);
	/* One packet came just now. */
	assert_burst(&stamp, SECOND + 500000, DAY + 500000, 400000, 1, DAY + 500000, DAY + 500000);
	/* A long rest ended when packets came. */
	assert_burst(&stamp, 9 * SECOND, DAY + 8 * SECOND, 5 * SECOND, 2, DAY + 8 * SECOND - 499999,
		     DAY + 8 * SECOND);
	assert_int_equal(stamp.steps, 0);
}

/* Two queues of one look: each has all of its time. */
TEST(burst__of_every_queue_has_the_same_time)
{
	struct lull_stamp stamp = { .begun = false };

	lull_stamp_look(&stamp, SECOND, DAY, SECOND - 64000);
	for (uint32_t count = 1; count <= LULL_STAMP_BURST_MAX; count++) {
		lull_stamp_burst(&stamp, count);
		assert_int_equal(lull_stamp_of(&stamp, count - 1), DAY);
		assert_true(lull_stamp_of(&stamp, 0) >= DAY - 64000);
		assert_true(lull_stamp_of(&stamp, 0) <= DAY - 64000 + 64000 / count + count);
	}
}

TEST(look__follows_a_clock_that_is_set_forward)
{
	struct lull_stamp stamp = { .begun = false };

	assert_burst(&stamp, SECOND, DAY, 1000, 1, DAY, DAY);
	assert_burst(&stamp, SECOND + 1000, DAY + 3600 * SECOND, 1000, 1, DAY + 3600 * SECOND,
		     DAY + 3600 * SECOND);
	assert_int_equal(stamp.steps, 1);
}

/* Half speed for twice as long as it was set back; then they agree. */
TEST(look__never_goes_back)
{
	struct lull_stamp stamp = { .begun = false };
	uint64_t clock_ns = 0, day_ns = DAY, before_ns = 0;

	for (uint32_t i = 0; i < 40; i++, clock_ns += SECOND, day_ns += SECOND) {
		day_ns -= i == 5 ? 10 * SECOND : 0;
		lull_stamp_look(&stamp, clock_ns, day_ns, clock_ns);
		assert_true(stamp.day_ns > before_ns);
		if (i >= 5 && i < 24)
			assert_true(stamp.day_ns > day_ns);
		if (i < 5 || i > 25)
			assert_int_equal(stamp.day_ns, day_ns);
		before_ns = stamp.day_ns;
	}
	assert_int_equal(stamp.steps, 1);
}

/* NTP moves a clock by little: that is no step. */
TEST(look__takes_a_clock_that_drifts)
{
	struct lull_stamp stamp = { .begun = false };

	for (uint64_t i = 0; i < 1000; i++)
		lull_stamp_look(&stamp, i * SECOND, DAY + i * (SECOND + 500000), i * SECOND);
	assert_int_equal(stamp.steps, 0);
	assert_int_equal(stamp.day_ns, DAY + 999 * (SECOND + 500000));
}
