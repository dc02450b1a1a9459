/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "model.h"
#include "engine/dpdk/port.h"

#define EXTRA_BYTES 24 /* CRC, preamble and gap of a frame */
/*
 * The thread of the link wakes late at times. Packets of that time are delivered at once as long as
 * they fill less than this share of the receiver's ring, else the late link would look like loss.
 */
#define CATCH_UP_SHARE 4

struct link {
	struct lull_link_config config;
	uint64_t now_ns;     /* of the last iteration; 0: none yet */
	int64_t credit;      /* bits x 1000 that may leave; below 0: the last frame still leaves */
	uint16_t held_count; /* taken from the sender's ring, the oldest at held_index */
	uint16_t held_index;
	struct rte_mbuf *held[LULL_BURST_MAX];
	struct lull_link_counters counters;
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_link_counters, member, unit_text, help_text)
static const struct lull_counter_info link_counter_table[] = {
	ROW(pkts, "packets", "packets delivered"),
	ROW(missed, "packets", "packets lost because the receiver's ring was full"),
	ROW(stood_ns, "ns",
	    "upper limit of the link time lost because the link thread woke too late"),
	{ .name = NULL },
};

static int64_t
link_cost(const struct rte_mbuf *pkt)
{
	return (int64_t)(rte_pktmbuf_pkt_len(pkt) + EXTRA_BYTES) * 8 * 1000;
}

static int
link_init(void *state, const void *config, uint64_t now_ns)
{
	struct link *link = state;

	(void)now_ns;
	link->config = *(const struct lull_link_config *)config;
	return link->config.mbps > 0 && link->config.burst_pkts <= LULL_BURST_MAX ? 0 : -EINVAL;
}

/* The sender's ring is empty for now. */
static bool
link_idle(struct link *link)
{
	if (link->held_index < link->held_count)
		return false;
	link->held_index = 0;
	link->held_count =
		rte_eth_rx_burst(link->config.rx_port_id, 0, link->held, link->config.burst_pkts);
	return link->held_count == 0;
}

/* Time makes credit: mbps bits a us, so thousandths of a bit a ns. */
static void
link_earn(struct link *link, uint64_t now_ns)
{
	uint64_t span_ns = link->now_ns == 0 ? 0 : LULL_MIN(now_ns - link->now_ns, LULL_NS_PER_S);
	int64_t surplus;

	link->now_ns = now_ns;
	link->credit += (int64_t)(span_ns * link->config.mbps);
	if (link_idle(link))
		return;
	surplus = link->credit -
		  (int64_t)(link->config.ring_pkts / CATCH_UP_SHARE) * link_cost(link->held[0]);
	if (surplus > 0) {
		link->credit -= surplus;
		LULL_COUNTER_ADD(link->counters.stood_ns, (uint64_t)surplus / link->config.mbps);
	}
}

static void
link_deliver(struct link *link)
{
	struct rte_mbuf **pkts = link->held + link->held_index;
	uint16_t count = 0, taken;

	while (link->held_index < link->held_count && link->credit > 0) {
		link->credit -= link_cost(link->held[link->held_index++]);
		count++;
	}
	taken = rte_eth_tx_burst(link->config.tx_port_id, 0, pkts, count);
	LULL_COUNTER_ADD(link->counters.pkts, taken);
	if (taken < count) {
		LULL_COUNTER_ADD(link->counters.missed, count - taken);
		lull_port_pair_refused(link->config.tx_port_id, count - taken);
		rte_pktmbuf_free_bulk(pkts + taken, (unsigned int)(count - taken));
	}
}

static uint64_t
link_iterate(void *state, uint64_t now_ns)
{
	struct link *link = state;

	link_earn(link, now_ns);
	while (link->credit > 0 && !link_idle(link))
		link_deliver(link);
	/* Left over: the ring is empty, and the time before is gone. */
	link->credit = LULL_MIN(link->credit, 0);
	return 0;
}

/* It has no queue of its own: a queue would be emptied faster than the link carries. */
const struct lull_stage lull_stage_link = {
	.name = "link",
	.summary = "carry packets from one ring to another at the rate of a link",
	.state_size = sizeof(struct link),
	.init = link_init,
	.iterate = link_iterate,
	.counters = link_counter_table,
	.counters_offset = offsetof(struct link, counters),
};
