/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a poll costs in this process: CPU time of rte_eth_rx_burst() on a net_null port that has
 * nothing (port 0) and on one that always has a burst (port 1). Whether a plugin is loaded, and
 * how it is set, is for the command line and the environment to say; cost.py does. Prints JSON.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "figure.h"

#define ROUNDS 11
#define POLLS 2000000
#define BURSTS 200000
#define BURST_PKTS 32
#define ATTACH_US 100000 /* more than the plugin takes */

static struct rte_mempool *pool;

static void
port_open(uint16_t port_id)
{
	struct rte_eth_conf conf = { 0 };

	if (rte_eth_dev_configure(port_id, 1, 1, &conf) != 0 ||
	    rte_eth_rx_queue_setup(port_id, 0, 512, 0, NULL, pool) != 0 ||
	    rte_eth_tx_queue_setup(port_id, 0, 512, 0, NULL) != 0 ||
	    rte_eth_dev_start(port_id) != 0)
		rte_exit(1, "port %u does not start\n", port_id);
}

/* CPU time of one poll, ns; packets are freed at once. */
static double
poll_ns(uint16_t port_id, uint32_t polls)
{
	struct rte_mbuf *pkts[BURST_PKTS];
	uint64_t begin_ns = figure_cpu_ns();
	uint32_t i;

	for (i = 0; i < polls; i++) {
		uint16_t count = rte_eth_rx_burst(port_id, 0, pkts, BURST_PKTS);

		if (count > 0)
			rte_pktmbuf_free_bulk(pkts, count);
	}
	return (double)(figure_cpu_ns() - begin_ns) / polls;
}

static void
measure(uint16_t port_id, uint32_t polls, struct figure *figure)
{
	uint32_t i;

	poll_ns(port_id, polls);
	for (i = 0; i < ROUNDS; i++)
		figure_add(figure, poll_ns(port_id, polls));
}

int
main(int argc, char **argv)
{
	struct figure empty = { .count = 0 }, burst = { .count = 0 };

	if (rte_eal_init(argc, argv) < 0)
		rte_exit(1, "EAL does not start\n");
	pool = rte_pktmbuf_pool_create("pool", 8191, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	if (pool == NULL)
		rte_exit(1, "no pool\n");
	port_open(0);
	usleep(ATTACH_US);
	measure(0, POLLS, &empty);
	port_open(1);
	usleep(ATTACH_US);
	/* The thread polls port 1 alone from here on, as if port 0 had gone. */
	measure(1, BURSTS, &burst);
	printf("{\"empty_ns\": %.3f, \"empty_least_ns\": %.3f, \"burst_ns\": %.2f, "
	       "\"burst_least_ns\": %.2f}\n",
	       figure_median(&empty), figure_least(&empty), figure_median(&burst),
	       figure_least(&burst));
	fflush(stdout);
	_exit(0);
}
