/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forward stage in a real loop over ring ports: every packet sent comes back once, in order,
 * under every governor and in every mode; what cannot be sent is counted.
 */
#include <stdlib.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "base/prng.h"
#include "stand.h"

#define PKTS 4000
#define BURST 64
#define RING 512

/* What the stage counted; its table is the way in, as for telemetry. */
static uint64_t
counter(const struct lull_loop *loop, const char *name)
{
	const struct lull_stage *stage = lull_loop_stage(loop);
	const uint8_t *counters =
		(const uint8_t *)lull_loop_stage_state(loop) + stage->counters_offset;

	for (const struct lull_counter_info *row = stage->counters; row->name != NULL; row++) {
		if (strcmp(row->name, name) == 0)
			return LULL_COUNTER_READ(
				*(const uint64_t *)(const void *)(counters + row->offset));
	}
	fail_msg("no counter %s", name);
	return 0;
}

struct flight {
	const struct lull_port *near;
	uint32_t sent, received;
	bool swapped;
	bool returns; /* what is sent comes back */
};

static void
flight_receive(struct flight *flight)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t count = rte_eth_rx_burst(flight->near->port_id, 0, pkts, BURST);

	for (uint16_t i = 0; i < count; i++)
		assert_int_equal(stand_take(pkts[i], flight->swapped), flight->received++);
}

static void
flight_send(struct flight *flight, uint32_t count)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t made = 0, sent = 0;

	/* Never more under way than the ring on the way back holds: nothing may be dropped. */
	if (flight->returns)
		STAND_WAIT(
			(flight_receive(flight), flight->sent + count - flight->received <= RING));
	while (made < count &&
	       (pkts[made] = stand_frame(stand_pool(), flight->sent + made)) != NULL)
		made++;
	while (sent < made) {
		sent = (uint16_t)(sent + rte_eth_tx_burst(flight->near->port_id, 0, pkts + sent,
							  (uint16_t)(made - sent)));
		flight_receive(flight);
	}
	flight->sent += made;
}

/* Bursts of all sizes with pauses of all lengths in between. */
static void
flight_fly(struct flight *flight, struct lull_prng *prng)
{
	while (flight->sent < PKTS) {
		flight_send(flight, 1 + (uint32_t)lull_prng_below(prng, BURST));
		if (lull_prng_below(prng, 4) == 0)
			rte_delay_us_sleep((unsigned int)lull_prng_below(prng, 400));
		flight_receive(flight);
	}
}

static void
conserve(const struct lull_idle_governor *governor, enum lull_forward_mode mode, uint64_t seed)
{
	struct lull_forward_config forward;
	struct lull_port near, far;
	struct lull_loop_config config;
	struct lull_prng prng;
	struct lull_loop *loop;
	struct flight flight = { .near = &near,
				 .swapped = mode == LULL_FORWARD_MACSWAP,
				 .returns = mode != LULL_FORWARD_SINK };

	lull_prng_init(&prng, seed, 0);
	stand_pair("forward", 1, RING, &near, &far);
	config = stand_loop("fwd0", 1, &far, &forward);
	config.governor = governor;
	forward.mode = mode;
	loop = stand_run(&config);
	flight_fly(&flight, &prng);
	if (mode == LULL_FORWARD_SINK)
		STAND_WAIT(counter(loop, "rx_pkts") == flight.sent);
	else
		STAND_WAIT((flight_receive(&flight), flight.received == flight.sent));
	lull_loop_stop(loop);
	assert_int_equal(counter(loop, "rx_pkts"), flight.sent);
	assert_int_equal(counter(loop, "tx_pkts"), flight.received);
	assert_int_equal(counter(loop, "tx_drops"), 0);
	assert_int_equal(lull_loop_counters(loop)->pkts, flight.sent);
	lull_loop_destroy(loop);
	lull_port_close(&near);
	lull_port_close(&far);
	/* All buffers are back. */
	assert_int_equal(rte_mempool_in_use_count(stand_pool()), 0);
}

TEST(forward__conserves_packets_under_every_governor_in_every_mode)
{
	const char *given = getenv("LULL_SEED");
	uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : lull_clock_ns();

	print_message("   LULL_SEED=%llu\n", (unsigned long long)seed);
	for (int i = 0; lull_idle_governors[i] != NULL; i++) {
		for (int mode = LULL_FORWARD_IO; mode <= LULL_FORWARD_SINK; mode++)
			conserve(lull_idle_governors[i], (enum lull_forward_mode)mode, seed);
	}
}

