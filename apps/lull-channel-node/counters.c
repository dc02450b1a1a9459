/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters.h"

#define ROW(member, text) LULL_COUNTER_ROW(struct node_counters, member, "packets", text)
const struct lull_counter_info node_counter_table[] = {
	ROW(rx_pkts, "packets from the rails"),
	ROW(tx_pkts, "packets to the rails"),
	ROW(local_pkts, "packets from a process to another of this node, through this program"),
	ROW(full_pkts, "packets lost: the ring of a process was full"),
	ROW(nobody_pkts, "packets for a port that nobody has"),
	LULL_COUNTER_ROW(struct node_counters, meetings, "1",
			 "pairs of attachments that exchange packets directly from then on"),
	LULL_COUNTER_ROW(struct node_counters, nonsense, "1",
			 "attachments ended for what was written into them"),
	LULL_COUNTER_ROW(struct node_counters, ports, "1", "attachments now"),
	{ .name = NULL },
};
