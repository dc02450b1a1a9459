/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the sleep model's test framework, driven iteration by iteration in a time that the
 * test makes.
 */
#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "engine/model/model.h"
#include "stand.h"

#define RING_PKTS 256
#define BURST 32
#define LEN 60
#define WIRE_NS 672 /* of 60 bytes, CRC, preamble and gap at 1 Gbit/s */

struct stage {
	const struct lull_stage *is;
	void *state;
};

static struct stage
stage_make(const struct lull_stage *is, const void *config)
{
	struct stage stage = { is, rte_zmalloc("stage", is->state_size, LULL_CACHE_LINE) };

	assert_non_null(stage.state);
	assert_int_equal(is->init(stage.state, config, 0), 0);
	return stage;
}

static const void *
stage_counters(const struct stage *stage)
{
	return (const char *)stage->state + stage->is->counters_offset;
}

/* Put frames into a ring; they are numbered by what the pool hands out. */
static void
give(const struct lull_port *port, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct rte_mbuf *pkt = rte_pktmbuf_alloc(stand_pool());

		assert_non_null(pkt);
		assert_non_null(rte_pktmbuf_append(pkt, LEN));
		assert_int_equal(rte_eth_tx_burst(port->port_id, 0, &pkt, 1), 1);
	}
}

static uint32_t
take(const struct lull_port *port, uint32_t count_max)
{
	struct rte_mbuf *pkts[RING_PKTS];
	uint32_t count = 0;
	uint16_t got;

	while (count < count_max && (got = rte_eth_rx_burst(port->port_id, 0, pkts, 1)) > 0) {
		rte_pktmbuf_free_bulk(pkts, got);
		count += got;
	}
	return count;
}

struct wire {
	struct lull_port send, in, out, receive;
	struct stage link;
};

static void
wire_make(struct wire *wire)
{
	struct lull_link_config config = { .burst_pkts = BURST, .ring_pkts = RING_PKTS };

	stand_pair("wire_tx", 1, RING_PKTS, &wire->send, &wire->in);
	stand_pair("wire_rx", 1, RING_PKTS, &wire->out, &wire->receive);
	config.rx_port_id = wire->in.port_id;
	config.tx_port_id = wire->out.port_id;
	config.mbps = 1000;
	wire->link = stage_make(&lull_stage_link, &config);
}

static void
wire_end(struct wire *wire)
{
	struct lull_port *ports[] = { &wire->send, &wire->in, &wire->out, &wire->receive };

	rte_free(wire->link.state);
	for (int i = 0; i < 4; i++) {
		take(ports[i], UINT32_MAX);
		lull_port_close(ports[i]);
	}
}

TEST(link__carries_at_its_rate)
{
	uint64_t now_ns = LULL_NS_PER_S;
	uint32_t carried = 0;
	struct wire wire;

	wire_make(&wire);
	wire.link.is->iterate(wire.link.state, now_ns);
	give(&wire.send, 100);
	for (int i = 0; i < 10; i++) {
		now_ns += 5 * WIRE_NS;
		wire.link.is->iterate(wire.link.state, now_ns);
		carried += take(&wire.receive, UINT32_MAX);
		assert_int_equal(carried, 5 * (i + 1));
	}
	wire_end(&wire);
}

TEST(link__silence_is_not_saved_up)
{
	uint64_t now_ns = LULL_NS_PER_S;
	struct wire wire;

	wire_make(&wire);
	wire.link.is->iterate(wire.link.state, now_ns);
	now_ns += LULL_NS_PER_MS;
	wire.link.is->iterate(wire.link.state, now_ns);
	give(&wire.send, 100);
	now_ns += 3 * WIRE_NS;
	wire.link.is->iterate(wire.link.state, now_ns);
	assert_int_equal(take(&wire.receive, UINT32_MAX), 3);
	wire_end(&wire);
}

