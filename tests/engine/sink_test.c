/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink: what it finds out about the packets that come, and which of them count in a window.
 */
#include "engine/dpdk/port_watch.h"
#include "traffic_bench.h"

/* ---- what the sink finds ---- */

TEST(sink__losses_swaps_and_copies_are_found)
{
	struct rte_mbuf *pkts[100], *swapped;
	struct bench bench;

	bench_ports(&bench, 4 * RING_PKTS);
	bench.config.count_max = 100;
	bench_stage(&bench);
	bench_send_all(&bench);
	assert_int_equal(bench_take(&bench, pkts, 100), 100);
	/* 10 and 11 change places; 20 to 29 are lost; 40 comes twice */
	swapped = pkts[10];
	pkts[10] = pkts[11];
	pkts[11] = swapped;
	rte_pktmbuf_free_bulk(&pkts[20], 10);
	bench_give(&bench, pkts, 20);
	bench_give(&bench, &pkts[30], 11);
	swapped = rte_pktmbuf_copy(pkts[40], bench.pool, 0, UINT32_MAX);
	assert_non_null(swapped);
	bench_give(&bench, &swapped, 1);
	bench_give(&bench, &pkts[41], 59);
	while (lull_traffic_in_flight(bench.state) > 0)
		bench_iterate(&bench);
	assert_int_equal(tally(&bench)->received, 90);
	assert_int_equal(tally(&bench)->gaps, 10);
	assert_int_equal(tally(&bench)->duplicates, 1);
	assert_int_equal(tally(&bench)->reordered, 1);
	assert_int_equal(lull_traffic_lost(bench.state), 10);
	bench_close(&bench);
}

TEST(source__a_device_that_has_gone_is_sent_nothing)
{
	struct rte_mbuf *pkts[100];
	struct bench bench;

	bench_ports(&bench, 4 * RING_PKTS);
	bench.config.count_max = 100;
	bench_stage(&bench);
	__atomic_store_n(&lull_port_watch_gone[bench.config.tx_port_id], true, __ATOMIC_RELAXED);
	while (!lull_traffic_done(bench.state))
		bench_iterate(&bench);
	__atomic_store_n(&lull_port_watch_gone[bench.config.tx_port_id], false, __ATOMIC_RELAXED);
	assert_int_equal(bench_take(&bench, pkts, 100), 0);
	assert_int_equal(lull_traffic_counters(bench.state)->sent, 0);
	assert_int_equal(lull_traffic_counters(bench.state)->rejected, 100);
	bench_close(&bench);
}

TEST(sink__strangers_do_not_count)
{
	const struct lull_probe other = { .run = RUN + 1, .seq = 7 };
	struct rte_mbuf *pkts[2];
	struct bench bench;

	bench_ports(&bench, 4 * RING_PKTS);
	bench.config.arrival.kind = LULL_ARRIVAL_OFF;
	bench_stage(&bench);
	bench_iterate(&bench);
	assert_int_equal(rte_pktmbuf_alloc_bulk(bench.pool, pkts, 2), 0);
	memset(rte_pktmbuf_append(pkts[0], 42), 0x55, 42);
	lull_probe_write((uint8_t *)rte_pktmbuf_append(pkts[1], 60), 60, &other, 0);
	bench_give(&bench, pkts, 2);
	bench_iterate(&bench);
	assert_int_equal(counters(&bench)->rx_pkts, 2);
	assert_int_equal(counters(&bench)->other_run, 1);
	assert_int_equal(tally(&bench)->foreign, 1);
	assert_int_equal(tally(&bench)->received, 0);
	bench_close(&bench);
}

TEST(sink__a_sink_alone_joins_any_run)
{
	struct lull_probe probe = { .run = 9, .seq = 1000 };
	struct rte_mbuf *pkts[3];
	struct bench bench;

	bench_ports(&bench, 4 * RING_PKTS);
	bench.config.source = false;
	bench_stage(&bench);
	assert_int_equal(bench_iterate(&bench), 0);
	assert_true(lull_traffic_silent(bench.state));
	assert_int_equal(rte_pktmbuf_alloc_bulk(bench.pool, pkts, 3), 0);
	for (int i = 0; i < 3; i++, probe.seq += 2)
		lull_probe_write((uint8_t *)rte_pktmbuf_append(pkts[i], 60), 60, &probe, 0);
	bench_give(&bench, pkts, 3);
	bench_iterate(&bench);
	assert_int_equal(lull_traffic_received(bench.state), 3);
	assert_int_equal(lull_traffic_lost(bench.state), 2);
	assert_int_equal(lull_traffic_in_flight(bench.state), 0);
	bench_close(&bench);
}

/* ---- windows ---- */

TEST(sink__a_mark_begins_anew)
{
	struct rte_mbuf *pkts[RING_PKTS];
	struct lull_traffic_times times;
	uint16_t before, after;
	struct bench bench;

	bench_ports(&bench, 4 * RING_PKTS);
	bench.config.flow_count = 5;
	bench_stage(&bench);
	while (counters(&bench)->sent < 100)
		bench_iterate(&bench);
	before = (uint16_t)counters(&bench)->sent;
	lull_stage_traffic.mark(bench.state, lull_clock_ns());
	assert_int_equal(counters(&bench)->sent, 0);
	assert_int_equal(lull_traffic_in_flight(bench.state), 0);
	assert_int_equal(lull_traffic_histogram(bench.state, LULL_TRAFFIC_LATE)->count, 0);
	lull_traffic_times(bench.state, &times);
	assert_true(times.begin_ns > 0 && times.last_sent_ns == 0);
	while (counters(&bench)->sent < 100)
		bench_iterate(&bench);
	after = (uint16_t)counters(&bench)->sent;
	assert_int_equal(bench_take(&bench, pkts, RING_PKTS), before + after);
	/* the last of the old window comes when the new one has begun */
	bench_give(&bench, &pkts[before - 1], after + 1);
	while (tally(&bench)->received < after)
		bench_iterate(&bench);
	assert_int_equal(tally(&bench)->stale, 1);
	assert_int_equal(tally(&bench)->gaps, 0);
	assert_int_equal(tally(&bench)->reordered, 0);
	assert_int_equal(lull_traffic_histogram(bench.state, LULL_TRAFFIC_LATENCY)->count, after);
	rte_pktmbuf_free_bulk(pkts, before - 1);
	bench_drop(&bench);
	bench_close(&bench);
}

TEST_GROUP(stand_setup, stand_stop);
