/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: what opening them says about wrong wishes, what virtual drivers hide, a flood. */
#include <errno.h>

#include <rte_ethdev.h>
#include <rte_thash.h>

#include "engine/dpdk/port.h"
#include "engine/dpdk/port_rss.h"
#include "stand.h"

static const struct lull_port_config plain = { .queues = 1, .ring_pkts = 256, .burst_pkts = 32 };

static void
expect_refusal(uint16_t port_id, const struct lull_port_config *config, const char *words)
{
	struct lull_error error = { "" };
	struct lull_port port;

	assert_true(lull_port_open(port_id, config, &port, &error) < 0);
	print_message("   %s\n", error.text);
	assert_non_null(strstr(error.text, words));
}

TEST(port_open__names_what_is_wrong)
{
	struct lull_port_config config = plain;

	expect_refusal(77, &config, "port 77 does not exist, there are 2");
	config.queues = 2000;
	expect_refusal(0, &config, "queues: 2000 is not in 1..1024 (the range of port net_null0)");
	config.queues = 0;
	expect_refusal(0, &config, "queues: 0 ");
	config = plain;
	config.burst_pkts = LULL_BURST_MAX + 1;
	expect_refusal(0, &config, "burst: 257 ");
	config = plain;
	config.mtu = 20;
	expect_refusal(0, &config, "mtu: 20 ");
	config = plain;
	config.ring_pkts = 65535;
	config.queues = 32;
	expect_refusal(0, &config, "no memory for ");
}

TEST(port_pair__names_what_is_wrong)
{
	struct lull_port_config config = plain;
	struct lull_error error = { "" };
	struct lull_port a, b;

	config.queues = 17;
	assert_int_equal(lull_port_pair("p", &config, &a, &b, &error), -EINVAL);
	assert_non_null(strstr(error.text, "queues: 17 is not in 1..16"));
	/* A name in use; the first pair stays whole. */
	stand_pair("p", 1, 64, &a, &b);
	assert_true(lull_port_pair("p", &plain, &a, &b, &error) < 0);
	print_message("   %s\n", error.text);
	assert_int_equal(lull_port_ids(NULL, 0), 4);
	lull_port_close(&a);
	lull_port_close(&b);
	assert_int_equal(lull_port_ids(NULL, 0), 2);
}

TEST(port_pair__holds_exactly_its_ring)
{
	struct rte_mbuf *pkts[101];
	struct lull_port a, b;

	stand_pair("exact", 1, 100, &a, &b);
	assert_int_equal(a.ring_pkts, 100);
	assert_false(a.hardware);
	assert_true(lull_port_link_up(&a));
	for (uint32_t i = 0; i < 101; i++)
		pkts[i] = stand_frame(stand_pool(), i);
	assert_int_equal(rte_eth_tx_burst(a.port_id, 0, pkts, 101), 100);
	rte_pktmbuf_free(pkts[100]);
	/* The 100 are freed with the rings. */
	lull_port_close(&b);
	lull_port_close(&a);
	assert_int_equal(rte_mempool_in_use_count(stand_pool()), 0);
}

TEST(link_pps__is_what_84_bytes_allow)
{
	assert_int_equal(lull_link_pps(0), 0);
	assert_int_equal(lull_link_pps(10), 14880);
	assert_int_equal(lull_link_pps(10000), 14880952);
	assert_int_equal(lull_link_pps(100000), 148809523);
	assert_int_equal(lull_link_pps(400000), 595238095);
}

TEST(driver_argument__is_found_or_not)
{
	assert_int_equal(lull_port_driver_argument("iface=lo,framecnt=64", "framecnt", 512), 64);
	assert_int_equal(lull_port_driver_argument("framecnt=0x10,iface=lo", "framecnt", 512), 16);
	assert_int_equal(lull_port_driver_argument("xframecnt=1,framecnt=", "framecnt", 512), 512);
	assert_int_equal(lull_port_driver_argument("framecnt", "framecnt", 512), 512);
	assert_int_equal(lull_port_driver_argument("framecnt=-4", "framecnt", 512), 512);
	assert_int_equal(lull_port_driver_argument("", "framecnt", 512), 512);
	assert_int_equal(lull_port_driver_argument(NULL, "framecnt", 512), 512);
}