/* Two pairs and two queues each: what comes on queue i leaves on tx[i], nowhere else. */
TEST(forward__keeps_queues_apart)
{
	struct lull_port in_near, in_far, out_near, out_far;
	struct lull_forward_config forward;
	struct lull_loop_config config;
	struct lull_loop *loop;
	uint32_t received[2] = { 0, 0 };

	stand_pair("in", 2, 512, &in_near, &in_far);
	stand_pair("out", 2, 512, &out_near, &out_far);
	config = stand_loop("fwd0", 1, &in_far, &forward);
	config.queue_count = 2;
	config.queues[1] = (struct lull_loop_queue){ in_far.port_id, 1 };
	forward.queue_count = 2;
	/* Crossed over. */
	forward.tx[0].port_id = out_far.port_id;
	forward.tx[0].queue_id = 1;
	forward.tx[1].port_id = out_far.port_id;
	forward.tx[1].queue_id = 0;
	loop = stand_run(&config);
	for (uint16_t queue = 0; queue < 2; queue++) {
		for (uint32_t i = 0; i < 100u + queue; i++) {
			struct rte_mbuf *pkt = stand_frame(stand_pool(), i);

			assert_int_equal(rte_eth_tx_burst(in_near.port_id, queue, &pkt, 1), 1);
		}
	}
	for (uint16_t queue = 0; queue < 2; queue++) {
		struct rte_mbuf *pkt;

		STAND_WAIT(received[queue] == 100u + (queue == 0) ||
			   (rte_eth_rx_burst(out_near.port_id, queue, &pkt, 1) == 1 &&
			    (assert_int_equal(stand_take(pkt, false), received[queue]),
			     received[queue]++, false)));
	}
	lull_loop_destroy(loop);
	lull_port_close(&in_near);
	lull_port_close(&in_far);
	lull_port_close(&out_near);
	lull_port_close(&out_far);
}

/* Nobody takes what is sent: the ring fills, retries end, every packet is counted and freed. */
TEST(forward__counts_what_it_cannot_send)
{
	struct lull_forward_config forward;
	struct lull_port near, far;
	struct lull_loop_config config;
	struct lull_loop *loop;

	stand_pair("full", 1, 64, &near, &far);
	config = stand_loop("fwd0", 1, &far, &forward);
	loop = stand_run(&config);
	for (uint32_t i = 0; i < 300; i++) {
		struct rte_mbuf *pkt = stand_frame(stand_pool(), i);

		STAND_WAIT(rte_eth_tx_burst(near.port_id, 0, &pkt, 1) == 1);
	}
	STAND_WAIT(counter(loop, "tx_pkts") + counter(loop, "tx_drops") == 300);
	assert_int_equal(counter(loop, "tx_pkts"), 64);
	assert_true(counter(loop, "tx_retries") > 0);
	lull_loop_destroy(loop);
	lull_port_close(&near);
	lull_port_close(&far);
	assert_int_equal(rte_mempool_in_use_count(stand_pool()), 0);
}

/* ---- a full Tx ring, at times that the test says ---- */

struct jam {
	struct lull_port near[2], far[2];
	void *state; /* of the stage: queue i to far[i] */
};

static void
jam_begin(struct jam *jam)
{
	struct lull_forward_config config = { .queue_count = 2 };

	stand_pair("jam", 1, 64, &jam->near[0], &jam->far[0]);
	stand_pair("free", 1, 512, &jam->near[1], &jam->far[1]);
	for (uint32_t i = 0; i < 2; i++)
		config.tx[i].port_id = jam->far[i].port_id;
	jam->state = calloc(1, lull_stage_forward.state_size);
	assert_int_equal(lull_stage_forward.init(jam->state, &config, 0), 0);
}

static void
jam_end(struct jam *jam)
{
	lull_stage_forward.fini(jam->state);
	free(jam->state);
	for (uint32_t i = 0; i < 2; i++) {
		lull_port_close(&jam->near[i]);
		lull_port_close(&jam->far[i]);
	}
	assert_int_equal(rte_mempool_in_use_count(stand_pool()), 0);
}

static void
jam_burst(const struct jam *jam, uint32_t queue, uint32_t number, uint16_t count, uint64_t now_ns)
{
	struct rte_mbuf *pkts[BURST];

	for (uint16_t i = 0; i < count; i++)
		pkts[i] = stand_frame(stand_pool(), number + i);
	lull_stage_forward.burst(jam->state, queue, pkts, count, now_ns);
}

