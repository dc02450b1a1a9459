/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that poll in ways dpdk-testpmd does not: EAL arguments, --, the name of the way.
 * Each prints what its test wants to know and ends with 0. Port 0 is a net_ring, which leads back
 * to itself; further ports are what the way needs.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_latencystats.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_metrics.h>
#include <rte_pdump.h>

#include "host.h"

#define LEN_BYTES 60          /* nobody reads them */
#define SETTLE_NS 50000000ULL /* more than the plugin takes to attach */

static struct rte_mempool *pool;

uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Of this thread: what others took of its CPU was no load. */
static uint64_t
cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

void
port_open(uint16_t port_id, uint16_t queue_count)
{
	struct rte_eth_conf conf = { 0 };
	uint16_t i;

	if (rte_eth_dev_configure(port_id, queue_count, queue_count, &conf) != 0)
		rte_exit(1, "port %u: cannot configure\n", port_id);
	for (i = 0; i < queue_count; i++) {
		if (rte_eth_rx_queue_setup(port_id, i, 512, 0, NULL, pool) != 0 ||
		    rte_eth_tx_queue_setup(port_id, i, 512, 0, NULL) != 0)
			rte_exit(1, "port %u: cannot set up queue %u\n", port_id, i);
	}
	if (rte_eth_dev_start(port_id) != 0)
		rte_exit(1, "port %u: cannot start\n", port_id);
}

uint16_t
take(uint16_t port_id, uint16_t queue_id, uint16_t count_max)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t count = rte_eth_rx_burst(port_id, queue_id, pkts, count_max);

	if (count > 0)
		rte_pktmbuf_free_bulk(pkts, count);
	return count;
}

uint16_t
put(uint16_t port_id, uint16_t count)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t sent;

	if (rte_pktmbuf_alloc_bulk(pool, pkts, count) != 0)
		return 0;
	for (uint16_t i = 0; i < count; i++)
		rte_pktmbuf_append(pkts[i], LEN_BYTES);
	sent = rte_eth_tx_burst(port_id, 0, pkts, count);
	rte_pktmbuf_free_bulk(pkts + sent, count - sent);
	return sent;
}

uint64_t
poll_for(uint64_t span_ns)
{
	uint64_t end_ns = now_ns() + span_ns, taken = 0;

	while (now_ns() < end_ns)
		taken += take(0, 0, BURST);
	return taken;
}

/* ---- ways ---- */

static uint16_t
own_callback(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts, uint16_t count,
	     uint16_t count_max, void *arg)
{
	(void)port_id;
	(void)queue_id;
	(void)pkts;
	(void)count_max;
	*(uint64_t *)arg += count;
	return count;
}

/* Callbacks of its own, one set before the plugin comes and one after, see every packet. */
static void
callbacks(void)
{
	uint64_t before = 0, after = 0, sent = 0, taken = 0, i;

	port_open(0, 1);
	rte_eth_add_rx_callback(0, 0, own_callback, &before);
	poll_for(SETTLE_NS);
	rte_eth_add_rx_callback(0, 0, own_callback, &after);
	for (i = 0; i < 20000; i++) {
		sent += put(0, 1 + i % BURST);
		taken += take(0, 0, 1 + i % 7); /* and never twice the same burst */
		if (i % 1000 == 0)
			taken += poll_for(1000000);
		while (i % 100 == 0 && taken < sent)
			taken += take(0, 0, BURST);
	}
	for (i = 0; i < 100; i++)
		taken += take(0, 0, BURST);
	printf("sent %ju before %ju after %ju\n", (uintmax_t)sent, (uintmax_t)before,
	       (uintmax_t)after);
}

/* DPDK's own: it marks each packet it sees in its Rx callback. */
static void
latencystats(void)
{
	uint64_t sent = 0, taken = 0, marked = 0, i, mark;
	struct rte_mbuf *pkts[BURST];

	port_open(0, 1);
	rte_metrics_init((int)rte_socket_id());
	if (rte_latencystats_init(0, NULL) != 0)
		rte_exit(1, "no latency statistics\n");
	mark = 1ULL << rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL);
	poll_for(SETTLE_NS);
	for (i = 0; i < 20000 || taken < sent; i++) {
		uint16_t count;

		if (i < 20000 && sent - taken < 256)
			sent += put(0, 1 + i % BURST);
		else if (i >= 20000)
			poll_for(0);
		count = rte_eth_rx_burst(0, 0, pkts, BURST);
		for (uint16_t at = 0; at < count; at++)
			marked += (pkts[at]->ol_flags & mark) != 0;
		rte_pktmbuf_free_bulk(pkts, count);
		taken += count;
	}
	poll_for(SETTLE_NS);
	printf("sent %ju taken %ju marked %ju\n", (uintmax_t)sent, (uintmax_t)taken,
	       (uintmax_t)marked);
}

/* Polls until there is a line on stdin. */
static void
poll_until_told(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char line[16];

	while (poll(&in, 1, 0) == 0)
		poll_for(1000000);
	if (read(in.fd, line, sizeof(line)) < 0)
		rte_exit(1, "no stdin\n");
}

/* Another process captures; it says when it is ready and when it has seen enough. */
static void
pdump(void)
{
	uint64_t sent = 0, taken = 0;

	port_open(0, 1);
	if (rte_pdump_init() != 0)
		rte_exit(1, "no pdump\n");
	puts("polling");
	fflush(stdout);
	poll_until_told();
	while (sent < 2000) {
		sent += put(0, 1 + sent % 7);
		taken += take(0, 0, BURST);
		if (sent % 5 == 0)
			taken += poll_for(1000000);
	}
	while (taken < sent)
		taken += take(0, 0, BURST);
	poll_for(SETTLE_NS);
	printf("sent %ju taken %ju\n", (uintmax_t)sent, (uintmax_t)taken);
	fflush(stdout);
	poll_until_told();
}