/* docs/drivers.md has the reason of each. */
TEST(driver_short__tells_what_is_known)
{
	static const struct {
		const char *name, *args;
		enum lull_short_burst known;
	} cases[] = {
		{ "net_af_packet", "iface=eth0", LULL_SHORT_EMPTIES },
		{ "net_memif", NULL, LULL_SHORT_EMPTIES },
		{ "net_vhost", NULL, LULL_SHORT_EMPTIES },
		{ "net_e1000_em", NULL, LULL_SHORT_EMPTIES },
		{ "net_e1000_igb", NULL, LULL_SHORT_EMPTIES },
		{ "net_e1000_igb_vf", NULL, LULL_SHORT_EMPTIES },
		{ "net_igc", NULL, LULL_SHORT_EMPTIES },
		{ "net_vmxnet3", NULL, LULL_SHORT_EMPTIES },
		{ "net_mlx4", NULL, LULL_SHORT_EMPTIES },
		{ "net_ena", NULL, LULL_SHORT_EMPTIES },
		{ "net_cxgbe", NULL, LULL_SHORT_EMPTIES },
		{ "net_i40e", NULL, LULL_SHORT_COUNTED },
		{ "net_ice", NULL, LULL_SHORT_COUNTED },
		{ "net_ixgbe", NULL, LULL_SHORT_COUNTED },
		{ "net_iavf", NULL, LULL_SHORT_COUNTED },
		{ "net_txgbe", NULL, LULL_SHORT_COUNTED },
		{ "net_ngbe", NULL, LULL_SHORT_COUNTED },
		{ "net_nfp_pf", NULL, LULL_SHORT_COUNTED },
		{ "mlx5_pci", NULL, LULL_SHORT_COUNTED },
		{ "mlx5_pci", "rxq_cqe_comp_en=4,mprq_en=1", LULL_SHORT_COUNTED },
		/* the enhanced layout, which its count does not know */
		{ "mlx5_pci", "mprq_en=1,rxq_cqe_comp_en=0x84", LULL_SHORT_LEAVES },
		{ "mlx5_auxiliary", "rxq_cqe_comp_en=128", LULL_SHORT_LEAVES },
		/* a count of something else, or one that asks the device */
		{ "net_bnxt", NULL, LULL_SHORT_LEAVES },
		{ "net_netvsc", NULL, LULL_SHORT_LEAVES },
		{ "net_hns3", NULL, LULL_SHORT_LEAVES },
		{ "net_virtio", NULL, LULL_SHORT_LEAVES },
		{ "net_virtio_user", NULL, LULL_SHORT_LEAVES },
		{ "net_af_xdp", NULL, LULL_SHORT_LEAVES },
		{ "net_gve", NULL, LULL_SHORT_LEAVES },
		{ "net_mana", NULL, LULL_SHORT_LEAVES },
		{ "net_bonding", NULL, LULL_SHORT_LEAVES },
		{ "net_failsafe", NULL, LULL_SHORT_LEAVES },
		{ "net_new", NULL, LULL_SHORT_LEAVES },
	};
	const struct lull_port_answer answer = { .desc_pkts = 1024 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lull_port_driver driver = { .name = cases[i].name,
							 .bus = "pci",
							 .args = cases[i].args };
		struct lull_ring_facts facts;

		if (lull_port_driver_short(&driver) != cases[i].known)
			fail_msg("%s", cases[i].name);
		lull_port_facts(&driver, &answer, &facts);
		assert_int_equal(facts.short_leaves, cases[i].known != LULL_SHORT_EMPTIES);
	}
}

/* A fill ring of 2048 is the most that the kernel has, whatever was asked for. */
TEST(driver_ring__of_af_xdp)
{
	const struct lull_port_driver driver = { .name = "net_af_xdp", .bus = "vdev" };

	assert_int_equal(lull_port_driver_ring(&driver, 512), 512);
	assert_int_equal(lull_port_driver_ring(&driver, 4096), 2048);
	assert_int_equal(lull_port_driver_ring(&driver, 0), 2048);
}

