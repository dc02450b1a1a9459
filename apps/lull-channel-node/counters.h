/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Counters of the switch.
 *
 * Threads: who moves packets writes; others read relaxed.
 */
#ifndef LULL_CHANNEL_NODE_COUNTERS_H
#define LULL_CHANNEL_NODE_COUNTERS_H

#include <lull/base.h>

struct node_counters {
	uint64_t rx_pkts, tx_pkts; /* from and to the wire */
	uint64_t local_pkts;       /* from process to process */
	uint64_t meetings;         /* pairs of processes that got a lane of their own */
	uint64_t full_pkts, nobody_pkts, nonsense;
	uint64_t ports; /* now: who adds and removes them writes */
};
extern const struct lull_counter_info node_counter_table[];

#endif
