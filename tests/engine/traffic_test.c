/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source: what leaves, when, and what becomes of what cannot leave. The last test lets real
 * loops run.
 */
#include <errno.h>

#include "engine/dpdk/port.h"
#include "traffic_bench.h"

/* ---- conservation ---- */

TEST(traffic__nobody_listens)
{
	struct bench bench;

	bench_ports(&bench, 4 * RING_PKTS);
	bench.config.count_max = 3000;
	bench_stage(&bench);
	bench_send_all(&bench);
	assert_int_equal(counters(&bench)->offered, 3000);
	assert_int_equal(counters(&bench)->sent, RING_PKTS);
	assert_int_equal(counters(&bench)->rejected, 3000 - RING_PKTS);
	assert_int_equal(counters(&bench)->no_buffer, 0);
	assert_int_equal(counters(&bench)->sent_bytes, RING_PKTS * LULL_PROBE_FRAME_MIN);
	assert_int_equal(tally(&bench)->received, 0);
	assert_int_equal(lull_traffic_lost(bench.state), 3000);
	assert_int_equal(lull_traffic_in_flight(bench.state), RING_PKTS);
	/* who should have received them is told */
	assert_int_equal(lull_port_missed(&bench.far), 3000 - RING_PKTS);
	assert_int_equal(bench_drop(&bench), RING_PKTS);
	bench_close(&bench);
}

TEST(traffic__everything_comes_back)
{
	struct bench bench;

	bench_ports(&bench, 4 * RING_PKTS);
	bench.config.count_max = 100000;
	bench.config.arrival.pps = 5e6;
	bench_stage(&bench);
	while (!lull_traffic_done(bench.state) || lull_traffic_in_flight(bench.state) > 0) {
		bench_iterate(&bench);
		bench_echo(&bench);
	}
	assert_int_equal(counters(&bench)->offered, 100000);
	assert_int_equal(counters(&bench)->sent + counters(&bench)->rejected, 100000);
	assert_int_equal(tally(&bench)->received, counters(&bench)->sent);
	assert_int_equal(counters(&bench)->rx_pkts, counters(&bench)->sent);
	assert_int_equal(counters(&bench)->rx_bytes, counters(&bench)->sent_bytes);
	assert_int_equal(lull_traffic_lost(bench.state), counters(&bench)->rejected);
	assert_int_equal(tally(&bench)->duplicates + tally(&bench)->reordered, 0);
	assert_int_equal(tally(&bench)->foreign + tally(&bench)->stale, 0);
	assert_int_equal(lull_traffic_histogram(bench.state, LULL_TRAFFIC_LATENCY)->count,
			 tally(&bench)->received);
	assert_int_equal(lull_traffic_histogram(bench.state, LULL_TRAFFIC_GAP)->count,
			 tally(&bench)->received);
	assert_int_equal(lull_traffic_histogram(bench.state, LULL_TRAFFIC_LATE)->count, 100000);
	assert_true(lull_traffic_latency_min_ns(bench.state) > 0);
	bench_close(&bench);
}

TEST(traffic__pool_runs_out)
{
	struct bench bench;

	bench_ports(&bench, 127);
	bench.config.count_max = 1000;
	bench_stage(&bench);
	bench_send_all(&bench);
	assert_int_equal(counters(&bench)->offered, 1000);
	assert_true(counters(&bench)->no_buffer > 0);
	assert_int_equal(counters(&bench)->sent + counters(&bench)->no_buffer, 1000);
	assert_int_equal(bench_drop(&bench), counters(&bench)->sent);
	bench_close(&bench);
}

/* ---- commands ---- */

static void
bench_command(struct bench *bench, const struct lull_arrival_config *arrival)
{
	const struct lull_traffic_command command = { .arrival = *arrival };

	lull_stage_traffic.command(bench->state, &command, sizeof(command), lull_clock_ns());
}

TEST(traffic__obeys_at_once)
{
	struct lull_arrival_config arrival = constant(1e6);
	struct bench bench;
	uint64_t offered, next_ns;

	bench_ports(&bench, 4 * RING_PKTS);
	bench_stage(&bench);
	next_ns = bench_iterate(&bench);
	assert_true(next_ns > 0);
	while (counters(&bench)->sent < 10)
		bench_iterate(&bench);
	arrival.kind = LULL_ARRIVAL_OFF;
	bench_command(&bench, &arrival);
	offered = counters(&bench)->offered;
	assert_int_equal(bench_iterate(&bench), 0);
	assert_true(lull_traffic_silent(bench.state));
	assert_false(lull_traffic_done(bench.state));
	assert_int_equal(counters(&bench)->offered, offered);
	/* one packet per second: the next is one second away, not what was missed meanwhile */
	arrival = constant(1);
	bench_command(&bench, &arrival);
	next_ns = bench_iterate(&bench);
	assert_int_equal(counters(&bench)->offered, offered);
	assert_true(next_ns > lull_clock_ns());
	assert_true(next_ns <= lull_clock_ns() + LULL_NS_PER_S);
	/* a command that makes no sense changes nothing */
	arrival.pps = -1;
	bench_command(&bench, &arrival);
	assert_int_equal(bench_iterate(&bench), next_ns);
	bench_drop(&bench);
	bench_close(&bench);
}

/* ---- what is in the frames ---- */

