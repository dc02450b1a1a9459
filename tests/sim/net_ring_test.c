/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/net.c: paths with rings and an MTU, a node that is a switch, changes on the way. */
#include <errno.h>
#include <string.h>

#include "case.h"
#include "sim/net.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define LEN 100

/* Node 0 sends to the switch (node 1), which sends on to node 2, by two ports in turn. */
enum { UP, DOWN, OTHER };
struct switched {
	struct lull_sim_net *net;
	uint32_t sent, count, arrivals, seen, seen_other, turn, len_bytes;
	uint64_t gap_ns, wake_after_ns, at_ns;
};

static uint64_t
source_run(void *arg, uint64_t now_ns)
{
	struct switched *s = arg;
	uint8_t bytes[LEN] = { 0 };

	if (s->sent == s->count)
		return LULL_SIM_NEVER;
	memcpy(bytes, &s->sent, 4);
	s->sent++;
	lull_sim_net_send(s->net, UP, bytes, s->len_bytes);
	return now_ns + s->gap_ns;
}

static void
nobody_receive(void *arg, uint64_t now_ns, uint32_t path, uint8_t *bytes, uint32_t len_bytes)
{
	(void)arg, (void)now_ns, (void)path, (void)bytes, (void)len_bytes;
	fail_msg("a ring holds what comes here");
}

static void
switch_receive(void *arg, uint64_t now_ns, uint32_t path, uint8_t *bytes, uint32_t len_bytes)
{
	struct switched *s = arg;

	(void)now_ns;
	assert_int_equal(path, UP);
	lull_sim_net_send(s->net, s->turn++ % 2 == 0 ? DOWN : OTHER, bytes, len_bytes);
}

static uint64_t
switch_run(void *arg, uint64_t now_ns)
{
	(void)arg, (void)now_ns;
	return LULL_SIM_NEVER;
}

static uint64_t
sink_arrive(void *arg, uint64_t now_ns, uint32_t path)
{
	struct switched *s = arg;

	assert_true(path == DOWN || path == OTHER);
	s->arrivals++;
	return s->wake_after_ns == LULL_SIM_NEVER ? LULL_SIM_NEVER : now_ns + s->wake_after_ns;
}

static uint64_t
sink_run(void *arg, uint64_t now_ns)
{
	struct switched *s = arg;
	uint32_t number, len_bytes;
	uint8_t *bytes;

	while ((len_bytes = lull_sim_net_fetch(s->net, DOWN, &bytes)) > 0) {
		memcpy(&number, bytes, 4);
		assert_int_equal(len_bytes, s->len_bytes);
		assert_true(number % 2 == 0);
		s->seen++;
		s->at_ns = now_ns;
	}
	while (lull_sim_net_fetch(s->net, OTHER, &bytes) > 0) {
		memcpy(&number, bytes, 4);
		assert_true(number % 2 == 1);
		s->seen_other++;
	}
	return LULL_SIM_NEVER;
}

static struct lull_sim_net_config
switched_config(struct switched *s, struct lull_sim_node *nodes, struct lull_sim_path_config *paths)
{
	nodes[0] = (struct lull_sim_node){ s, nobody_receive, source_run, 0, NULL };
	nodes[1] = (struct lull_sim_node){ s, switch_receive, switch_run, 0, NULL };
	nodes[2] = (struct lull_sim_node){ s, nobody_receive, sink_run, 0, sink_arrive };
	paths[UP] = (struct lull_sim_path_config){ .to = 1, .delay_ns = US };
	paths[DOWN] =
		(struct lull_sim_path_config){ .from = 1, .to = 2, .delay_ns = US, .ring_pkts = 8 };
	paths[OTHER] = (struct lull_sim_path_config){
		.from = 1, .to = 2, .delay_ns = US, .ring_pkts = 1000
	};
	return (struct lull_sim_net_config){ 1, 3, 3, nodes, paths, 4096, LEN };
}

static void
switched_run(struct switched *s, uint32_t mtu_bytes)
{
	struct lull_sim_node nodes[3];
	struct lull_sim_path_config paths[3];
	struct lull_sim_net_config config = switched_config(s, nodes, paths);

	paths[DOWN].mtu_bytes = mtu_bytes;
	assert_int_equal(lull_sim_net_create(&config, &s->net), 0);
	lull_sim_net_run(s->net, 10 * MS);
}

