/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/net.c: nodes, repeatable runs, and a protocol that lives on them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "net_pair.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS

/* A node that rests finds its packets when it runs, and what its ring had no room for is gone. */
TEST(node__with_a_ring_finds_them_when_it_runs)
{
	struct net_pair *pair = net_pair_new(
		10, &(struct lull_sim_path_config){ .to = 1, .delay_ns = 100 * US }, 8);
	const struct lull_sim_path_counters *counters;

	pair->run_gap_ns = MS;
	counters = net_pair_run(pair, 100, 100 * US);
	/* ten a rest, the last one when it ends; eight fit */
	assert_int_equal(counters->delivered, 80);
	assert_int_equal(counters->ring_drops, 20);
	for (uint32_t i = 0; i < 80; i++) {
		assert_int_equal(pair->seen[i].at_ns % MS, 0);
		assert_int_equal(pair->seen[i].number, i / 8 * 10 + i % 8);
	}
	net_pair_free(pair);
}

TEST(node__is_woken_from_outside)
{
	struct net_pair *pair = net_pair_new(11, &(struct lull_sim_path_config){ .to = 1 }, 4);

	pair->count = 2;
	pair->gap_ns = US;
	lull_sim_net_run(pair->net, MS);
	assert_int_equal(pair->seen_count, 0);
	assert_int_equal(lull_sim_net_under_way(pair->net), 2);
	lull_sim_net_wake(pair->net, 1, 0); /* that has passed */
	lull_sim_net_run(pair->net, 2 * MS);
	assert_int_equal(pair->seen_count, 2);
	assert_int_equal(pair->seen[0].at_ns, MS + 1);
	net_pair_free(pair);
	/* also while it runs: the earlier of both times counts */
	pair = net_pair_new(11, &(struct lull_sim_path_config){ .to = 1 }, 4);
	pair->run_gap_ns = MS;
	pair->wake_gap_ns = 100 * US;
	lull_sim_net_run(pair->net, MS);
	assert_int_equal(pair->runs, 10);
	net_pair_free(pair);
}

TEST(pool__too_small_is_counted)
{
	struct net_pair *pair =
		net_pair_new(12, &(struct lull_sim_path_config){ .to = 1, .delay_ns = MS }, 0);

	assert_int_equal(net_pair_run(pair, 5000, 0)->pool_drops, 5000 - 4096);
	net_pair_free(pair);
}

static uint64_t
digest(uint64_t seed, bool other_path_too)
{
	const struct lull_sim_path_config path = {
		.to = 1,
		.rate_bps = 1000000000,
		.delay_ns = 3 * US,
		.jitter_ns = 9 * US,
		.loss_ppm = 30000,
		.fade_ppm = 1000,
		.fade_pkts = 5,
		.damage_ppm = 1000,
		.duplicate_ppm = 5000,
		.reorder_ppm = 5000,
		.reorder_ns = 40 * US,
	};
	struct net_pair *pair = net_pair_new(seed, &path, 0);
	uint64_t sum = 14695981039346656037ULL;
	uint8_t bytes[NET_PAIR_BYTES] = { 0 };

	for (uint32_t i = 0; i < 100; i++) {
		pair->count += 100;
		pair->gap_ns = 4 * US;
		lull_sim_net_wake(pair->net, 0, 0);
		if (other_path_too)
			lull_sim_net_send(pair->net, 1, bytes, NET_PAIR_BYTES);
		lull_sim_net_run(pair->net, (i + 1) * MS);
	}
	for (uint32_t i = 0; i < pair->seen_count; i++)
		if (pair->seen[i].path == 0) {
			sum = (sum ^ pair->seen[i].number) * 1099511628211ULL;
			sum = (sum ^ pair->seen[i].at_ns) * 1099511628211ULL;
		}
	net_pair_free(pair);
	return sum;
}

TEST(net__repeats_itself_and_paths_keep_apart)
{
	assert_int_equal(digest(1, false), digest(1, false));
	assert_int_not_equal(digest(1, false), digest(2, false));
	assert_int_equal(digest(1, false), digest(1, true));
	/* the same in every build */
	assert_int_equal(digest(1, false), 0xf8d6fdb7ace003d4ULL);
}

/* The same packets over two paths of one kind fare differently. */
TEST(net__paths_draw_for_themselves)
{
	const struct lull_sim_path_config path = { .to = 1, .delay_ns = 10, .loss_ppm = 500000 };
	struct net_pair *pair = net_pair_new(13, &path, 0);
	uint64_t seen[2] = { 0 };

	assert_int_equal(lull_sim_net_change(pair->net, 1, &path), 0);
	for (uint32_t i = 0; i < 2; i++) {
		pair->path = i;
		pair->sent = 0;
		pair->count = 64;
		lull_sim_net_wake(pair->net, 0, 0);
		lull_sim_net_run(pair->net, (i + 1) * MS);
	}
	for (uint32_t i = 0; i < pair->seen_count; i++)
		seen[pair->seen[i].path] |= 1ULL << pair->seen[i].number;
	assert_true(seen[0] != 0 && seen[1] != 0);
	assert_int_not_equal(seen[0], seen[1]);
	net_pair_free(pair);
}

/* ---- a protocol: stop and wait ---- */

#define TRANSFER 500
#define TIMEOUT_NS (300 * US)