TEST(facts__go_by_the_driver_then_by_what_it_tells)
{
	const struct lull_port_driver ring = { .name = "net_ring", .bus = "vdev" };
	const struct lull_port_driver unknown = { .name = "net_new", .bus = "vdev" };
	const struct lull_port_driver nic = { .name = "net_ice", .bus = "pci" };
	const struct lull_port_driver guest = { .name = "net_virtio", .bus = "pci" };
	struct lull_port_answer answer = { .otherwise_pkts = 128 };
	struct lull_ring_facts facts;

	lull_port_facts(&unknown, &answer, &facts);
	assert_int_equal(facts.count, 1);
	assert_int_equal(facts.ring_pkts, 128);
	assert_true(facts.short_leaves); /* nobody knows */
	assert_int_equal(facts.loss_lag_ns, LULL_PORT_LOSS_LAG_NS);
	answer.otherwise_pkts = 0;
	lull_port_facts(&unknown, &answer, &facts);
	assert_int_equal(facts.ring_pkts, 256);
	answer = (struct lull_port_answer){
		.desc_pkts = 1024, .rearm_pkts = 32, .otherwise_pkts = 128, .link_mbps = 10000
	};
	lull_port_facts(&nic, &answer, &facts);
	assert_int_equal(facts.ring_pkts, 1024);
	assert_int_equal(facts.held_pkts, 32);
	assert_int_equal(facts.link_pps, 14880952);
	assert_int_equal(facts.hardware_pps, 14880952);
	assert_true(facts.short_leaves);
	lull_port_facts(&guest, &answer, &facts);
	/* granted any size, the device has 256 */
	assert_int_equal(facts.ring_pkts, 256);
	assert_true(facts.short_leaves);
	answer.asked_pkts = 128;
	lull_port_facts(&guest, &answer, &facts);
	assert_int_equal(facts.ring_pkts, 128);
	answer.asked_pkts = 4096;
	lull_port_facts(&guest, &answer, &facts);
	assert_int_equal(facts.ring_pkts, 256);
	assert_int_equal(facts.link_pps, 14880952);
	assert_int_equal(facts.hardware_pps, 0);
	/* descriptors that were asked for, and that this driver ignores */
	lull_port_facts(&ring, &answer, &facts);
	assert_int_equal(facts.ring_pkts, 1023);
	assert_int_equal(facts.held_pkts, 0);
	assert_false(facts.short_leaves);
	assert_int_equal(facts.loss_lag_ns, 0);
	/* a threshold that cannot be */
	answer = (struct lull_port_answer){ .desc_pkts = 64,
					    .rearm_pkts = 64,
					    .otherwise_pkts = 128 };
	lull_port_facts(&nic, &answer, &facts);
	assert_int_equal(facts.ring_pkts, 64);
	assert_int_equal(facts.held_pkts, 0);
	assert_int_equal(facts.hardware_pps, 0);
}

/* Two ports that always have packets and take any: the loop never falls behind its own books. */
/* ---- several queues ---- */

/* Of a pair of addresses, as a NIC computes it. */
static uint32_t
hash_of(const struct rte_eth_conf *conf, uint32_t from, uint32_t to)
{
	uint32_t tuple[] = { from, to };

	return rte_softrss(tuple, 2, conf->rx_adv_conf.rss_conf.rss_key);
}

TEST(port_rss_ask__wants_both_directions_in_one_queue)
{
	const struct lull_port_config config = { .queues = 4, .symmetric = true };
	struct rte_eth_dev_info info = { .hash_key_size = 52,
					 .flow_type_rss_offloads =
						 RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP };
	struct rte_eth_conf conf = { 0 };

	lull_port_rss_ask(&info, &config, &conf);
	assert_int_equal(conf.rxmode.mq_mode, RTE_ETH_MQ_RX_RSS);
	assert_int_equal(conf.rx_adv_conf.rss_conf.rss_key_len, 52);
	assert_int_equal(hash_of(&conf, 0x0a000001, 0xc6336407),
			 hash_of(&conf, 0xc6336407, 0x0a000001));
	assert_int_not_equal(hash_of(&conf, 0x0a000001, 0xc6336407),
			     hash_of(&conf, 0x0a000002, 0xc6336407));
	/* Fragments have no ports. */
	assert_int_equal(conf.rx_adv_conf.rss_conf.rss_hf, RTE_ETH_RSS_IP);
	/* A driver that hashes TCP and nothing else by addresses: better than one queue for all. */
	info.flow_type_rss_offloads = RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	lull_port_rss_ask(&info, &config, &conf);
	assert_int_equal(conf.rx_adv_conf.rss_conf.rss_hf, info.flow_type_rss_offloads);
}

