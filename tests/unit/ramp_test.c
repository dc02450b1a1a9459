/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "governor_stand.h"

struct step {
	uint32_t pkts;
	uint64_t rest_us;
};

/* What pmd_thread_main() of OVS 3.2 does, worked out by hand. */
TEST(ramp_plan__sequence)
{
	static const struct step steps[] = {
		/* test, sleep, grow: the very first iteration does not sleep */
		{ 0, 0 },
		{ 0, 1 },
		{ 0, 2 },
		{ 0, 3 },
		/* a trickle sleeps like silence */
		{ 1, 4 },
		{ 15, 5 },
		{ 0, 6 },
		/* half a burst resets, in an iteration without sleep... */
		{ 16, 0 },
		/* ...that already grows: the next one sleeps 1 us, even with packets */
		{ 15, 1 },
		{ 0, 2 },
		{ 32, 0 },
		{ 32, 0 },
		{ 32, 0 },
		{ 0, 1 },
		{ 0, 2 },
		{ 0, 3 },
	};
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_ramp);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		assert_int_equal(stand_iterate(&stand, steps[i].pkts),
				 steps[i].rest_us * LULL_NS_PER_US);
}

/* 1 + 2 + ... + M us of sleep, M^2 / 2 but for the last half step. */
TEST(ramp_plan__full_length_takes_half_the_square)
{
	struct governor_stand stand;
	uint64_t rest_ns, sum_ns = 0, iterations = 0;

	stand_init(&stand, &lull_idle_ramp);
	stand.limits.rest_ns_max = 500 * LULL_NS_PER_US;
	assert_int_equal(stand_iterate(&stand, 0), 0);
	do {
		rest_ns = stand_iterate(&stand, 0);
		sum_ns += rest_ns;
		iterations++;
	} while (rest_ns < stand.limits.rest_ns_max);
	assert_int_equal(iterations, 500);
	assert_int_equal(sum_ns, 500 * 501 / 2 * LULL_NS_PER_US);
}

TEST(ramp_plan__stays_at_the_cap)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_ramp);
	stand.limits.rest_ns_max = 2500; /* no whole number of steps */
	assert_int_equal(stand_iterate(&stand, 0), 0);
	assert_int_equal(stand_iterate(&stand, 0), 1000);
	assert_int_equal(stand_iterate(&stand, 0), 2000);
	for (int i = 0; i < 10; i++)
		assert_int_equal(stand_iterate(&stand, 0), 2500);
}

TEST(ramp_plan__one_burst_resets_the_cap)
{
	struct governor_stand stand;

	stand_init(&stand, &lull_idle_ramp);
	stand.limits.rest_ns_max = 10 * LULL_NS_PER_US;
	for (int i = 0; i < 20; i++)
		stand_iterate(&stand, 0);
	assert_int_equal(stand_iterate(&stand, 15), 10 * LULL_NS_PER_US);
	assert_int_equal(stand_iterate(&stand, 16), 0);
	assert_int_equal(stand_iterate(&stand, 0), 1 * LULL_NS_PER_US);
}

/* Two queues with 15 packets each do not reset: the test looks at each queue alone. */
TEST(ramp_plan__queues_are_not_added_up)
{
	struct governor_stand stand;
	struct lull_idle_iteration iteration = { .pkt_count = 30,
						 .queue_pkts_max = 15,
						 .drained = true };

	stand_init(&stand, &lull_idle_ramp);
	stand_iterate(&stand, 0);
	iteration.now_ns = stand.now_ns;
	assert_int_equal(stand.governor->plan(stand.state, &iteration).limit_ns, LULL_NS_PER_US);
}