TEST(link__coming_late_makes_no_flood)
{
	const struct lull_link_counters *counters;
	uint64_t now_ns = LULL_NS_PER_S;
	struct wire wire;

	wire_make(&wire);
	counters = stage_counters(&wire.link);
	wire.link.is->iterate(wire.link.state, now_ns);
	give(&wire.send, RING_PKTS);
	wire.link.is->iterate(wire.link.state, now_ns + 1000 * WIRE_NS);
	assert_int_equal(take(&wire.receive, UINT32_MAX), RING_PKTS / 4);
	assert_int_equal(counters->stood_ns, (1000 - RING_PKTS / 4) * WIRE_NS);
	assert_int_equal(counters->missed, 0);
	wire_end(&wire);
}

TEST(link__full_receiver_misses)
{
	const struct lull_link_counters *counters;
	uint64_t now_ns = LULL_NS_PER_S;
	struct wire wire;

	wire_make(&wire);
	counters = stage_counters(&wire.link);
	wire.link.is->iterate(wire.link.state, now_ns);
	for (int i = 0; i < 10; i++) {
		give(&wire.send, 30);
		now_ns += 30 * WIRE_NS;
		wire.link.is->iterate(wire.link.state, now_ns);
	}
	assert_int_equal(counters->pkts, RING_PKTS);
	assert_int_equal(counters->missed, 300 - RING_PKTS);
	assert_int_equal(lull_port_missed(&wire.receive), 300 - RING_PKTS);
	assert_int_equal(take(&wire.receive, UINT32_MAX), RING_PKTS);
	wire_end(&wire);
}

TEST(produce__numbers_stay_in_a_row_when_held_up)
{
	struct lull_produce_config config = {
		.len_bytes = LEN, .burst_pkts = BURST, .ring_pkts = RING_PKTS, .run = 7
	};
	const struct lull_produce_counters *counters;
	const struct lull_tally_counters *tally;
	struct stage produce, consume;
	struct lull_port send, receive;
	struct rte_mbuf *pkts[BURST];
	struct lull_error error;
	uint16_t count;

	stand_pair("produce", 1, RING_PKTS, &send, &receive);
	config.tx_port_id = send.port_id;
	config.pool = lull_pool_create("produce", 4 * RING_PKTS, LEN, &error);
	assert_non_null(config.pool);
	produce = stage_make(&lull_stage_produce, &config);
	consume = stage_make(&lull_stage_consume, NULL);
	counters = stage_counters(&produce);
	tally = stage_counters(&consume);
	for (int i = 1; i <= 20; i++) {
		produce.is->iterate(produce.state, (uint64_t)i);
		/* leaves room for less than a burst */
		count = rte_eth_rx_burst(receive.port_id, 0, pkts, BURST - 5);
		consume.is->burst(consume.state, 0, pkts, count, (uint64_t)i);
	}
	assert_true(counters->held_up > 0);
	assert_int_equal(tally->received, 20 * (BURST - 5));
	assert_int_equal(tally->gaps + tally->duplicates + tally->foreign + tally->reordered, 0);
	assert_int_equal(counters->pkts, tally->received + take(&receive, UINT32_MAX));
	rte_free(produce.state);
	rte_free(consume.state);
	lull_port_close(&send);
	lull_port_close(&receive);
}

TEST(produce__keeps_its_rate)
{
	struct lull_produce_config config = {
		.len_bytes = LEN, .burst_pkts = BURST, .ring_pkts = RING_PKTS, .pps = 100000
	};
	const struct lull_produce_counters *counters;
	uint64_t now_ns = LULL_NS_PER_S, taken = 0;
	struct lull_port send, receive;
	struct lull_error error;
	struct stage produce;

	stand_pair("rated", 1, RING_PKTS, &send, &receive);
	config.tx_port_id = send.port_id;
	config.pool = lull_pool_create("rated", 4 * RING_PKTS, LEN, &error);
	assert_non_null(config.pool);
	produce = stage_make(&lull_stage_produce, &config);
	counters = stage_counters(&produce);
	for (int i = 0; i <= 3000; i++) {
		produce.is->iterate(produce.state, now_ns);
		taken += take(&receive, UINT32_MAX);
		now_ns += LULL_NS_PER_MS;
	}
	assert_int_equal(taken, 300000);
	/* held up for longer than a ring holds: no more than the ring is made up for */
	produce.is->iterate(produce.state, now_ns + LULL_NS_PER_S);
	assert_int_equal(take(&receive, UINT32_MAX), RING_PKTS);
	assert_int_equal(counters->pkts, 300000 + RING_PKTS);
	rte_free(produce.state);
	lull_port_close(&send);
	lull_port_close(&receive);
}