/* Port 1 is polled once in a thousand times. What is its longest gap? */
static void
uneven(void)
{
	uint64_t polls = 0, begin_ns, last_ns;

	port_open(0, 1);
	port_open(1, 1);
	begin_ns = last_ns = now_ns();
	while (last_ns - begin_ns < 3 * SECOND_NS) {
		uint32_t i;

		for (i = 0; i < 1000; i++)
			take(0, 0, BURST);
		take(1, 0, BURST);
		polls++;
		last_ns = now_ns();
	}
	printf("polls %ju\n", (uintmax_t)polls);
}

static void
many(void)
{
	uint64_t end_ns = now_ns() + 3 * SECOND_NS;
	uint16_t i;

	port_open(0, 1);
	port_open(1, 100);
	while (now_ns() < end_ns) {
		take(0, 0, BURST);
		for (i = 0; i < 100; i++)
			take(1, i, BURST);
	}
}

static void *
poll_forever(void *arg)
{
	(void)arg;
	for (;;)
		take(0, 0, BURST);
	return NULL;
}

/* The program ends while its threads poll. */
static void
leave(void)
{
	pthread_t thread;

	port_open(0, 1);
	pthread_create(&thread, NULL, poll_forever, NULL);
	usleep(300000);
	exit(0);
}

static void
on_signal(int number)
{
	(void)number;
	exit(0); /* as many programs do, allowed or not */
}

/* It ends by exit() in a signal handler, on a thread that polls. */
static void
leave_by_signal(void)
{
	port_open(0, 1);
	signal(SIGALRM, on_signal);
	alarm(1);
	poll_forever(NULL);
}

static void
fork_child(void)
{
	int status;
	pid_t child;

	port_open(0, 1);
	poll_for(SETTLE_NS);
	child = fork();
	poll_for(4 * SETTLE_NS);
	if (child == 0)
		exit(0);
	waitpid(child, &status, 0);
	printf("child %d\n", status);
}

/* Half of the time a packet is in hand, half of the time there is none. */
static void
load(void)
{
	uint64_t begin_ns, cycle_ns = 200000, busy_ns = 0, begin_busy_ns, end_ns;
	uint64_t first_ns, first_cpu_ns;

	port_open(0, 1);
	first_ns = now_ns();
	first_cpu_ns = cpu_ns();
	for (begin_ns = first_ns; begin_ns - first_ns < 4 * SECOND_NS; begin_ns = now_ns()) {
		put(0, 1);
		begin_busy_ns = cpu_ns();
		while (take(0, 0, BURST) == 0)
			;
		while (now_ns() - begin_ns < cycle_ns / 2)
			;
		busy_ns += cpu_ns() - begin_busy_ns;
		end_ns = now_ns() + cycle_ns / 2;
		while (now_ns() < end_ns)
			take(0, 0, BURST);
	}
	printf("busy_ppm %ju\n", (uintmax_t)(busy_ns * 1000000 / (cpu_ns() - first_cpu_ns)));
}

/* How long after its start has a port a callback? */
static void
attach(void)
{
	uint64_t took_ns[2], begin_ns;
	uint16_t i;

	for (i = 0; i < 2; i++) {
		port_open(i, 1);
		begin_ns = now_ns();
		while (__atomic_load_n(&rte_eth_fp_ops[i].rxq.clbk[0], __ATOMIC_RELAXED) == NULL &&
		       now_ns() - begin_ns < SECOND_NS)
			;
		took_ns[i] = now_ns() - begin_ns;
	}
	printf("attached_us %ju %ju\n", (uintmax_t)took_ns[0] / 1000, (uintmax_t)took_ns[1] / 1000);
}

/* Until it is told to end. */
static void
idle(void)
{
	port_open(0, 1);
	puts("polling");
	fflush(stdout);
	poll_for(60 * SECOND_NS);
}

/* A crypto device, whose library nobody had linked. */
static void
crypto_late(void)
{
	port_open(1, 1);
	if (!late_crypto_start())
		rte_exit(1, "no crypto device\n");
	puts("polling");
	fflush(stdout);
	for (;;)
		take(1, 0, BURST);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "callbacks", callbacks }, { "latencystats", latencystats },
	{ "pdump", pdump },         { "uneven", uneven },
	{ "many", many },           { "churn", churn },
	{ "sharing", sharing },     { "cancel", cancel },
	{ "leave", leave },         { "leave-by-signal", leave_by_signal },
	{ "fork", fork_child },     { "load", load },
	{ "attach", attach },       { "idle", idle },
	{ "successor", successor }, { "crypto-late", crypto_late },
};

static void
on_end(int number)
{
	(void)number;
	_exit(0);
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	uint32_t i;

	if (used < 0 || used + 1 >= argc)
		rte_exit(1, "EAL arguments -- way\n");
	signal(SIGTERM, on_end);
	pool = rte_pktmbuf_pool_create("pool", 4095, 128, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	if (pool == NULL)
		rte_exit(1, "no pool\n");
	for (i = 0; i < RTE_DIM(ways); i++)
		if (strcmp(ways[i].name, argv[used + 1]) == 0) {
			ways[i].run();
			fflush(stdout);
			rte_eal_cleanup();
			return 0;
		}
	rte_exit(1, "no way %s\n", argv[used + 1]);
}