TEST(port_rss_ask__asks_nothing_that_is_not_wanted)
{
	struct lull_port_config config = { .queues = 1, .symmetric = true };
	struct rte_eth_dev_info info = { .hash_key_size = 40,
					 .flow_type_rss_offloads = RTE_ETH_RSS_IP };
	struct rte_eth_conf conf = { 0 };

	lull_port_rss_ask(&info, &config, &conf);
	assert_int_equal(conf.rxmode.mq_mode, RTE_ETH_MQ_RX_NONE);
	config = (struct lull_port_config){ .queues = 2 };
	lull_port_rss_ask(&info, &config, &conf);
	assert_int_equal(conf.rxmode.mq_mode, RTE_ETH_MQ_RX_RSS);
	assert_null(conf.rx_adv_conf.rss_conf.rss_key);
	info.flow_type_rss_offloads = 0;
	conf = (struct rte_eth_conf){ 0 };
	lull_port_rss_ask(&info, &config, &conf);
	assert_int_equal(conf.rxmode.mq_mode, RTE_ETH_MQ_RX_NONE);
}

/* Whoever sends into rings chooses the queue. */
TEST(port_open__tells_how_packets_are_dealt_out)
{
	struct lull_port_config config = plain;
	struct lull_error error = { "" };
	struct lull_port near, far;

	config.symmetric = true;
	assert_int_equal(lull_port_pair("one", &config, &near, &far, &error), 0);
	assert_int_equal(far.spread, LULL_PORT_SPREAD_NONE);
	lull_port_close(&near);
	lull_port_close(&far);
	config.queues = 2;
	assert_int_equal(lull_port_pair("two", &config, &near, &far, &error), 0);
	assert_int_equal(far.spread, LULL_PORT_SPREAD_DRIVER);
	lull_port_close(&near);
	lull_port_close(&far);
}

TEST(null_ports__flood)
{
	struct lull_forward_config forward;
	struct lull_loop_config config;
	struct lull_port ports[2];
	struct rte_eth_stats stats;
	struct lull_loop *loop;
	struct lull_error error = { "" };
	uint64_t pkts;

	for (uint16_t i = 0; i < 2; i++)
		assert_int_equal(lull_port_open(i, &plain, &ports[i], &error), 0);
	config = stand_loop("fwd0", 1, &ports[0], &forward);
	config.queue_count = 2;
	config.queues[1].port_id = ports[1].port_id;
	config.governor = lull_idle_governor_find("objective");
	forward.queue_count = 2;
	forward.tx[0].port_id = ports[1].port_id;
	forward.tx[1].port_id = ports[0].port_id;
	loop = stand_run(&config);
	STAND_WAIT(LULL_COUNTER_READ(lull_loop_counters(loop)->pkts) > 1000000);
	lull_loop_stop(loop);
	pkts = lull_loop_counters(loop)->pkts;
	assert_int_equal(lull_loop_counters(loop)->iterations_empty, 0);
	assert_int_equal(lull_loop_counters(loop)->rest_ns, 0);
	rte_eth_stats_get(ports[0].port_id, &stats);
	assert_int_equal(stats.ipackets, pkts / 2);
	rte_eth_stats_get(ports[1].port_id, &stats);
	assert_int_equal(stats.opackets, pkts / 2);
	lull_loop_destroy(loop);
}

TEST(loop_create__names_what_is_wrong)
{
	struct lull_port port = { .port_id = 0 };
	struct lull_forward_config forward;
	struct lull_loop_config config = stand_loop("fwd0", 0, &port, &forward);
	struct lull_error error = { "" };
	struct lull_loop *loop;

	assert_int_equal(lull_loop_create(&config, &loop, &error), -EINVAL);
	assert_non_null(strstr(error.text, "lcore 0 is not a worker"));
	config.lcore_id = 1;
	config.limits.percentile_ppm = 1000000;
	assert_int_equal(lull_loop_create(&config, &loop, &error), -EINVAL);
	assert_string_equal(error.text, "percentile_ppm: 1000000 is not in 500000..999999");
	lull_loop_destroy(NULL);
}

static int
setup(void **state)
{
	static const char *const vdevs[] = { "net_null0", "net_null1", NULL };

	(void)state;
	return stand_start(vdevs);
}

TEST_GROUP(setup, stand_stop);
