/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "net_pair.h"

#include <stdlib.h>
#include <string.h>

#define MS LULL_NS_PER_MS

uint8_t
net_filling(uint32_t number, uint32_t place)
{
	return (uint8_t)(number * 7 + place);
}

static uint64_t
sender_run(void *arg, uint64_t now_ns)
{
	struct net_pair *pair = arg;
	uint8_t bytes[NET_PAIR_BYTES];

	do {
		if (pair->sent == pair->count)
			return LULL_SIM_NEVER;
		for (uint32_t i = 4; i < pair->len_bytes; i++)
			bytes[i] = net_filling(pair->sent, i);
		memcpy(bytes, &pair->sent, 4);
		lull_sim_net_send(pair->net, pair->path, bytes, pair->len_bytes);
		pair->sent++;
	} while (pair->gap_ns == 0);
	return now_ns + pair->gap_ns;
}

static void
sender_receive(void *arg, uint64_t now_ns, uint32_t path, uint8_t *bytes, uint32_t len_bytes)
{
	(void)arg, (void)now_ns, (void)path, (void)bytes, (void)len_bytes;
	fail_msg("nobody sends to the sender");
}

static void
sink_receive(void *arg, uint64_t now_ns, uint32_t path, uint8_t *bytes, uint32_t len_bytes)
{
	struct net_pair *pair = arg;
	uint32_t number, flipped = 0;

	assert_int_equal(len_bytes, pair->len_bytes);
	assert_true(pair->seen_count < NET_PAIR_SEEN_MAX);
	assert_int_equal(now_ns, lull_sim_net_now(pair->net));
	memcpy(&number, bytes, 4);
	if (pair->one_bit) {
		flipped = (uint32_t)__builtin_popcount(number ^ pair->seen_count);
		number = pair->seen_count;
	}
	for (uint32_t i = 4; i < len_bytes; i++)
		flipped += (uint32_t)__builtin_popcount(
			(unsigned int)(bytes[i] ^ net_filling(number, i)));
	if (pair->one_bit)
		assert_int_equal(flipped, 1);
	pair->flipped_bits += flipped;
	pair->seen[pair->seen_count].at_ns = now_ns;
	pair->seen[pair->seen_count].path = path;
	pair->seen[pair->seen_count++].number = number;
}

static uint64_t
sink_run(void *arg, uint64_t now_ns)
{
	struct net_pair *pair = arg;

	pair->runs++;
	if (pair->wake_gap_ns > 0)
		lull_sim_net_wake(pair->net, 1, now_ns + pair->wake_gap_ns);
	return pair->run_gap_ns > 0 ? now_ns + pair->run_gap_ns : LULL_SIM_NEVER;
}

struct net_pair *
net_pair_new(uint64_t seed, const struct lull_sim_path_config *path, uint32_t ring_pkts)
{
	struct net_pair *pair = calloc(1, sizeof(*pair));
	const struct lull_sim_path_config paths[] = { *path, { .to = 1, .delay_ns = 10 } };
	const struct lull_sim_node nodes[] = {
		{ pair, sender_receive, sender_run, 0, NULL },
		{ pair, sink_receive, sink_run, ring_pkts, NULL },
	};
	const struct lull_sim_net_config config = {
		.seed = seed,
		.node_count = 2,
		.path_count = 2,
		.nodes = nodes,
		.paths = paths,
		.packets_max = 4096,
		.packet_bytes_max = NET_PAIR_BYTES,
	};

	assert_non_null(pair);
	assert_int_equal(lull_sim_net_create(&config, &pair->net), 0);
	pair->len_bytes = NET_PAIR_BYTES;
	return pair;
}

void
net_pair_free(struct net_pair *pair)
{
	lull_sim_net_destroy(pair->net);
	free(pair);
}

const struct lull_sim_path_counters *
net_pair_counters(const struct net_pair *pair)
{
	const struct lull_sim_path_counters *counters = lull_sim_net_counters(pair->net, 0);

	assert_int_equal(counters->sent + counters->duplicated,
			 counters->queue_drops + counters->pool_drops + counters->lost +
				 counters->delivered + counters->ring_drops +
				 lull_sim_net_under_way(pair->net));
	assert_int_equal(counters->sent_bytes, counters->sent * pair->len_bytes);
	assert_int_equal(counters->delivered_bytes, counters->delivered * pair->len_bytes);
	return counters;
}

const struct lull_sim_path_counters *
net_pair_run(struct net_pair *pair, uint32_t count, uint64_t gap_ns)
{
	pair->count = count;
	pair->gap_ns = gap_ns;
	lull_sim_net_run(pair->net, count * gap_ns + 100 * MS);
	assert_int_equal(lull_sim_net_under_way(pair->net), 0);
	return net_pair_counters(pair);
}

void
net_assert_share(uint64_t count, uint64_t of, double share)
{
	double found = (double)count / (double)of;

	if (found < share * 0.9 || found > share * 1.1)
		fail_msg("%g instead of %g", found, share);
}