struct end {
	struct lull_sim_net *net;
	uint32_t path; /* out */
	uint32_t next; /* number to send, or expected */
	uint64_t due_ns;
	uint64_t sum; /* of what was taken */
	uint32_t again;
};

static uint64_t
stop_and_wait_run(void *arg, uint64_t now_ns)
{
	struct end *end = arg;
	uint8_t bytes[8];

	if (end->next == TRANSFER)
		return LULL_SIM_NEVER;
	if (now_ns >= end->due_ns) {
		end->again += end->due_ns > 0;
		memcpy(bytes, &end->next, 4);
		bytes[4] = net_filling(end->next, 4);
		lull_sim_net_send(end->net, end->path, bytes, 5);
		end->due_ns = now_ns + TIMEOUT_NS;
	}
	return end->due_ns;
}

static void
stop_and_wait_answered(void *arg, uint64_t now_ns, uint32_t path, uint8_t *bytes,
		       uint32_t len_bytes)
{
	struct end *end = arg;
	uint32_t number;

	(void)path;
	assert_int_equal(len_bytes, 4);
	memcpy(&number, bytes, 4);
	if (number != end->next)
		return;
	end->next++;
	end->due_ns = 0;
	(void)now_ns;
}

static void
stop_and_wait_take(void *arg, uint64_t now_ns, uint32_t path, uint8_t *bytes, uint32_t len_bytes)
{
	struct end *end = arg;
	uint32_t number;

	(void)now_ns, (void)path, (void)len_bytes;
	memcpy(&number, bytes, 4);
	if (number == end->next) {
		end->sum = end->sum * 31 + bytes[4];
		end->next++;
	}
	if (number < end->next)
		lull_sim_net_send(end->net, end->path, bytes, 4);
}

static uint64_t
never_run(void *arg, uint64_t now_ns)
{
	(void)arg, (void)now_ns;
	return LULL_SIM_NEVER;
}

TEST(net__carries_a_protocol)
{
	struct end ends[2] = { { .path = 0 }, { .path = 1 } };
	const struct lull_sim_node nodes[] = {
		{ &ends[0], stop_and_wait_answered, stop_and_wait_run, 0, NULL },
		{ &ends[1], stop_and_wait_take, never_run, 0, NULL },
	};
	const struct lull_sim_path_config paths[] = {
		{ .to = 1, .delay_ns = 20 * US, .loss_ppm = 100000, .duplicate_ppm = 100000 },
		{ .from = 1,
		  .delay_ns = 20 * US,
		  .loss_ppm = 100000,
		  .reorder_ppm = 100000,
		  .reorder_ns = 30 * US },
	};
	const struct lull_sim_net_config config = {
		.seed = 1,
		.node_count = 2,
		.path_count = 2,
		.nodes = nodes,
		.paths = paths,
		.packets_max = 100,
		.packet_bytes_max = 8,
	};
	uint64_t sum = 0;

	for (uint32_t i = 0; i < TRANSFER; i++)
		sum = sum * 31 + net_filling(i, 4);
	assert_int_equal(lull_sim_net_create(&config, &ends[0].net), 0);
	ends[1].net = ends[0].net;
	lull_sim_net_run(ends[0].net, LULL_NS_PER_S);
	assert_int_equal(ends[0].next, TRANSFER);
	assert_int_equal(ends[1].next, TRANSFER);
	assert_int_equal(ends[1].sum, sum);
	/* lost there or back: 19 of 100 */
	assert_in_range(ends[0].again, 80, 160);
	assert_int_equal(lull_sim_net_under_way(ends[0].net), 0);
	lull_sim_net_destroy(ends[0].net);
}

TEST(create__refuses)
{
	struct end end = { .path = 0 };
	const struct lull_sim_node node = { &end, stop_and_wait_take, never_run, 0, NULL };
	const struct lull_sim_node deaf = { &end, NULL, never_run, 0, NULL };
	struct lull_sim_path_config path = { .delay_ns = 1 };
	const struct lull_sim_net_config good = {
		.node_count = 1,
		.path_count = 1,
		.nodes = &node,
		.paths = &path,
		.packets_max = 1,
		.packet_bytes_max = 1,
	};
	struct lull_sim_net_config bad[6] = { good, good, good, good, good, good };
	struct lull_sim_net *net = NULL;

	assert_int_equal(lull_sim_net_create(&good, &net), 0);
	lull_sim_net_destroy(net);
	lull_sim_net_destroy(NULL);
	bad[0].node_count = 0;
	bad[1].path_count = LULL_SIM_NET_PATHS_MAX + 1;
	bad[2].packets_max = 0;
	bad[3].packet_bytes_max = LULL_SIM_NET_BYTES_MAX + 1;
	bad[4].nodes = &deaf;
	bad[5].node_count = LULL_SIM_NET_NODES_MAX + 1;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lull_sim_net_create(&bad[i], &net), -EINVAL);
	path = (struct lull_sim_path_config){ .to = 1 }; /* there is one node */
	assert_int_equal(lull_sim_net_create(&good, &net), -EINVAL);
	path = (struct lull_sim_path_config){ .fade_ppm = 1 }; /* for how long? */
	assert_int_equal(lull_sim_net_create(&good, &net), -EINVAL);
	path = (struct lull_sim_path_config){ .duplicate_ppm = 1000001 };
	assert_int_equal(lull_sim_net_create(&good, &net), -EINVAL);
}
