/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Net pair: a sender and a sink in a simulated net, whose packets can be told apart.
 *
 * Memory: a pair is freed by net_pair_free().
 */
#ifndef LULL_TEST_NET_PAIR_H
#define LULL_TEST_NET_PAIR_H

#include "sim/net.h"

#define NET_PAIR_BYTES 256
#define NET_PAIR_SEEN_MAX 200000

/** Node 0 sends count numbered packets, one each gap_ns (0: at once); node 1 notes what comes. */
struct net_pair {
	struct lull_sim_net *net;
	uint32_t count, sent, len_bytes, path;
	uint64_t gap_ns, run_gap_ns, wake_gap_ns;
	uint32_t runs, seen_count;
	struct {
		uint64_t at_ns;
		uint32_t number, path;
		uint8_t fill[4];
	} seen[NET_PAIR_SEEN_MAX];
	uint32_t flipped_bits;
	bool one_bit; /* of each packet, nothing else happens to them */
};

/** What stands at this place of this packet; the number itself fills the first four. */
uint8_t net_filling(uint32_t number, uint32_t place);
/** Two paths from node 0 to node 1: this one, and one without faults. */
struct net_pair *net_pair_new(uint64_t seed, const struct lull_sim_path_config *path,
			      uint32_t ring_pkts);
void net_pair_free(struct net_pair *pair);
/** Those of the first path; asserts that all that was sent became something. */
const struct lull_sim_path_counters *net_pair_counters(const struct net_pair *pair);
/** Send so many more, and wait until all have arrived. */
const struct lull_sim_path_counters *net_pair_run(struct net_pair *pair, uint32_t count,
						  uint64_t gap_ns);
/** A tenth more or less. */
void net_assert_share(uint64_t count, uint64_t of, double share);

#endif
