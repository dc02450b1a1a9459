/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring facts: the ring with the least room, the highest rate, and what one ring does not tell. */
#include <lull/base.h>

#include "case.h"
#include "idle/ring_facts.h"

#define TEN_GBE 14880952

TEST(add__the_ring_with_the_least_room)
{
	const struct lull_ring_facts rings[] = {
		{ .count = 1, .ring_pkts = 512 },
		{ .count = 1, .ring_pkts = 1024, .held_pkts = 992 },
		{ .count = 1, .ring_pkts = 64, .held_pkts = 16 },
		{ .count = 1, .ring_pkts = 0 }, /* it does not tell */
	};
	struct lull_ring_facts all = { 0 };

	lull_ring_facts_add(&all, &rings[3]);
	assert_int_equal(all.ring_pkts, 0);
	for (int i = 0; i < 4; i++)
		lull_ring_facts_add(&all, &rings[i]);
	assert_int_equal(all.ring_pkts, 1024);
	assert_int_equal(all.held_pkts, 992);
	assert_int_equal(all.count, 5);
}

/* One ring that may hold packets after a short burst is enough; one of nothing is none. */
TEST(add__a_short_burst_must_empty_all)
{
	const struct lull_ring_facts exact = { .count = 1, .ring_pkts = 512 };
	const struct lull_ring_facts virtio = { .count = 1,
						.ring_pkts = 256,
						.short_leaves = true };
	const struct lull_ring_facts none = { .short_leaves = true };
	struct lull_ring_facts all = { 0 };

	lull_ring_facts_add(&all, &exact);
	lull_ring_facts_add(&all, &none);
	assert_false(all.short_leaves);
	lull_ring_facts_add(&all, &virtio);
	lull_ring_facts_add(&all, &exact);
	assert_true(all.short_leaves);
	assert_int_equal(all.ring_pkts, 256);
}

/* What is told late by one of them may have been lost as long ago. */
TEST(add__the_longest_lag)
{
	const struct lull_ring_facts prompt = { .count = 1, .ring_pkts = 512 };
	const struct lull_ring_facts late = { .count = 1,
					      .ring_pkts = 512,
					      .loss_lag_ns = LULL_NS_PER_S };
	struct lull_ring_facts all = { 0 };

	lull_ring_facts_add(&all, &prompt);
	assert_int_equal(all.loss_lag_ns, 0);
	lull_ring_facts_add(&all, &late);
	lull_ring_facts_add(&all, &prompt);
	assert_int_equal(all.loss_lag_ns, LULL_NS_PER_S);
}

TEST(add__a_rate_must_hold_for_all)
{
	const struct lull_ring_facts nic = {
		.count = 1,
		.ring_pkts = 512,
		.link_pps = TEN_GBE,
		.hardware_pps = TEN_GBE,
	};
	const struct lull_ring_facts faster = {
		.count = 1,
		.ring_pkts = 512,
		.link_pps = 2 * TEN_GBE,
		.hardware_pps = 2 * TEN_GBE,
	};
	const struct lull_ring_facts virtual = { .count = 1,
						 .ring_pkts = 512,
						 .link_pps = TEN_GBE };
	const struct lull_ring_facts silent = { .count = 1, .ring_pkts = 512 };
	struct lull_ring_facts all = { 0 };

	lull_ring_facts_add(&all, &nic);
	lull_ring_facts_add(&all, &faster);
	assert_int_equal(all.link_pps, 2 * TEN_GBE);
	assert_int_equal(all.hardware_pps, 2 * TEN_GBE);
	lull_ring_facts_add(&all, &virtual);
	assert_int_equal(all.link_pps, 2 * TEN_GBE);
	assert_int_equal(all.hardware_pps, 0);
	lull_ring_facts_add(&all, &nic);
	assert_int_equal(all.hardware_pps, 0);
	lull_ring_facts_add(&all, &silent);
	assert_int_equal(all.link_pps, 0);
	lull_ring_facts_add(&all, &(const struct lull_ring_facts){ .ring_pkts = 1 });
	assert_int_equal(all.ring_pkts, 512);
}

/* A larger ring is needed where there is the least room. */
TEST(add__tells_what_may_be_asked_of_the_tightest_ring)
{
	const struct lull_ring_facts large = { .count = 1,
					       .ring_pkts = 4096,
					       .ring_pkts_max = 8192 };
	const struct lull_ring_facts small = { .count = 1,
					       .ring_pkts = 512,
					       .ring_pkts_max = 4096 };
	struct lull_ring_facts all = { .count = 0 };

	lull_ring_facts_add(&all, &large);
	assert_int_equal(all.ring_pkts_max, 8192);
	lull_ring_facts_add(&all, &small);
	assert_int_equal(all.ring_pkts_max, 4096);
	lull_ring_facts_add(&all, &large);
	assert_int_equal(all.ring_pkts_max, 4096);
}