static uint64_t
switched_sum(const struct switched *s)
{
	uint64_t sum = 0;

	for (uint32_t path = DOWN; path <= OTHER; path++) {
		const struct lull_sim_path_counters *c = lull_sim_net_counters(s->net, path);

		sum += c->too_long + c->delivered + c->ring_drops;
		assert_int_equal(c->queue_drops + c->lost + c->pool_drops, 0);
	}
	return sum + lull_sim_net_under_way(s->net);
}

TEST(ring__wakes_the_node_that_polls)
{
	struct switched s = { .count = 100, .gap_ns = 10 * US, .len_bytes = LEN };

	switched_run(&s, 0);
	assert_int_equal(s.seen, 50);
	assert_int_equal(s.seen_other, 50);
	assert_int_equal(s.arrivals, 100);
	assert_int_equal(s.at_ns, 98 * 10 * US + 2 * US);
	lull_sim_net_destroy(s.net);
}

/* A node that does not run finds what its rings have room for, and of each path what it holds. */
TEST(ring__of_each_path_is_its_own)
{
	struct switched s = {
		.count = 100, .gap_ns = US, .wake_after_ns = LULL_SIM_NEVER, .len_bytes = LEN
	};

	switched_run(&s, 0);
	assert_int_equal(s.seen + s.seen_other, 0);
	assert_int_equal(s.arrivals, 58); /* those that were dropped wake nobody */
	assert_int_equal(lull_sim_net_under_way(s.net), 58);
	lull_sim_net_wake(s.net, 2, 11 * MS);
	lull_sim_net_run(s.net, 12 * MS);
	assert_int_equal(s.seen, 8);
	assert_int_equal(s.at_ns, 11 * MS);
	assert_int_equal(s.seen_other, 50);
	assert_int_equal(lull_sim_net_counters(s.net, DOWN)->ring_drops, 42);
	assert_int_equal(lull_sim_net_counters(s.net, OTHER)->delivered_bytes, 50 * LEN);
	assert_int_equal(switched_sum(&s), 100);
	lull_sim_net_destroy(s.net);
}

TEST(ring__wakes_later_when_asked_to)
{
	struct switched s = { .count = 1, .gap_ns = US, .wake_after_ns = 7 * US, .len_bytes = LEN };

	switched_run(&s, 0);
	assert_int_equal(s.at_ns, 9 * US);
	lull_sim_net_destroy(s.net);
}

TEST(mtu__longer_packets_are_lost)
{
	struct switched s = { .count = 100, .gap_ns = 10 * US, .len_bytes = LEN };

	switched_run(&s, LEN - 1);
	assert_int_equal(s.seen, 0);
	assert_int_equal(s.seen_other, 50);
	assert_int_equal(lull_sim_net_counters(s.net, DOWN)->too_long, 50);
	assert_int_equal(switched_sum(&s), 100);
	lull_sim_net_destroy(s.net);
	s = (struct switched){ .count = 100, .gap_ns = 10 * US, .len_bytes = LEN };
	switched_run(&s, LEN);
	assert_int_equal(s.seen, 50);
	lull_sim_net_destroy(s.net);
}

TEST(ring__needs_a_node_that_hears_of_it)
{
	struct switched s = { .len_bytes = LEN };
	struct lull_sim_node nodes[3];
	struct lull_sim_path_config paths[3], change;
	struct lull_sim_net_config config = switched_config(&s, nodes, paths);

	nodes[2].arrive = NULL;
	assert_int_equal(lull_sim_net_create(&config, &s.net), -EINVAL);
	nodes[2].arrive = sink_arrive;
	assert_int_equal(lull_sim_net_create(&config, &s.net), 0);
	change = paths[DOWN];
	change.ring_pkts = 4;
	assert_int_equal(lull_sim_net_change(s.net, DOWN, &change), 0);
	change.ring_pkts = 0;
	assert_int_equal(lull_sim_net_change(s.net, DOWN, &change), -EINVAL);
	change = paths[UP];
	change.ring_pkts = 4;
	assert_int_equal(lull_sim_net_change(s.net, UP, &change), -EINVAL);
	lull_sim_net_destroy(s.net);
}
