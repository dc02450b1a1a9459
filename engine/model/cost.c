/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one receive and one send cost, by the time stamp counter. A sample is a row of calls, so
 * that reading the counter does not count; a sample in which a call did less than asked is dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "model.h"

#define SAMPLES 1001
#define TRIES (2 * SAMPLES)
#define SAMPLE_PKTS 128
#define CALLS_EMPTY 64
#define ASKED_EMPTY 64

struct row {
	uint16_t tx_port_id, rx_port_id;
	uint16_t burst_pkts;
	uint32_t calls;
	struct rte_mbuf *pkts[SAMPLE_PKTS];
};

static int
cost_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Ticks of the whole row; 0: a call did less than asked. */
static uint64_t
cost_send(struct row *row)
{
	uint64_t begin = rte_rdtsc_precise(), end;
	bool full = true;

	for (uint32_t i = 0; i < row->calls; i++) {
		struct rte_mbuf **pkts = row->pkts + i * row->burst_pkts;
		uint16_t sent = rte_eth_tx_burst(row->tx_port_id, 0, pkts, row->burst_pkts);

		if (sent < row->burst_pkts) {
			rte_pktmbuf_free_bulk(pkts + sent, (unsigned int)(row->burst_pkts - sent));
			full = false;
		}
	}
	end = rte_rdtsc_precise();
	return full ? LULL_MAX(end - begin, 1) : 0;
}

static uint64_t
cost_receive(struct row *row, uint32_t *received)
{
	uint64_t begin = rte_rdtsc_precise(), end;
	uint16_t asked = row->burst_pkts > 0 ? row->burst_pkts : ASKED_EMPTY;
	bool full = true;

	*received = 0;
	for (uint32_t i = 0; i < row->calls && *received + asked <= SAMPLE_PKTS; i++) {
		uint16_t count = rte_eth_rx_burst(row->rx_port_id, 0, row->pkts + *received, asked);

		*received += count;
		full = full && count == row->burst_pkts;
	}
	end = rte_rdtsc_precise();
	return full ? LULL_MAX(end - begin, 1) : 0;
}

static void
cost_drain(const struct row *row)
{
	struct rte_mbuf *pkts[LULL_BURST_MAX];
	uint16_t count;

	while ((count = rte_eth_rx_burst(row->rx_port_id, 0, pkts, LULL_BURST_MAX)) > 0)
		rte_pktmbuf_free_bulk(pkts, count);
}

static int
cost_fill(struct row *row, struct rte_mempool *pool, uint32_t len_bytes)
{
	unsigned int count = row->calls * row->burst_pkts;
	const struct lull_probe probe = { .run = 0 };

	if (count == 0)
		return 0;
	if (rte_pktmbuf_alloc_bulk(pool, row->pkts, count) != 0)
		return -ENOBUFS;
	for (unsigned int i = 0; i < count; i++) {
		row->pkts[i]->data_len = (uint16_t)len_bytes;
		row->pkts[i]->pkt_len = len_bytes;
		lull_probe_write(rte_pktmbuf_mtod(row->pkts[i], uint8_t *), (uint16_t)len_bytes,
				 &probe, 0);
	}
	return 0;
}

static double
cost_median(uint64_t *ticks, uint32_t count, uint32_t calls)
{
	qsort(ticks, count, sizeof(ticks[0]), cost_order);
	return count == 0 ?
		       0 :
		       (double)ticks[count / 2] * 1e9 / (double)rte_get_tsc_hz() / (double)calls;
}

int
lull_burst_cost(uint16_t tx_port_id, uint16_t rx_port_id, struct rte_mempool *pool,
		struct lull_burst_cost *cost)
{
	struct row row = { .tx_port_id = tx_port_id,
			   .rx_port_id = rx_port_id,
			   .burst_pkts = (uint16_t)cost->burst_pkts };
	uint64_t tx_ticks[SAMPLES], rx_ticks[SAMPLES];
	uint32_t received;
	int rc;

	if (cost->burst_pkts > SAMPLE_PKTS)
		return -EINVAL;
	row.calls = cost->burst_pkts == 0 ? CALLS_EMPTY : SAMPLE_PKTS / cost->burst_pkts;
	cost_drain(&row);
	cost->samples = 0;
	for (uint32_t i = 0; i < TRIES && cost->samples < SAMPLES; i++) {
		rc = cost_fill(&row, pool, cost->len_bytes);
		if (rc != 0)
			return rc;
		tx_ticks[cost->samples] = cost_send(&row);
		rx_ticks[cost->samples] = cost_receive(&row, &received);
		if (tx_ticks[cost->samples] > 0 && rx_ticks[cost->samples] > 0)
			cost->samples++;
		rte_pktmbuf_free_bulk(row.pkts, received);
		cost_drain(&row);
	}
	cost->tx_ns = cost_median(tx_ticks, cost->samples, row.calls);
	cost->rx_ns = cost_median(rx_ticks, cost->samples, row.calls);
	return 0;
}
