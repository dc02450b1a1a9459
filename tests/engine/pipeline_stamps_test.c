/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of a port that stamps them by a clock of its own: 0.75 ticks per ns, from anywhere. The
 * port is a ring whose driver is told to have that.
 */
#include "pipeline_stand.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <rte_ethdev.h>
#include <rte_mbuf_dyn.h>

#include "engine/flow/stage.h"

#define FLOWS 15
#define OFF_NS (2 * LULL_NS_PER_MS)
#define BEGIN_TICKS UINT64_C(0xffffffff00000000)

static struct frames frames;
static bool has_clock;
static uint64_t asked; /* offloads, by the last configuration */

static uint64_t
device_ticks(uint64_t clock_ns)
{
	return BEGIN_TICKS + clock_ns / 4 * 3;
}

int __wrap_rte_eth_read_clock(uint16_t port_id, uint64_t *ticks);
int
__wrap_rte_eth_read_clock(uint16_t port_id, uint64_t *ticks)
{
	(void)port_id;
	*ticks = device_ticks(lull_clock_ns());
	return has_clock ? 0 : -ENOTSUP;
}

int __real_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int
__wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int rc = __real_rte_eth_dev_info_get(port_id, info);

	info->rx_offload_capa |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	return rc;
}

int __real_rte_eth_dev_configure(uint16_t port_id, uint16_t rx_queues, uint16_t tx_queues,
				 const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_configure(uint16_t port_id, uint16_t rx_queues, uint16_t tx_queues,
				 const struct rte_eth_conf *conf);
int
__wrap_rte_eth_dev_configure(uint16_t port_id, uint16_t rx_queues, uint16_t tx_queues,
			     const struct rte_eth_conf *conf)
{
	struct rte_eth_conf real = *conf;

	asked = conf->rxmode.offloads;
	real.rxmode.offloads &= ~RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	return __real_rte_eth_dev_configure(port_id, rx_queues, tx_queues, &real);
}

static int
setup(void **state)
{
	(void)state;
	frames_make(&frames, 1, 8, 64, LULL_NS_PER_S, LULL_NS_PER_US);
	return stand_start_many(NULL, PIPELINE_LOOPS);
}

static int
teardown(void **state)
{
	frames_free(&frames);
	return stand_stop(state);
}

static uint64_t
day_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * LULL_NS_PER_S + (uint64_t)time.tv_nsec;
}

/* A packet of @p flow that @p far says to have received at @p ticks; rings leave that to us. */
static void
send_stamped(const struct lull_port *near, const struct lull_port *far, uint32_t flow,
	     uint64_t ticks)
{
	struct rte_mbuf *pkt;
	uint64_t flag;
	int offset;

	assert_int_equal(rte_mbuf_dyn_rx_timestamp_register(&offset, &flag), 0);
	STAND_WAIT((pkt = rte_pktmbuf_alloc(stand_pool())) != NULL);
	pkt->data_len = (uint16_t)frame_write(rte_pktmbuf_mtod(pkt, uint8_t *), flow, 0, false, 20);
	pkt->pkt_len = pkt->data_len;
	pkt->port = far->port_id;
	pkt->ol_flags |= flag;
	*RTE_MBUF_DYNFIELD(pkt, offset, rte_mbuf_timestamp_t *) = ticks;
	STAND_WAIT(rte_eth_tx_burst(near->port_id, 0, &pkt, 1) == 1);
}

static int
order(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

TEST(stamps__are_those_of_the_port)
{
	struct lull_port near, far;
	int64_t off_ns[FLOWS];
	uint64_t sent_ns[FLOWS];
	struct bench bench;

	has_clock = true;
	port_init(&bench, &frames, "stamps", &near, &far);
	assert_true(far.rx_stamps);
	bench_start(&bench, &far);
	STAND_WAIT(__atomic_load_n(&bench.pipeline->ios[0]->ticks[far.port_id].known,
				   __ATOMIC_RELAXED));
	for (uint32_t i = 0; i < FLOWS; i++) {
		uint64_t now_ns = lull_clock_ns();

		/* Two that waited in the ring, and one from another clock. */
		sent_ns[i] = day_ns();
		send_stamped(&near, &far, 3 * i, device_ticks(now_ns - 30 * LULL_NS_PER_MS));
		send_stamped(&near, &far, 3 * i, device_ticks(now_ns - 5 * LULL_NS_PER_MS));
		STAND_WAIT(totals_of(&bench).totals.rx == 2 * i + 2);
	}
	send_stamped(&near, &far, 3 * FLOWS, UINT64_C(1) << 61);
	STAND_WAIT(totals_of(&bench).totals.rx == 2 * FLOWS + 1);
	bench_finish(&bench);
	assert_int_equal(bench.pipeline->ios[0]->counters.port_stamps, 2 * FLOWS);
	assert_int_equal(bench.pipeline->ios[0]->counters.port_stamps_odd, 1);
	assert_int_equal(bench.kept[0].count, FLOWS + 1);
	for (uint32_t i = 0; i <= FLOWS; i++) {
		const struct lull_flow_record *record = &bench.kept[0].records[i];
		uint32_t flow =
			((uint32_t)record->key.addr[0][2] << 8 | record->key.addr[0][3]) / 3;

		if (flow == FLOWS) {
			assert_int_equal(record->first_ns, record->last_ns);
			assert_in_range(record->first_ns, sent_ns[0], day_ns());
			continue;
		}
		off_ns[flow] =
			llabs((int64_t)(record->first_ns + 30 * LULL_NS_PER_MS - sent_ns[flow])) +
			llabs((int64_t)(record->last_ns - record->first_ns - 25 * LULL_NS_PER_MS));
	}
	/* Somebody may have had the CPU between two clocks: most are right. */
	qsort(off_ns, FLOWS, sizeof(off_ns[0]), order);
	assert_in_range(off_ns[FLOWS / 2], 0, OFF_NS);
	bench_close(&bench);
	lull_port_close(&near);
	lull_port_close(&far);
}

/* Ticks of a clock that nobody can read tell nothing. */
TEST(stamps__not_without_a_clock)
{
	struct lull_port near, far;
	struct bench bench;

	has_clock = false;
	port_init(&bench, &frames, "none", &near, &far);
	assert_false(far.rx_stamps);
	assert_int_equal(asked & RTE_ETH_RX_OFFLOAD_TIMESTAMP, 0);
	has_clock = true;
	lull_port_close(&near);
	lull_port_close(&far);
	port_init(&bench, &frames, "some", &near, &far);
	assert_int_equal(asked & RTE_ETH_RX_OFFLOAD_TIMESTAMP, RTE_ETH_RX_OFFLOAD_TIMESTAMP);
	lull_port_close(&near);
	lull_port_close(&far);
}

TEST_GROUP(setup, teardown);
