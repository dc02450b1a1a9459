/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stddef.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include <lull/engine.h>

/*
 * A full Tx ring is given up to 64 us to drain. Longer would hold up the other queues; shorter
 * would drop packets that a busy peer takes a moment later.
 */
#define RETRIES_MAX 64
#define RETRY_US 1

struct forward {
	struct lull_forward_config config;
	struct lull_forward_counters counters;
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_forward_counters, member, unit_text, help_text)
static const struct lull_counter_info forward_counter_table[] = {
	ROW(rx_pkts, "packets", "packets received"),
	ROW(tx_pkts, "packets", "packets sent"),
	ROW(tx_drops, "packets", "packets freed because the driver refused them after all retries"),
	ROW(tx_retries, "1", "sends repeated because a Tx ring was full"),
	{ .name = NULL },
};

static int
forward_init(void *state, const void *config, uint64_t now_ns)
{
	struct forward *forward = state;

	(void)now_ns;
	forward->config = *(const struct lull_forward_config *)config;
	return forward->config.queue_count <= LULL_IDLE_QUEUES_MAX ? 0 : -EINVAL;
}

static void
forward_swap_macs(struct rte_mbuf **pkts, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		struct rte_ether_hdr *header = rte_pktmbuf_mtod(pkts[i], struct rte_ether_hdr *);
		struct rte_ether_addr source;

		if (rte_pktmbuf_data_len(pkts[i]) < sizeof(*header))
			continue;
		source = header->src_addr;
		header->src_addr = header->dst_addr;
		header->dst_addr = source;
	}
}

/* Returns what the driver took in the end; the rest is still ours. */
static uint16_t
forward_retry(struct forward *forward, uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts,
	      uint16_t count, uint16_t sent)
{
	bool wait = forward->config.wait;

	for (int i = 0; (wait || i < RETRIES_MAX) && sent < count; i++) {
		LULL_COUNTER_ADD(forward->counters.tx_retries, 1);
		rte_delay_us_block(RETRY_US);
		sent = (uint16_t)(sent + rte_eth_tx_burst(port_id, queue_id, pkts + sent,
							  (uint16_t)(count - sent)));
	}
	return sent;
}

static void
forward_send(struct forward *forward, uint32_t queue_index, struct rte_mbuf **pkts, uint16_t count)
{
	uint16_t port_id = forward->config.tx[queue_index].port_id;
	uint16_t queue_id = forward->config.tx[queue_index].queue_id;
	uint16_t sent = rte_eth_tx_burst(port_id, queue_id, pkts, count);

	if (sent < count)
		sent = forward_retry(forward, port_id, queue_id, pkts, count, sent);
	LULL_COUNTER_ADD(forward->counters.tx_pkts, sent);
	if (sent < count) {
		LULL_COUNTER_ADD(forward->counters.tx_drops, count - sent);
		rte_pktmbuf_free_bulk(pkts + sent, (unsigned int)(count - sent));
	}
}

static void
forward_burst(void *state, uint32_t queue_index, struct rte_mbuf **pkts, uint16_t count,
	      uint64_t now_ns)
{
	struct forward *forward = state;

	(void)now_ns;
	LULL_COUNTER_ADD(forward->counters.rx_pkts, count);
	switch (forward->config.mode) {
	case LULL_FORWARD_SINK:
		rte_pktmbuf_free_bulk(pkts, count);
		return;
	case LULL_FORWARD_MACSWAP:
		forward_swap_macs(pkts, count);
		break;
	case LULL_FORWARD_IO:
		break;
	}
	forward_send(forward, queue_index, pkts, count);
}

/* Sent as they come, nothing to flush and no wish. */
static uint64_t
forward_turn(void *state, uint64_t now_ns)
{
	(void)state;
	(void)now_ns;
	return 0;
}

const struct lull_stage lull_stage_forward = {
	.name = "forward",
	.summary = "send what is received on a queue out of the port it is wired to",
	.state_size = sizeof(struct forward),
	.init = forward_init,
	.burst = forward_burst,
	.turn = forward_turn,
	.counters = forward_counter_table,
	.counters_offset = offsetof(struct forward, counters),
};
