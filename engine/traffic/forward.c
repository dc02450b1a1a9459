/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include <lull/engine.h>

#include "engine/dpdk/port_watch.h"

/*
 * What a full Tx ring refuses waits here, beside the loop, while the other queues go on. A ring
 * that takes nothing for 64 us is given up: longer would make packets late that are worth nothing
 * any more, shorter would drop those that a busy peer takes a moment later.
 */
#define PATIENCE_NS (64 * LULL_NS_PER_US)
#define BACKLOG_PKTS LULL_BURST_MAX
#define RETRY_US 1

/* Refused by one Tx ring, in order. */
struct forward_backlog {
	uint64_t since_ns; /* the ring has taken nothing since */
	uint32_t count;
	struct rte_mbuf *pkts[BACKLOG_PKTS];
};

struct forward {
	struct lull_forward_config config;
	struct lull_forward_counters counters;
	uint32_t stuck_count; /* backlogs that are not empty */
	struct forward_backlog backlogs[LULL_IDLE_QUEUES_MAX];
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_forward_counters, member, unit_text, help_text)
static const struct lull_counter_info forward_counter_table[] = {
	ROW(rx_pkts, "packets", "packets received"),
	ROW(tx_pkts, "packets", "packets sent"),
	ROW(tx_drops, "packets", "packets that a full Tx ring did not take in time, freed"),
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

/* Returns what the driver took. A device that has been removed takes nothing. */
static uint16_t
forward_try(const struct forward *forward, uint32_t i, struct rte_mbuf **pkts, uint16_t count)
{
	uint16_t port_id = forward->config.tx[i].port_id;

	if (lull_port_is_gone(port_id))
		return 0;
	return rte_eth_tx_burst(port_id, forward->config.tx[i].queue_id, pkts, count);
}

static void
forward_drop(struct forward *forward, struct rte_mbuf **pkts, uint32_t count)
{
	if (count == 0)
		return;
	LULL_COUNTER_ADD(forward->counters.tx_drops, count);
	rte_pktmbuf_free_bulk(pkts, count);
}

/* The peer makes room for certain: the loop waits. Returns what was taken; the rest is ours. */
static uint16_t
forward_wait(struct forward *forward, uint32_t i, struct rte_mbuf **pkts, uint16_t count,
	     uint16_t sent)
{
	while (sent < count && !lull_port_is_gone(forward->config.tx[i].port_id)) {
		LULL_COUNTER_ADD(forward->counters.tx_retries, 1);
		rte_delay_us_block(RETRY_US);
		sent = (uint16_t)(sent +
				  forward_try(forward, i, pkts + sent, (uint16_t)(count - sent)));
	}
	return sent;
}

/* What finds no room behind those that wait already is dropped. */
static void
forward_keep(struct forward *forward, uint32_t i, struct rte_mbuf **pkts, uint32_t count,
	     uint64_t now_ns)
{
	struct forward_backlog *backlog = &forward->backlogs[i];
	uint32_t kept = LULL_MIN(count, BACKLOG_PKTS - backlog->count);

	if (backlog->count == 0) {
		backlog->since_ns = now_ns;
		forward->stuck_count++;
	}
	memcpy(backlog->pkts + backlog->count, pkts, kept * sizeof(*pkts));
	backlog->count += kept;
	forward_drop(forward, pkts + kept, count - kept);
}

static void
forward_send(struct forward *forward, uint32_t i, struct rte_mbuf **pkts, uint16_t count,
	     uint64_t now_ns)
{
	uint16_t sent = 0;

	/* Behind those that wait, so that order is kept. */
	if (forward->backlogs[i].count == 0)
		sent = forward_try(forward, i, pkts, count);
	if (sent < count && forward->config.wait)
		sent = forward_wait(forward, i, pkts, count, sent);
	LULL_COUNTER_ADD(forward->counters.tx_pkts, sent);
	if (sent == count)
		return;
	if (forward->config.wait || lull_port_is_gone(forward->config.tx[i].port_id))
		forward_drop(forward, pkts + sent, count - sent);
	else
		forward_keep(forward, i, pkts + sent, count - sent, now_ns);
}

/* Once more what a ring has refused. */
static void
forward_retry(struct forward *forward, uint32_t i, uint64_t now_ns)
{
	struct forward_backlog *backlog = &forward->backlogs[i];
	uint16_t sent = forward_try(forward, i, backlog->pkts, (uint16_t)backlog->count);

	LULL_COUNTER_ADD(forward->counters.tx_retries, 1);
	if (sent > 0) {
		LULL_COUNTER_ADD(forward->counters.tx_pkts, sent);
		backlog->count -= sent;
		memmove(backlog->pkts, backlog->pkts + sent,
			backlog->count * sizeof(backlog->pkts[0]));
		backlog->since_ns = now_ns;
	} else if (now_ns - backlog->since_ns >= PATIENCE_NS) {
		forward_drop(forward, backlog->pkts, backlog->count);
		backlog->count = 0;
	}
	if (backlog->count == 0)
		forward->stuck_count--;
}

static void
forward_burst(void *state, uint32_t queue_index, struct rte_mbuf **pkts, uint16_t count,
	      uint64_t now_ns)
{
	struct forward *forward = state;

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
	forward_send(forward, queue_index, pkts, count, now_ns);
}

/* Sent as they come; no rest while packets wait for a ring. */
static uint64_t
forward_iterate(void *state, uint64_t now_ns)
{
	struct forward *forward = state;

	if (forward->stuck_count == 0)
		return 0;
	for (uint32_t i = 0; i < forward->config.queue_count; i++)
		if (forward->backlogs[i].count > 0)
			forward_retry(forward, i, now_ns);
	return forward->stuck_count > 0 ? now_ns : 0;
}

/* What waits still is as lost as what was given up. */
static void
forward_end(void *state)
{
	struct forward *forward = state;

	for (uint32_t i = 0; i < forward->config.queue_count; i++) {
		forward_drop(forward, forward->backlogs[i].pkts, forward->backlogs[i].count);
		forward->backlogs[i].count = 0;
	}
	forward->stuck_count = 0;
}

const struct lull_stage lull_stage_forward = {
	.name = "forward",
	.summary = "send what is received on a queue out of the port it is wired to",
	.state_size = sizeof(struct forward),
	.init = forward_init,
	.fini = forward_end,
	.end = forward_end,
	.burst = forward_burst,
	.iterate = forward_iterate,
	.counters = forward_counter_table,
	.counters_offset = offsetof(struct forward, counters),
};
