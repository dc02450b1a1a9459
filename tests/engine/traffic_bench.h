/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Traffic bench: the traffic stage at one end of a pair of ring ports, turned by hand, and the
 * test at the other.
 */
#ifndef LULL_TRAFFIC_BENCH_H
#define LULL_TRAFFIC_BENCH_H

#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <lull/generator.h>

#include "stand.h"

#define RING_PKTS 512
#define BURST_PKTS 32
#define RUN 4711

/* The stage at one end, the test at the other. */
struct bench {
	struct lull_port near, far;
	struct rte_mempool *pool;
	struct lull_traffic_config config;
	void *state;
};

static inline struct lull_arrival_config
constant(double pps)
{
	return (struct lull_arrival_config){
		.kind = LULL_ARRIVAL_CONSTANT,
		.pps = pps,
		.size_count = 1,
		.size_bytes = { LULL_PROBE_FRAME_MIN },
		.size_weight = { 1 },
		.seed = 1,
	};
}

static inline void
bench_ports(struct bench *bench, uint32_t mbuf_count)
{
	static unsigned int count;
	struct lull_error error = { "" };
	char name[16];

	snprintf(name, sizeof(name), "bench%u", count++);
	stand_pair(name, 1, RING_PKTS, &bench->near, &bench->far);
	bench->config = (struct lull_traffic_config){
		.source = true,
		.sink = true,
		.tx_port_id = bench->near.port_id,
		.burst_pkts = BURST_PKTS,
		.run = RUN,
		.flow_count = 1,
		.arrival = constant(1e6),
	};
	bench->pool =
		lull_traffic_pool_create(name, mbuf_count, &bench->config.arrival, NULL, &error);
	if (bench->pool == NULL)
		fail_msg("%s", error.text);
	bench->config.pool = bench->pool;
}

static inline void
bench_stage(struct bench *bench)
{
	const struct lull_stage *stage = &lull_stage_traffic;
	uint64_t now_ns = lull_clock_ns();

	bench->state = aligned_alloc(LULL_CACHE_LINE, (stage->state_size + LULL_CACHE_LINE - 1) /
							      LULL_CACHE_LINE * LULL_CACHE_LINE);
	assert_non_null(bench->state);
	memset(bench->state, 0, stage->state_size);
	assert_int_equal(stage->init(bench->state, &bench->config, now_ns), 0);
}

static inline void
bench_close(struct bench *bench)
{
	lull_port_close(&bench->near);
	lull_port_close(&bench->far);
	/* nothing got lost between pool, rings and stage */
	assert_int_equal(rte_mempool_in_use_count(bench->pool), 0);
	rte_mempool_free(bench->pool);
	free(bench->state);
}

/* One iteration of a loop: receive, then let the stage send. */
static inline uint64_t
bench_iterate(struct bench *bench)
{
	struct rte_mbuf *pkts[BURST_PKTS];
	uint64_t now_ns = lull_clock_ns();
	uint16_t count = rte_eth_rx_burst(bench->near.port_id, 0, pkts, BURST_PKTS);

	if (count > 0)
		lull_stage_traffic.burst(bench->state, 0, pkts, count, now_ns);
	return lull_stage_traffic.iterate(bench->state, now_ns);
}

/* What has arrived at the far end, at most @p count_max. */
static inline uint16_t
bench_take(struct bench *bench, struct rte_mbuf **pkts, uint16_t count_max)
{
	return rte_eth_rx_burst(bench->far.port_id, 0, pkts, count_max);
}

static inline void
bench_give(struct bench *bench, struct rte_mbuf **pkts, uint16_t count)
{
	assert_int_equal(rte_eth_tx_burst(bench->far.port_id, 0, pkts, count), count);
}

/* Send everything back. */
static inline void
bench_echo(struct bench *bench)
{
	struct rte_mbuf *pkts[BURST_PKTS];
	uint16_t count = bench_take(bench, pkts, BURST_PKTS);

	bench_give(bench, pkts, count);
}

/* Throw everything away. */
static inline uint32_t
bench_drop(struct bench *bench)
{
	struct rte_mbuf *pkts[RING_PKTS];
	uint16_t count = bench_take(bench, pkts, RING_PKTS);

	rte_pktmbuf_free_bulk(pkts, count);
	return count;
}

static inline void
bench_send_all(struct bench *bench)
{
	while (!lull_traffic_done(bench->state))
		bench_iterate(bench);
}

static inline const struct lull_traffic_counters *
counters(const struct bench *bench)
{
	return lull_traffic_counters(bench->state);
}

static inline const struct lull_tally_counters *
tally(const struct bench *bench)
{
	return lull_traffic_tally(bench->state);
}

#endif
