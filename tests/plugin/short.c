/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program on a driver whose short bursts leave packets: EAL arguments, --, a driver's name, and
 * what its queue count says: counts, lies (none, whatever there is) or lacks (there is none).
 *
 * The driver is a net_ring with another name. What has come since the last receive of none is
 * handed out one packet first and then in full bursts, as by a driver that had staged that one.
 * Prints how often it was asked for its count.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define BURST 32
#define SENT_PKTS 256
#define SENT_EVERY_US 2000
#define RUN_NS 1500000000ULL

static const char *name, *kind;
static struct rte_mempool *pool;
static atomic_bool stop;
static eth_rx_burst_t receive;
static struct rte_mbuf *stage[2 * SENT_PKTS];
static uint32_t stage_count;
static bool busy;
static uint64_t asked, taken;

/* The program's own takes the place of DPDK's, for the plugin too. */
int
rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int (*get)(uint16_t port_id, struct rte_eth_dev_info * info);
	void *found = dlsym(RTLD_NEXT, "rte_eth_dev_info_get");
	int rc;

	memcpy(&get, &found, sizeof(get));
	rc = get(port_id, info);
	if (rc == 0 && name != NULL)
		info->driver_name = name;
	return rc;
}

static void
driver_fetch(void *queue)
{
	stage_count +=
		receive(queue, stage + stage_count, (uint16_t)(RTE_DIM(stage) - stage_count));
}

static uint16_t
driver_receive(void *queue, struct rte_mbuf **pkts, uint16_t count_max)
{
	uint32_t count;

	driver_fetch(queue);
	count = RTE_MIN(stage_count, (uint32_t)count_max);
	if (!busy)
		count = RTE_MIN(count, 1u);
	busy = stage_count > 0;
	memcpy(pkts, stage, count * sizeof(*pkts));
	stage_count -= count;
	memmove(stage, stage + count, stage_count * sizeof(stage[0]));
	return (uint16_t)count;
}

static uint32_t
driver_count(void *queue)
{
	asked++;
	driver_fetch(queue);
	return strcmp(kind, "lies") == 0 ? 0 : stage_count;
}

static void
driver_begin(void)
{
	uint32_t (*count)(void *queue) = strcmp(kind, "lacks") == 0 ? NULL : driver_count;

	receive = rte_eth_fp_ops[0].rx_pkt_burst;
	rte_eth_fp_ops[0].rx_pkt_burst = driver_receive;
	/* releases differ in the sign of what it returns */
	memcpy(&rte_eth_fp_ops[0].rx_queue_count, &count, sizeof(count));
}

static void *
send_now_and_then(void *arg)
{
	struct rte_mbuf *pkts[SENT_PKTS];

	while (!stop) {
		uint16_t sent;

		usleep(SENT_EVERY_US);
		if (rte_pktmbuf_alloc_bulk(pool, pkts, SENT_PKTS) != 0)
			continue;
		sent = rte_eth_tx_burst(0, 0, pkts, SENT_PKTS);
		rte_pktmbuf_free_bulk(pkts + sent, SENT_PKTS - sent);
	}
	return arg;
}

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	struct rte_eth_conf conf = { 0 };
	struct rte_mbuf *pkts[BURST];
	pthread_t sender;
	uint64_t end_ns;

	if (used < 0 || used + 2 >= argc)
		rte_exit(1, "EAL arguments -- driver kind\n");
	pool = rte_pktmbuf_pool_create("pool", 4095, 128, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	if (pool == NULL || rte_eth_dev_configure(0, 1, 1, &conf) != 0 ||
	    rte_eth_rx_queue_setup(0, 0, 512, 0, NULL, pool) != 0 ||
	    rte_eth_tx_queue_setup(0, 0, 512, 0, NULL) != 0)
		rte_exit(1, "no port\n");
	name = argv[used + 1];
	kind = argv[used + 2];
	if (rte_eth_dev_start(0) != 0)
		rte_exit(1, "port 0 does not start\n");
	driver_begin();
	if (pthread_create(&sender, NULL, send_now_and_then, NULL) != 0)
		rte_exit(1, "no thread\n");
	for (end_ns = now_ns() + RUN_NS; now_ns() < end_ns;) {
		uint16_t count = rte_eth_rx_burst(0, 0, pkts, BURST);

		taken += count;
		rte_pktmbuf_free_bulk(pkts, count);
	}
	stop = true;
	pthread_join(sender, NULL);
	printf("taken %ju asked %ju\n", (uintmax_t)taken, (uintmax_t)asked);
	fflush(stdout);
	rte_eal_cleanup();
	return 0;
}