static const struct lull_forward_counters *
jam_counters(const struct jam *jam)
{
	return (const void *)((const uint8_t *)jam->state + lull_stage_forward.counters_offset);
}

/* All that has left by a queue, in order from @p number on. */
static uint32_t
jam_take(const struct jam *jam, uint32_t queue, uint32_t number)
{
	struct rte_mbuf *pkt;
	uint32_t taken = 0;

	while (rte_eth_rx_burst(jam->near[queue].port_id, 0, &pkt, 1) == 1)
		assert_int_equal(stand_take(pkt, false), number + taken++);
	return taken;
}

/* 64 us a burst it took before, of the whole loop. */
TEST(full_ring__delays_no_other_queue)
{
	uint64_t begin_ns, used_ns;
	struct jam jam;

	jam_begin(&jam);
	jam_burst(&jam, 0, 0, 64, 1000);
	begin_ns = lull_thread_cpu_ns(gettid());
	for (uint32_t i = 0; i < 200; i++) {
		jam_burst(&jam, 0, 64 + i, 1, 1000);
		lull_stage_forward.iterate(jam.state, 1000);
		jam_burst(&jam, 1, i, 1, 1000);
		lull_stage_forward.iterate(jam.state, 1000);
	}
	used_ns = lull_thread_cpu_ns(gettid()) - begin_ns;
	print_message("   %.2f us of CPU for two bursts\n", (double)used_ns / 200e3);
	assert_true(used_ns < 200 * 20 * LULL_NS_PER_US);
	assert_int_equal(jam_take(&jam, 1, 0), 200);
	/* and its own packets have lost nothing, in order */
	assert_int_equal(jam_take(&jam, 0, 0), 64);
	for (uint32_t taken = 64; taken < 264; taken += 64) {
		lull_stage_forward.iterate(jam.state, 2000);
		assert_int_equal(jam_take(&jam, 0, taken), LULL_MIN(264 - taken, 64u));
	}
	assert_int_equal(lull_stage_forward.iterate(jam.state, 2000), 0);
	assert_int_equal(jam_counters(&jam)->tx_drops, 0);
	jam_end(&jam);
}

TEST(full_ring__is_given_up_after_64_us_without_room)
{
	const struct lull_forward_counters *counters;
	struct jam jam;

	jam_begin(&jam);
	counters = jam_counters(&jam);
	jam_burst(&jam, 0, 0, 64, 1000);
	assert_int_equal(lull_stage_forward.iterate(jam.state, 1000), 0);
	jam_burst(&jam, 0, 64, 10, 2000);
	/* no rest while it waits */
	assert_int_equal(lull_stage_forward.iterate(jam.state, 2000 + 63999), 2000 + 63999);
	assert_int_equal(counters->tx_drops, 0);
	/* the ring takes a few: it has its 64 us once more */
	assert_int_equal(jam_take(&jam, 0, 0), 64);
	jam_burst(&jam, 0, 74, 64, 2000 + 63999);
	lull_stage_forward.iterate(jam.state, 2000 + 63999);
	assert_int_equal(counters->tx_pkts, 64 + 64);
	assert_true(lull_stage_forward.iterate(jam.state, 2000 + 2 * 63999) != 0);
	assert_int_equal(counters->tx_drops, 0);
	assert_int_equal(lull_stage_forward.iterate(jam.state, 2000 + 63999 + 64000), 0);
	assert_int_equal(counters->tx_drops, 10);
	jam_take(&jam, 0, 64);
	jam_end(&jam);
}

/* No more than it has room for, and what is left at the end is counted. */
TEST(full_ring__counts_what_is_left)
{
	const struct lull_forward_counters *counters;
	struct jam jam;

	jam_begin(&jam);
	counters = jam_counters(&jam);
	for (uint32_t i = 0; i < 7; i++)
		jam_burst(&jam, 0, 64 * i, 64, 1000);
	assert_int_equal(counters->tx_pkts, 64);
	assert_int_equal(counters->tx_drops, 6 * 64 - LULL_BURST_MAX);
	lull_stage_forward.end(jam.state);
	assert_int_equal(counters->tx_drops, 6 * 64);
	assert_int_equal(jam_take(&jam, 0, 0), 64);
	jam_end(&jam);
}

TEST_GROUP(stand_setup, stand_stop);
