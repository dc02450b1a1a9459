/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What our loop costs on top of DPDK: saturated forwarding and empty polling by a lull loop, beside
 * a bare loop of rte_eth_rx_burst and rte_eth_tx_burst on the same thread and the same ports, in
 * iteration. CPU time of that thread only.
 *
 * ring: packets go round through one rte_ring, so every receive is full.
 * null: the driver allocates each packet and frees it again.
 * idle: the ring is empty.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include <lull/engine.h>

#include "figure.h"

#define BURST_PKTS 32
#define RING_PKTS 512
#define CIRCLING_PKTS 256
#define MBUFS 8192
#define FRAME_BYTES 60
#define WARM_UP_US 20000
#define WINDOW_US 100000
#define LCORE 1

static const char *const governors[] = { "spin", "ramp", "objective" };
#define GOVERNORS (sizeof(governors) / sizeof(governors[0]))

/* Received on rx, sent on tx. */
struct path {
	const char *name;
	uint16_t rx_port_id, tx_port_id;
	bool idle; /* cost of an iteration, not of a packet */
	struct figure bare, bare_clock, lull[GOVERNORS];
};

/* Read by main while the loop runs: one writer. */
struct bare {
	const struct path *path;
	bool clock; /* also read the clock once an iteration, as lull has to */
	int tid;
	bool stop;
	uint64_t iterations, pkts;
};

static int
bare_main(void *arg)
{
	struct bare *bare = arg;
	uint16_t rx_port_id = bare->path->rx_port_id, tx_port_id = bare->path->tx_port_id;
	struct rte_mbuf *pkts[BURST_PKTS];
	volatile uint64_t now_ns = 0;

	__atomic_store_n(&bare->tid, gettid(), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&bare->stop, __ATOMIC_RELAXED)) {
		uint16_t count = rte_eth_rx_burst(rx_port_id, 0, pkts, BURST_PKTS), sent;

		LULL_COUNTER_ADD(bare->iterations, 1);
		if (bare->clock)
			now_ns = lull_clock_ns();
		if (count == 0)
			continue;
		sent = rte_eth_tx_burst(tx_port_id, 0, pkts, count);
		if (sent < count)
			rte_pktmbuf_free_bulk(pkts + sent, (unsigned int)(count - sent));
		LULL_COUNTER_ADD(bare->pkts, count);
	}
	(void)now_ns;
	return 0;
}

/* CPU time of thread @p tid by unit of @p counter over one window, ns. */
static double
measure(int tid, const uint64_t *counter)
{
	uint64_t cpu_ns, units;

	usleep(WARM_UP_US);
	units = LULL_COUNTER_READ(*counter);
	cpu_ns = lull_thread_cpu_ns(tid);
	usleep(WINDOW_US);
	cpu_ns = lull_thread_cpu_ns(tid) - cpu_ns;
	units = LULL_COUNTER_READ(*counter) - units;
	return units > 0 ? (double)cpu_ns / (double)units : 0;
}

static double
measure_bare(const struct path *path, bool clock)
{
	struct bare bare = { .path = path, .clock = clock };
	double ns;

	rte_eal_remote_launch(bare_main, &bare, LCORE);
	while (__atomic_load_n(&bare.tid, __ATOMIC_ACQUIRE) == 0)
		usleep(100);
	ns = measure(bare.tid, path->idle ? &bare.iterations : &bare.pkts);
	__atomic_store_n(&bare.stop, true, __ATOMIC_RELAXED);
	rte_eal_wait_lcore(LCORE);
	return ns;
}

static int
measure_lull(const struct path *path, const char *governor, double *ns, struct lull_error *error)
{
	const struct lull_forward_config forward = { .queue_count = 1,
						     .tx = { { path->tx_port_id, 0 } } };
	const struct lull_loop_config config = {
		.name = "fwd0",
		.kind = "forward",
		.lcore_id = LCORE,
		.queue_count = 1,
		.queues = { { path->rx_port_id, 0 } },
		.burst_pkts = BURST_PKTS,
		.governor = lull_idle_governor_find(governor),
		.stage = &lull_stage_forward,
		.stage_config = &forward,
	};
	const struct lull_idle_counters *counters;
	struct lull_loop *loop;
	int rc = lull_loop_create(&config, &loop, error);

	if (rc != 0)
		return rc;
	rc = lull_loop_start(loop);
	if (rc == 0) {
		while (lull_loop_tid(loop) == 0)
			usleep(100);
		counters = lull_loop_counters(loop);
		*ns = measure(lull_loop_tid(loop),
			      path->idle ? &counters->iterations : &counters->pkts);
		lull_loop_stop(loop);
	}
	lull_loop_destroy(loop);
	return rc;
}