TEST(traffic__sizes_and_flows)
{
	struct rte_mbuf *pkts[300];
	uint32_t sizes[2] = { 0, 0 }, next_seq[LULL_TALLY_STREAMS] = { 0 };
	struct lull_probe probe;
	struct bench bench;
	uint16_t port;

	bench_ports(&bench, 4 * RING_PKTS);
	bench.config.flow_count = 20;
	bench.config.count_max = 300;
	bench.config.arrival.size_count = 2;
	bench.config.arrival.size_bytes[1] = 1514;
	bench.config.arrival.size_weight[1] = 1;
	bench_stage(&bench);
	bench_send_all(&bench);
	assert_int_equal(bench_take(&bench, pkts, 300), 300);
	for (uint32_t i = 0; i < 300; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(pkts[i], const uint8_t *);

		assert_true(lull_probe_read(frame, pkts[i]->data_len, &probe));
		assert_int_equal(pkts[i]->pkt_len, pkts[i]->data_len);
		sizes[pkts[i]->data_len == 1514]++;
		assert_true(pkts[i]->data_len == 60 || pkts[i]->data_len == 1514);
		assert_int_equal(probe.run, RUN);
		assert_int_equal(probe.stream, i % 20 % LULL_TALLY_STREAMS);
		assert_int_equal(probe.seq, next_seq[probe.stream]++);
		port = (uint16_t)(frame[34] << 8 | frame[35]);
		assert_int_equal((uint16_t)(port - 49152), i % 20);
		for (uint16_t at = 60; at < pkts[i]->data_len; at++)
			assert_int_equal(frame[at], 0);
	}
	assert_true(sizes[0] > 100 && sizes[1] > 100);
	rte_pktmbuf_free_bulk(pkts, 300);
	bench_close(&bench);
}

TEST(config_check__names_the_member)
{
	struct lull_traffic_config config = { .burst_pkts = 32, .flow_count = 1 };
	struct lull_range error;

	assert_int_equal(lull_traffic_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "source");
	config.sink = true;
	assert_int_equal(lull_traffic_config_check(&config, &error), 0);
	config.burst_pkts = 0;
	assert_int_equal(lull_traffic_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "burst_pkts");
	config.burst_pkts = 32;
	config.source = true;
	config.arrival = constant(1000);
	assert_int_equal(lull_traffic_config_check(&config, &error), 0);
	config.flow_count = 65537;
	assert_int_equal(lull_traffic_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "flow_count");
	config.flow_count = 65536;
	config.arrival.size_bytes[0] = 59;
	assert_int_equal(lull_traffic_config_check(&config, NULL), -EINVAL);
}

/* ---- real loops ---- */

static struct lull_loop_config
traffic_loop(const struct bench *bench)
{
	struct lull_loop_config config = {
		.name = "gen0",
		.kind = "traffic",
		.lcore_id = 2,
		.queue_count = 1,
		.queues = { { .port_id = bench->near.port_id } },
		.burst_pkts = BURST_PKTS,
		.governor = lull_idle_governor_find("yield"),
		.limits = stand_limits(),
		.stage = &lull_stage_traffic,
		.stage_config = &bench->config,
	};

	return config;
}

static struct lull_loop *
loop_start(const struct lull_loop_config *config)
{
	struct lull_error error = { "" };
	struct lull_loop *loop;

	if (lull_loop_create(config, &loop, &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(lull_loop_start(loop), 0);
	return loop;
}

/* Under load, through a forwarder, with marks in between: nothing is lost without being counted. */
TEST(traffic__loops_conserve_packets)
{
	struct lull_loop_config forward_config, traffic_config;
	const struct lull_forward_counters *forwarded;
	struct lull_forward_config forward;
	struct lull_loop *far, *near;
	struct bench bench;
	const void *found;
	uint64_t dropped;

	bench_ports(&bench, 8 * RING_PKTS);
	bench.config.count_max = 300000;
	bench.config.arrival.pps = 600e3;
	forward_config = stand_loop("fwd0", 1, &bench.far, &forward);
	forward_config.governor = lull_idle_governor_find("yield");
	traffic_config = traffic_loop(&bench);
	far = loop_start(&forward_config);
	near = loop_start(&traffic_config);
	bench.state = (void *)(uintptr_t)lull_loop_stage_state(near);
	STAND_WAIT(lull_traffic_done(bench.state));
	found = (const char *)lull_loop_stage_state(far) + lull_stage_forward.counters_offset;
	forwarded = found;
	STAND_WAIT(LULL_COUNTER_READ(forwarded->rx_pkts) == counters(&bench)->sent);
	STAND_WAIT(LULL_COUNTER_READ(forwarded->tx_pkts) + LULL_COUNTER_READ(forwarded->tx_drops) ==
		   counters(&bench)->sent);
	dropped = LULL_COUNTER_READ(forwarded->tx_drops);
	STAND_WAIT(LULL_COUNTER_READ(tally(&bench)->received) == counters(&bench)->sent - dropped);
	assert_int_equal(counters(&bench)->offered, 300000);
	assert_int_equal(counters(&bench)->sent + counters(&bench)->rejected +
				 counters(&bench)->no_buffer,
			 300000);
	assert_int_equal(tally(&bench)->duplicates + tally(&bench)->reordered, 0);
	assert_int_equal(lull_traffic_lost(bench.state),
			 counters(&bench)->rejected + counters(&bench)->no_buffer + dropped);
	lull_loop_destroy(near);
	lull_loop_destroy(far);
	bench.state = NULL;
	bench_close(&bench);
}

TEST_GROUP(stand_setup, stand_stop);