TEST(sleep__each_function_lasts_as_asked)
{
	const struct lull_model_sleep *sleep = lull_model_sleeps;

	for (; sleep->name != NULL; sleep++) {
		uint64_t begin_ns = lull_clock_ns();

		assert_int_equal(sleep->way.idle_state, LULL_IDLE_SLEEP);
		assert_int_equal(sleep->way.probe(NULL), 0);
		assert_int_equal(sleep->way.run(NULL, 2 * LULL_NS_PER_MS), LULL_WAKE_TIMER);
		/* block goes by another clock, which may run a little faster */
		assert_true(lull_clock_ns() - begin_ns >= 2 * LULL_NS_PER_MS * 99 / 100);
	}
}

TEST(loop__rests_in_the_way_given)
{
	struct lull_forward_config forward;
	struct lull_loop_config config;
	struct lull_port near, far;
	struct lull_loop *loop;

	stand_pair("way", 1, RING_PKTS, &near, &far);
	config = stand_loop("way", 1, &far, &forward);
	config.governor = lull_idle_governor_find("fixed");
	config.limits.rest_ns = 100 * LULL_NS_PER_US;
	config.way = &lull_model_sleeps[0].way; /* spins: CPU time goes on while it rests */
	config.slack_ns = LULL_NS_PER_US;
	loop = stand_run(&config);
	STAND_WAIT(LULL_COUNTER_READ(lull_loop_counters(loop)->rests[LULL_IDLE_SLEEP]) > 100);
	lull_loop_stop(loop);
	assert_true(lull_thread_cpu_ns(lull_loop_tid(loop)) > 50 * 100 * LULL_NS_PER_US);
	lull_loop_destroy(loop);
	lull_port_close(&near);
	lull_port_close(&far);
}

TEST(forward__waits_for_room)
{
	const struct lull_forward_counters *counters;
	struct lull_port near, far, out, end;
	struct lull_forward_config forward;
	struct lull_loop_config config;
	struct lull_loop *loop;
	const void *at;
	uint32_t got = 0;

	stand_pair("wait_a", 1, RING_PKTS, &near, &far);
	stand_pair("wait_b", 1, RING_PKTS, &out, &end);
	config = stand_loop("wait", 1, &far, &forward);
	forward.tx[0].port_id = out.port_id;
	forward.wait = true;
	loop = stand_run(&config);
	lull_loop_stage_counters(loop, &at);
	counters = at;
	give(&near, RING_PKTS);
	STAND_WAIT(LULL_COUNTER_READ(counters->tx_pkts) == RING_PKTS);
	give(&near, BURST);
	/* far beyond what it would try without being told to wait */
	STAND_WAIT(LULL_COUNTER_READ(counters->tx_retries) > 200);
	STAND_WAIT((got += take(&end, 1)) == RING_PKTS + BURST);
	lull_loop_stop(loop);
	assert_int_equal(counters->tx_drops, 0);
	lull_loop_destroy(loop);
	lull_port_close(&near);
	lull_port_close(&far);
	lull_port_close(&out);
	lull_port_close(&end);
}

TEST(cost__of_calls_with_and_without_packets)
{
	struct lull_burst_cost cost = { .burst_pkts = 0 }, full = { 64, LEN, 0, 0, 0 };
	struct lull_port a, b;

	stand_pair("cost", 1, RING_PKTS, &a, &b);
	assert_int_equal(lull_burst_cost(a.port_id, b.port_id, stand_pool(), &cost), 0);
	assert_int_equal(lull_burst_cost(a.port_id, b.port_id, stand_pool(), &full), 0);
	assert_true(cost.samples > 0 && full.samples > 0);
	assert_true(cost.rx_ns > 0 && cost.tx_ns > 0 && full.rx_ns > 0 && full.tx_ns > 0);
	assert_int_equal(take(&b, UINT32_MAX), 0);
	lull_port_close(&a);
	lull_port_close(&b);
}

TEST_GROUP(stand_setup, stand_stop);