static int
measure_round(struct path *path, struct lull_error *error)
{
	int rc = 0;

	figure_add(&path->bare, measure_bare(path, false));
	figure_add(&path->bare_clock, measure_bare(path, true));
	for (uint32_t i = 0; rc == 0 && i < GOVERNORS; i++) {
		double ns = 0;

		/* resting loops have no price by iteration */
		if (path->idle && strcmp(governors[i], "spin") != 0)
			continue;
		rc = measure_lull(path, governors[i], &ns, error);
		figure_add(&path->lull[i], ns);
	}
	return rc;
}

static void
print_row(const struct path *path, const char *loop, const struct figure *figure)
{
	if (figure->count == 0)
		return;
	printf("| %s | %s | %.2f | %.2f | %.2f |\n", path->name, loop, figure_median(figure),
	       figure_least(figure), figure_ratio(figure, &path->bare));
}

static void
print_path(const struct path *path)
{
	char name[LULL_NAME_SIZE];

	print_row(path, "bare", &path->bare);
	print_row(path, "bare, reading the clock", &path->bare_clock);
	for (uint32_t i = 0; i < GOVERNORS; i++) {
		snprintf(name, sizeof(name), "lull, %s", governors[i]);
		print_row(path, name, &path->lull[i]);
	}
}

/* ---- set up ---- */

static int
fill_ring(uint16_t tx_port_id, struct lull_error *error)
{
	struct rte_mempool *pool = lull_pool_create("circling", MBUFS, 64, error);
	struct rte_mbuf *pkts[CIRCLING_PKTS];
	uint16_t sent = 0;

	if (pool == NULL || rte_pktmbuf_alloc_bulk(pool, pkts, CIRCLING_PKTS) != 0)
		return -1;
	for (uint32_t i = 0; i < CIRCLING_PKTS; i++) {
		pkts[i]->data_len = FRAME_BYTES;
		pkts[i]->pkt_len = FRAME_BYTES;
	}
	while (sent < CIRCLING_PKTS)
		sent = (uint16_t)(sent + rte_eth_tx_burst(tx_port_id, 0, pkts + sent,
							  (uint16_t)(CIRCLING_PKTS - sent)));
	return 0;
}

static int
open_ports(struct path paths[3], struct lull_error *error)
{
	const struct lull_port_config config = { .queues = 1,
						 .ring_pkts = RING_PKTS,
						 .burst_pkts = BURST_PKTS };
	struct lull_port null, full[2], empty[2];
	int rc = lull_port_open(0, &config, &null, error);

	if (rc == 0)
		rc = lull_port_pair("full", &config, &full[0], &full[1], error);
	if (rc == 0)
		rc = lull_port_pair("empty", &config, &empty[0], &empty[1], error);
	if (rc == 0)
		rc = fill_ring(full[0].port_id, error);
	if (rc != 0)
		return rc;
	paths[0] = (struct path){
		"ring, ns/packet", full[1].port_id, full[0].port_id, false, { 0 }, { 0 }, { { 0 } }
	};
	paths[1] =
		(struct path){ "null, ns/packet", null.port_id, null.port_id, false, { 0 }, { 0 },
			       { { 0 } } };
	paths[2] = (struct path){ "idle ring, ns/iteration",
				  empty[1].port_id,
				  empty[0].port_id,
				  true,
				  { 0 },
				  { 0 },
				  { { 0 } } };
	return 0;
}

int
main(int argc, char **argv)
{
	static const char *const vdevs[] = { "net_null0,size=60" };
	static struct path paths[3];
	struct lull_error error = { "" };
	int cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	const struct lull_engine_config config = {
		.program = "forward-cost",
		.vdevs = vdevs,
		.vdev_count = 1,
		.cpus = &cpu,
		.cpu_count = 1,
		.eal = "--no-huge --no-shconf -m 256",
	};
	int rounds = argc > 1 ? atoi(argv[1]) : 9;
	int rc = lull_engine_init(&config, &error);

	if (rc == 0) {
		rc = open_ports(paths, &error);
		for (int round = 0; rc == 0 && round < rounds; round++)
			for (int i = 0; rc == 0 && i < 3; i++)
				rc = measure_round(&paths[i], &error);
		lull_engine_fini();
	}
	if (rc != 0) {
		fprintf(stderr, "forward-cost: %s\n", error.text);
		return 1;
	}
	figure_print_machine(LULL_TREE);
	printf("| path | loop | median | least | x bare |\n|---|---|---:|---:|---:|\n");
	for (int i = 0; i < 3; i++)
		print_path(&paths[i]);
	return 0;
}
