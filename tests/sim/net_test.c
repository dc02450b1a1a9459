/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/net.c: what paths do to packets, against what was asked of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "net_pair.h"
#include "sim/link.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

TEST(path__without_faults_it_delays)
{
	struct net_pair *pair =
		net_pair_new(1, &(struct lull_sim_path_config){ .to = 1, .delay_ns = 5 * US }, 0);

	net_pair_run(pair, 1000, 10 * US);
	assert_int_equal(pair->seen_count, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(pair->seen[i].number, i);
		assert_int_equal(pair->seen[i].at_ns, i * 10 * US + 5 * US);
		assert_int_equal(pair->seen[i].path, 0);
	}
	assert_int_equal(pair->flipped_bits, 0);
	net_pair_free(pair);
}

/* Back to back at the rate, whatever falls out of the queue; the queue holds what it says. */
TEST(path__rate_and_queue)
{
	const uint64_t frame_ns = (NET_PAIR_BYTES + LULL_SIM_WIRE_BYTES) * 8; /* at 1 Gbit/s */
	struct lull_sim_path_config path = { .to = 1, .rate_bps = 1000000000, .delay_ns = 1 };
	const struct lull_sim_path_counters *counters;
	struct net_pair *pair = net_pair_new(1, &path, 0);

	net_pair_run(pair, 100, 0);
	assert_int_equal(pair->seen_count, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(pair->seen[i].at_ns, (i + 1) * frame_ns + 1);
	net_pair_free(pair);
	path.queue_bytes = 10 * (NET_PAIR_BYTES + LULL_SIM_WIRE_BYTES);
	pair = net_pair_new(1, &path, 0);
	counters = net_pair_run(pair, 100, 0);
	assert_int_equal(counters->delivered, 10);
	assert_int_equal(counters->queue_drops, 90);
	net_pair_free(pair);
	/* a packet that is larger than the queue, but waits for nobody, passes */
	path.queue_bytes = 1;
	pair = net_pair_new(1, &path, 0);
	assert_int_equal(net_pair_run(pair, 100, 2 * frame_ns)->delivered, 100);
	net_pair_free(pair);
}

TEST(path__loses_its_share)
{
	struct net_pair *pair =
		net_pair_new(3, &(struct lull_sim_path_config){ .to = 1, .loss_ppm = 10000 }, 0);
	const struct lull_sim_path_counters *counters = net_pair_run(pair, 100000, US);
	uint32_t next = 0;

	net_assert_share(counters->lost, 100000, 0.01);
	for (uint32_t i = 0; i < pair->seen_count; i++) {
		assert_true(pair->seen[i].number >= next);
		next = pair->seen[i].number + 1;
	}
	net_pair_free(pair);
}

/* Losses in a row: as long in the mean as asked, and as often. */
TEST(path__fades)
{
	struct net_pair *pair = net_pair_new(
		4, &(struct lull_sim_path_config){ .to = 1, .fade_ppm = 2000, .fade_pkts = 20 }, 0);
	uint32_t runs = 0, next = 0;
	const struct lull_sim_path_counters *counters;

	counters = net_pair_run(pair, 150000, US);
	for (uint32_t i = 0; i < pair->seen_count; i++) {
		runs += pair->seen[i].number != next;
		next = pair->seen[i].number + 1;
	}
	/* a run ends with 1/20, another begins with 2000 ppm after each packet that is kept */
	if ((double)counters->lost / runs < 17 || (double)counters->lost / runs > 23)
		fail_msg("%g packets a run", (double)counters->lost / runs);
	if (runs < 240 || runs > 330)
		fail_msg("%u runs", runs);
	net_pair_free(pair);
}

TEST(path__damages_one_bit)
{
	struct net_pair *pair =
		net_pair_new(5, &(struct lull_sim_path_config){ .to = 1, .damage_ppm = 50000 }, 0);
	const struct lull_sim_path_counters *counters = net_pair_run(pair, 100000, US);

	net_assert_share(counters->damaged, 100000, 0.05);
	assert_int_equal(pair->seen_count, 100000);
	net_pair_free(pair);
	pair = net_pair_new(5, &(struct lull_sim_path_config){ .to = 1, .damage_ppm = 1000000 }, 0);
	pair->one_bit = true;
	assert_int_equal(net_pair_run(pair, 1000, US)->damaged, 1000);
	assert_int_equal(pair->flipped_bits, 1000);
	net_pair_free(pair);
}

TEST(path__repeats)
{
	struct net_pair *pair = net_pair_new(
		6, &(struct lull_sim_path_config){ .to = 1, .duplicate_ppm = 1000000 }, 0);
	const struct lull_sim_path_counters *counters = net_pair_run(pair, 1000, US);

	assert_int_equal(counters->duplicated, 1000);
	assert_int_equal(pair->seen_count, 2000);
	for (uint32_t i = 0; i < 2000; i++)
		assert_int_equal(pair->seen[i].number, i / 2);
	net_pair_free(pair);
}

TEST(path__jitter_keeps_the_order)
{
	struct net_pair *pair = net_pair_new(
		7, &(struct lull_sim_path_config){ .to = 1, .delay_ns = US, .jitter_ns = 50 * US },
		0);
	uint64_t most_ns = 0;

	net_pair_run(pair, 10000, 10 * US);
	for (uint32_t i = 0; i < 10000; i++) {
		uint64_t late_ns = pair->seen[i].at_ns - (i * 10 * US + US);

		assert_int_equal(pair->seen[i].number, i);
		assert_in_range(late_ns, 0, 50 * US);
		most_ns = LULL_MAX(most_ns, late_ns);
	}
	assert_true(most_ns > 49 * US);
	net_pair_free(pair);
}

TEST(path__reorders_its_share)
{
	const struct lull_sim_path_config path = {
		.to = 1,
		.delay_ns = US,
		.reorder_ppm = 20000,
		.reorder_ns = 25 * US,
	};
	struct net_pair *pair = net_pair_new(8, &path, 0);
	const struct lull_sim_path_counters *counters = net_pair_run(pair, 50000, 10 * US);
	uint32_t late = 0, highest = 0;

	net_assert_share(counters->reordered, 50000, 0.02);
	for (uint32_t i = 0; i < pair->seen_count; i++) {
		late += pair->seen[i].number < highest;
		highest = LULL_MAX(highest, pair->seen[i].number);
		assert_int_equal(
			(pair->seen[i].at_ns - US - pair->seen[i].number * 10 * US) % (25 * US), 0);
	}
	/* two or three packets later, unless those are held back as well */
	net_assert_share(late, 50000, 0.02);
	net_pair_free(pair);
}

/* 280 bytes on the wire take 2.24 us: ahead of all that waits; the others are as late as ever. */
TEST(path__overtakes_what_waits)
{
	const struct lull_sim_path_config path = {
		.to = 1,
		.rate_bps = 1000000000,
		.overtake_ppm = 100000,
	};
	struct net_pair *pair = net_pair_new(12, &path, 0);
	const struct lull_sim_path_counters *counters = net_pair_run(pair, 5000, US);
	uint32_t at_once = 0;

	net_assert_share(counters->overtook, 5000, 0.1);
	for (uint32_t i = 0; i < pair->seen_count; i++)
		at_once += pair->seen[i].number > 9 &&
			   pair->seen[i].at_ns - pair->seen[i].number * US < 3 * US;
	assert_in_range(at_once, counters->overtook - 3, counters->overtook);
	assert_in_range(pair->seen[pair->seen_count - 1].at_ns, 4990 * 2240ULL, 5001 * 2240ULL);
	net_pair_free(pair);
}

TEST(change__applies_from_now_on)
{
	struct lull_sim_path_config path = { .to = 1, .delay_ns = MS };
	struct net_pair *pair = net_pair_new(9, &path, 0);

	pair->count = 100;
	pair->gap_ns = 100 * US;
	lull_sim_net_run(pair->net, 5 * MS);
	assert_int_equal(lull_sim_net_now(pair->net), 5 * MS);
	path.silent = true;
	assert_int_equal(lull_sim_net_change(pair->net, 0, &path), 0);
	lull_sim_net_run(pair->net, 20 * MS);
	/* what was under way arrives */
	assert_int_equal(pair->seen_count, 50);
	assert_int_equal(net_pair_counters(pair)->lost, 50);
	path.to = 0;
	assert_int_equal(lull_sim_net_change(pair->net, 0, &path), -EINVAL);
	path.to = 1;
	path.from = 1;
	assert_int_equal(lull_sim_net_change(pair->net, 0, &path), -EINVAL);
	path.from = 0;
	path.loss_ppm = 1000001;
	assert_int_equal(lull_sim_net_change(pair->net, 0, &path), -EINVAL);
	net_pair_free(pair);
}

/* A new rate is for those behind what waits already. */
TEST(change__of_the_rate_keeps_the_queue)
{
	const uint64_t frame_ns = (NET_PAIR_BYTES + LULL_SIM_WIRE_BYTES) * 8;
	struct lull_sim_path_config path = { .to = 1, .rate_bps = 1000000000, .delay_ns = 1 };
	struct net_pair *pair = net_pair_new(9, &path, 0);

	pair->count = 10;
	lull_sim_net_run(pair->net, 1);
	path.rate_bps *= 2;
	assert_int_equal(lull_sim_net_change(pair->net, 0, &path), 0);
	pair->count = 20;
	lull_sim_net_wake(pair->net, 0, 0);
	lull_sim_net_run(pair->net, MS);
	assert_int_equal(pair->seen_count, 20);
	assert_int_equal(pair->seen[9].at_ns, 10 * frame_ns + 1);
	assert_int_equal(pair->seen[19].at_ns, 15 * frame_ns + 1);
	net_pair_free(pair);
}
