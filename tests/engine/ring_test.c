/* SPDX-License-Identifier: BSD-3-Clause */
/* How many descriptors a port is opened with, by what its driver tells and the user asks for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "program/live/ports.h"
#include "stand.h"

/* ---- a NIC that says what the test wants, over a ring ---- */

static struct {
	uint16_t desc_max, desc_align;
	uint16_t refused_from; /* Rx rings of so many are refused; 0: none */
	uint32_t link_mbps;    /* 0: down; then it may have speed_capa */
	uint32_t speed_capa;
	bool hardware;
	const char *name;
	uint16_t rx_desc, tx_desc, setups; /* what was asked for last */
	uint32_t mbufs;                    /* of the pool made last */
} nic;

int __real_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int
__wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int rc = __real_rte_eth_dev_info_get(port_id, info);

	info->driver_name = nic.name;
	info->rx_desc_lim.nb_max = nic.desc_max;
	info->rx_desc_lim.nb_align = nic.desc_align;
	info->speed_capa = nic.speed_capa;
	return rc;
}

int __wrap_rte_eth_link_get_nowait(uint16_t port_id, struct rte_eth_link *link);
int
__wrap_rte_eth_link_get_nowait(uint16_t port_id, struct rte_eth_link *link)
{
	(void)port_id;
	memset(link, 0, sizeof(*link));
	link->link_speed = nic.link_mbps;
	link->link_status = nic.link_mbps > 0 ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN;
	return 0;
}

const char *__real_rte_bus_name(const struct rte_bus *bus);
const char *__wrap_rte_bus_name(const struct rte_bus *bus);
const char *
__wrap_rte_bus_name(const struct rte_bus *bus)
{
	return nic.hardware ? "pci" : __real_rte_bus_name(bus);
}

int __real_rte_eth_rx_queue_setup(uint16_t port_id, uint16_t queue_id, uint16_t desc,
				  unsigned int socket, const struct rte_eth_rxconf *conf,
				  struct rte_mempool *pool);
int __wrap_rte_eth_rx_queue_setup(uint16_t port_id, uint16_t queue_id, uint16_t desc,
				  unsigned int socket, const struct rte_eth_rxconf *conf,
				  struct rte_mempool *pool);
int
__wrap_rte_eth_rx_queue_setup(uint16_t port_id, uint16_t queue_id, uint16_t desc,
			      unsigned int socket, const struct rte_eth_rxconf *conf,
			      struct rte_mempool *pool)
{
	nic.setups++;
	if (nic.refused_from > 0 && desc >= nic.refused_from)
		return -ENOMEM;
	nic.rx_desc = desc;
	nic.mbufs = pool->size;
	return __real_rte_eth_rx_queue_setup(port_id, queue_id, desc, socket, conf, pool);
}

int __real_rte_eth_tx_queue_setup(uint16_t port_id, uint16_t queue_id, uint16_t desc,
				  unsigned int socket, const struct rte_eth_txconf *conf);
int __wrap_rte_eth_tx_queue_setup(uint16_t port_id, uint16_t queue_id, uint16_t desc,
				  unsigned int socket, const struct rte_eth_txconf *conf);
int
__wrap_rte_eth_tx_queue_setup(uint16_t port_id, uint16_t queue_id, uint16_t desc,
			      unsigned int socket, const struct rte_eth_txconf *conf)
{
	nic.tx_desc = desc;
	return __real_rte_eth_tx_queue_setup(port_id, queue_id, desc, socket, conf);
}

static int
nic_anew(void **state)
{
	(void)state;
	memset(&nic, 0, sizeof(nic));
	nic.desc_max = 4096;
	nic.desc_align = 32;
	nic.link_mbps = 100000;
	nic.hardware = true;
	nic.name = "net_fast";
	return 0;
}

/* ---- opening it ---- */

static struct lull_resting resting;
static struct lull_live_ring wish;
static struct lull_calibration sleeps; /* 17 us late, one in 64 30 us; 16 us of CPU each */

static struct lull_port_config
config_of(const char *ring)
{
	resting = (struct lull_resting){
		.max_latency_ns =
			10 * LULL_NS_PER_MS, /* wake-ups may be late where this is tested */
		.percentile = 99,
		.max_rest_ns = LULL_NS_PER_MS,
		.pps_max = { .automatic = true },
	};
	while (lull_resting_governor(&resting) != lull_idle_governor_find("objective"))
		resting.governor++;
	lull_calibration_init(&sleeps);
	for (int i = 0; i < 64; i++)
		lull_calibration_add(&sleeps, i == 32 ? 30000 : 17000, 16000);
	wish = (struct lull_live_ring){ .resting = &resting, .queue_count = 1, .sleeps = &sleeps };
	assert_int_equal(lull_ring_size_parse(ring, &wish.size, NULL), 0);
	return (struct lull_port_config){
		.queues = 1,
		.ring_pkts = (uint16_t)wish.size.pkts,
		.burst_pkts = 32,
	};
}

static uint16_t
nic_id(void)
{
	static struct rte_ring *ring;
	static uint16_t id;
	int rc;

	if (ring == NULL) {
		ring = rte_ring_create("nic", 1024, SOCKET_ID_ANY, 0);
		assert_non_null(ring);
		rc = rte_eth_from_ring(ring);
		assert_true(rc >= 0);
		id = (uint16_t)rc;
	}
	return id;
}

static void
nic_close(const struct lull_port *port)
{
	rte_eth_dev_stop(port->port_id);
}

/* Opened with so many descriptors. */
static void
expect_ring(const struct lull_port_config *config, uint32_t pkts)
{
	struct lull_error error = { .text = "" };
	struct lull_port port;
	int rc = lull_live_port_open("test", nic_id(), config, &wish, &port, &error);

	if (rc != 0)
		fail_msg("not opened: %s", error.text);
	assert_int_equal(nic.rx_desc, pkts);
	assert_int_equal(port.ring_pkts, pkts);
	nic_close(&port);
}

TEST_WITH(auto__takes_what_the_device_grants_where_rests_need_it, nic_anew, NULL)
{
	struct lull_port_config config = config_of("auto");

	/* 148.8 Mpps: 16384 hold 110 us, 8192 hold 55 us */
	nic.desc_max = 32768;
	expect_ring(&config, 16384);
	/* Tx rings hold nothing up: they stay. Each descriptor has a buffer. */
	assert_int_equal(nic.tx_desc, 1024);
	assert_int_equal(nic.mbufs, 16384 + 1024 + 2 * 32 + 2048);
	/* 25 Gbit/s, and many queues of one thread */
	nic.desc_max = 4096;
	nic.link_mbps = 25000;
	expect_ring(&config, 4096);
	nic.link_mbps = 10000;
	expect_ring(&config, 1024);
	wish.queue_count = 16;
	expect_ring(&config, 2048);
	/* More than it grants would be better, but this much allows some rest. */
	wish.queue_count = 1;
	nic.link_mbps = 40000;
	nic.desc_max = 3000;
	expect_ring(&config, 2976);
}

/* 512 and 100 Gbit/s: no wake-up is early enough, so a larger ring would only cost. */
TEST_WITH(auto__stays_where_the_device_grants_too_few, nic_anew, NULL)
{
	struct lull_port_config config = config_of("auto");

	nic.desc_max = 512;
	expect_ring(&config, 1024);
	nic.desc_max = UINT16_MAX; /* DPDK's word for: it does not tell */
	expect_ring(&config, 1024);
}

TEST_WITH(auto__stays_where_the_usual_ring_is_enough, nic_anew, NULL)
{
	struct lull_port_config config = config_of("auto");

	nic.link_mbps = 1000; /* 1024 hold 688 us */
	expect_ring(&config, 1024);
	nic.link_mbps = 100000;
	resting.loss = LULL_LOSS_TOLERATE;
	expect_ring(&config, 1024);
	config = config_of("auto");
	resting.pps_max = (struct lull_pps_max){ .envelope = LULL_ENVELOPE_LEARNED };
	expect_ring(&config, 1024);
	config = config_of("auto");
	resting.governor = 0; /* spin */
	expect_ring(&config, 1024);
}

/* On virtual ports a rate is only what was seen; and some ignore the number. */
TEST_WITH(auto__leaves_virtual_ports_as_they_are, nic_anew, NULL)
{
	struct lull_port_config config = config_of("auto");
	struct lull_port offer;

	nic.hardware = false;
	nic.desc_max = 32768;
	expect_ring(&config, 1024);
	nic.hardware = true;
	nic.name = "net_ring";
	assert_int_equal(lull_port_offer(nic_id(), &config, &offer, NULL), 0);
	assert_int_equal(offer.ring_pkts, 1023);
	assert_int_equal(offer.ring_pkts_max, 0);
	assert_int_equal(lull_live_ring_pkts(&offer, &config, &wish), 1024);
}

TEST_WITH(number__of_the_user_always_wins, nic_anew, NULL)
{
	struct lull_port_config config = config_of("256");

	nic.desc_max = 32768;
	expect_ring(&config, 256);
	assert_int_equal(nic.tx_desc, 256);
}

/* Whatever this machine's own wake-ups are: it is opened, with no more than is granted. */
TEST_WITH(auto__measures_this_machine, nic_anew, NULL)
{
	struct lull_port_config config = config_of("auto");
	struct lull_port port;

	wish.sleeps = NULL;
	assert_int_equal(lull_live_port_open("test", nic_id(), &config, &wish, &port, NULL), 0);
	assert_in_range(nic.rx_desc, 1024, 4096);
	nic_close(&port);
}

TEST_WITH(refused__goes_on_with_the_usual_ring, nic_anew, NULL)
{
	struct lull_port_config config = config_of("auto");

	nic.desc_max = 32768;
	nic.refused_from = 1025;
	expect_ring(&config, 1024);
	assert_true(nic.setups >= 2);
	assert_int_equal(nic.tx_desc, 1024);
}

TEST_WITH(offer__tells_what_may_be_asked_for, nic_anew, NULL)
{
	struct lull_port_config config = config_of("auto");
	struct lull_error error;
	struct lull_port offer;

	nic.desc_max = 4090;
	assert_int_equal(lull_port_offer(nic_id(), &config, &offer, NULL), 0);
	assert_int_equal(offer.ring_pkts_max, 4064); /* of 32 each */
	assert_int_equal(offer.ring_pkts, 1024);
	assert_int_equal(offer.link_mbps, 100000);
	assert_true(offer.hardware);
	/* Without a link, the fastest that it can have. */
	nic.link_mbps = 0;
	nic.speed_capa = RTE_ETH_LINK_SPEED_10G | RTE_ETH_LINK_SPEED_25G;
	assert_int_equal(lull_port_offer(nic_id(), &config, &offer, NULL), 0);
	assert_int_equal(offer.link_mbps, 25000);
	assert_int_equal(lull_port_offer(77, &config, &offer, &error), -ENODEV);
}

TEST_GROUP(stand_setup, stand_stop);
