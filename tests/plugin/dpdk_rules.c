/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the plugin relies on inside DPDK (docs/plugin.md), tried on the DPDK that this is linked
 * with: when the fast path of a port is published and taken back, what becomes of Rx callbacks.
 *
 * Ports are in this process: a net_null, and a net_pcap that writes into a FIFO. Its driver opens
 * that when the port starts and writes when the port stops, and waits until somebody reads: so the
 * middle of a start and of a stop lasts as long as a look at it takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#define BURST 8
#define QUEUES 3
#define NULL_PORT 0
#define PCAP_PORT 1
#define PATIENCE_MS 20000

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/** What a callback saw. */
struct seen {
	uint32_t calls, pkts;
	uint16_t port_id, queue_id, count_max;
	uint16_t leave; /* so many packets of a burst go on */
	uint32_t turn;  /* when it was called last */
};

static struct rte_mempool *pool;
static uint32_t turn;
static char folder[] = "/tmp/lull-dpdk-rules-XXXXXX";
static char fifo[sizeof(folder) + sizeof("/fifo")];

static uint16_t
see(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts, uint16_t count, uint16_t count_max,
    void *arg)
{
	struct seen *seen = arg;
	uint16_t left = count < seen->leave ? count : seen->leave;

	seen->calls++;
	seen->pkts += count;
	seen->port_id = port_id;
	seen->queue_id = queue_id;
	seen->count_max = count_max;
	seen->turn = ++turn;
	rte_pktmbuf_free_bulk(pkts + left, count - left);
	return left;
}

static const void *
receive_of(uint16_t port_id)
{
	return (const void *)(uintptr_t)__atomic_load_n(&rte_eth_fp_ops[port_id].rx_pkt_burst,
							__ATOMIC_ACQUIRE);
}

static void
configure(uint16_t port_id, uint16_t queue_count)
{
	const struct rte_eth_conf conf = { 0 };

	CHECK(rte_eth_dev_configure(port_id, queue_count, queue_count, &conf) == 0);
	for (uint16_t i = 0; i < queue_count; i++) {
		CHECK(rte_eth_rx_queue_setup(port_id, i, 64, 0, NULL, pool) == 0);
		CHECK(rte_eth_tx_queue_setup(port_id, i, 64, 0, NULL) == 0);
	}
}

static uint16_t
poll_once(uint16_t port_id, uint16_t queue_id)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t count = rte_eth_rx_burst(port_id, queue_id, pkts, BURST);

	rte_pktmbuf_free_bulk(pkts, count);
	return count;
}

/* ---- the fast path ---- */

/* Before anything: one placeholder for all ports, there when a plugin is loaded. */
static const void *
placeholder(void)
{
	const void *first = receive_of(0);

	CHECK(first != NULL);
	for (uint16_t port_id = 1; port_id < RTE_MAX_ETHPORTS; port_id++)
		CHECK(receive_of(port_id) == first);
	return first;
}

static _Atomic int waiting_tid;

static void *
start_port(void *arg)
{
	(void)arg;
	waiting_tid = (int)gettid();
	CHECK(rte_eth_dev_start(PCAP_PORT) == 0);
	return NULL;
}

static void *
stop_port(void *arg)
{
	(void)arg;
	waiting_tid = (int)gettid();
	CHECK(rte_eth_dev_stop(PCAP_PORT) == 0);
	return NULL;
}

/* Until that thread is in this system call. */
static void
wait_until_in(long call)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		char path[64];
		FILE *file;
		long number = -1;

		snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", waiting_tid);
		file = waiting_tid != 0 ? fopen(path, "re") : NULL;
		if (file != NULL) {
			if (fscanf(file, "%ld", &number) != 1)
				number = -1;
			fclose(file);
		}
		if (number == call) {
			waiting_tid = 0;
			return;
		}
		nanosleep(&pause, NULL);
	}
	CHECK(!"the driver waits for its FIFO");
}

/* Nobody can write any more until somebody reads. */
static void
fill(int end)
{
	static const char zeros[4096];

	while (write(end, zeros, sizeof(zeros)) > 0)
		;
	while (write(end, zeros, 1) > 0)
		;
	CHECK(errno == EAGAIN);
}

static int
open_fifo(int access)
{
	int end = open(fifo, access | O_NONBLOCK | O_CLOEXEC);

	CHECK(end >= 0);
	return end;
}

/* Taken back before a stop does anything: its driver still writes. */
static void
taken_back_first(const void *empty, int reader)
{
	int writer = open_fifo(O_WRONLY);
	pthread_t thread;
	char text[4096];

	fill(writer);
	CHECK(pthread_create(&thread, NULL, stop_port, NULL) == 0);
	wait_until_in(SYS_write);
	CHECK(receive_of(PCAP_PORT) == empty);
	close(writer);
	while (read(reader, text, sizeof(text)) > 0)
		;
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(receive_of(PCAP_PORT) == empty);
}

/* Published when all else is done: its driver still opens. */
static void
published_last(const void *empty)
{
	pthread_t thread;
	int reader;

	CHECK(pthread_create(&thread, NULL, start_port, NULL) == 0);
	wait_until_in(SYS_openat);
	CHECK(receive_of(PCAP_PORT) == empty);
	reader = open_fifo(O_RDONLY);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(receive_of(PCAP_PORT) != empty && receive_of(PCAP_PORT) != NULL);
	CHECK(rte_eth_dev_stop(PCAP_PORT) == 0);
	close(reader);
}

/* The driver opens its file when it is probed, and again at each start that follows a stop. */
static void
fast_path(const void *empty, int reader)
{
	configure(PCAP_PORT, 1);
	CHECK(receive_of(PCAP_PORT) == empty);
	CHECK(rte_eth_dev_start(PCAP_PORT) == 0);
	CHECK(receive_of(PCAP_PORT) != empty && receive_of(PCAP_PORT) != NULL);
	taken_back_first(empty, reader);
	close(reader);
	published_last(empty);
	CHECK(rte_eth_dev_close(PCAP_PORT) == 0 && receive_of(PCAP_PORT) == empty);
}

/* ---- callbacks ---- */

/* The first queue that is not there is refused, so queues can be counted by trying. */
static void
counted_by_trying(struct seen *seen)
{
	CHECK(rte_eth_add_first_rx_callback(NULL_PORT, QUEUES, see, &seen[0]) == NULL);
	configure(NULL_PORT, QUEUES - 1);
	for (uint16_t i = 0; i < QUEUES - 1; i++)
		CHECK(rte_eth_add_first_rx_callback(NULL_PORT, i, see, &seen[i]) != NULL);
	CHECK(rte_eth_add_first_rx_callback(NULL_PORT, QUEUES - 1, see, &seen[QUEUES - 1]) == NULL);
	CHECK(rte_eth_add_first_rx_callback(RTE_MAX_ETHPORTS - 1, 0, see, &seen[0]) == NULL);
}

/* Each poll of a queue calls the callback of that queue and no other, an empty one too. */
static void
called_at_each_poll(struct seen *seen, bool packets)
{
	for (uint16_t i = 0; i < QUEUES; i++) {
		uint32_t calls[QUEUES], pkts = seen[i].pkts;

		if (seen[i].leave == 0) /* has no callback yet */
			continue;
		for (uint16_t other = 0; other < QUEUES; other++)
			calls[other] = seen[other].calls;
		CHECK(poll_once(NULL_PORT, i) == (packets ? BURST : 0));
		for (uint16_t other = 0; other < QUEUES; other++)
			CHECK(seen[other].calls == calls[other] + (other == i));
		CHECK(seen[i].pkts == pkts + (packets ? BURST : 0));
		CHECK(seen[i].port_id == NULL_PORT && seen[i].queue_id == i);
		CHECK(seen[i].count_max == BURST);
	}
}

/* Ahead of callbacks that were there before, which get what it leaves. */
static void
first_of_all(struct seen *seen)
{
	struct seen later = { .leave = BURST }, first = { .leave = 2 };
	const struct rte_eth_rxtx_callback *of_later, *of_first;

	of_later = rte_eth_add_rx_callback(NULL_PORT, 0, see, &later);
	of_first = rte_eth_add_first_rx_callback(NULL_PORT, 0, see, &first);
	CHECK(of_later != NULL && of_first != NULL);
	CHECK(poll_once(NULL_PORT, 0) == 2);
	CHECK(first.turn < seen[0].turn && seen[0].turn < later.turn);
	CHECK(first.pkts == BURST && later.pkts == 2);
	CHECK(rte_eth_remove_rx_callback(NULL_PORT, 0, of_later) == 0);
	CHECK(rte_eth_remove_rx_callback(NULL_PORT, 0, of_first) == 0);
}

static void
start_null(const void *empty)
{
	CHECK(receive_of(NULL_PORT) == empty);
	CHECK(rte_eth_dev_start(NULL_PORT) == 0);
	CHECK(receive_of(NULL_PORT) != empty);
}

/* A stop, another configuration, a close, and another port with the number of this one. */
static void
callbacks_stay(struct seen *seen, const void *empty)
{
	start_null(empty);
	called_at_each_poll(seen, true);
	first_of_all(seen);
	CHECK(rte_eth_dev_stop(NULL_PORT) == 0);
	start_null(empty);
	called_at_each_poll(seen, true);

	CHECK(rte_eth_dev_stop(NULL_PORT) == 0);
	configure(NULL_PORT, QUEUES);
	seen[QUEUES - 1].leave = BURST;
	CHECK(rte_eth_add_first_rx_callback(NULL_PORT, QUEUES - 1, see, &seen[QUEUES - 1]) != NULL);
	start_null(empty);
	called_at_each_poll(seen, true);

	CHECK(rte_eth_dev_stop(NULL_PORT) == 0 && rte_eth_dev_close(NULL_PORT) == 0);
	CHECK(receive_of(NULL_PORT) == empty);
	CHECK(rte_eal_hotplug_remove("vdev", "net_null0") == 0);
	CHECK(!rte_eth_dev_is_valid_port(NULL_PORT));
	CHECK(rte_eal_hotplug_add("vdev", "net_null7", "no-rx=1") == 0);
	CHECK(rte_eth_dev_is_valid_port(NULL_PORT));
	configure(NULL_PORT, QUEUES);
	start_null(empty);
	called_at_each_poll(seen, false);
	CHECK(rte_eth_dev_stop(NULL_PORT) == 0 && rte_eth_dev_close(NULL_PORT) == 0);
}

/* What drivers call; not in the headers of applications. */
struct rte_eth_dev *rte_eth_dev_allocated(const char *name);
int rte_eth_dev_callback_process(struct rte_eth_dev *device, enum rte_eth_event_type event,
				 void *more);

static int
hear(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *more)
{
	(void)more;
	CHECK(port_id == NULL_PORT && event == RTE_ETH_EVENT_INTR_LSC);
	++*(uint32_t *)arg;
	return 0;
}

/* Registered at each start, the event of a link is heard once, and after a stop too. */
static void
events_stay(const void *empty)
{
	uint32_t heard = 0;

	for (uint32_t start = 1; start <= 2; start++) {
		configure(NULL_PORT, QUEUES);
		start_null(empty);
		CHECK(rte_eth_dev_callback_register(NULL_PORT, RTE_ETH_EVENT_INTR_LSC, hear,
						    &heard) == 0);
		rte_eth_dev_callback_process(rte_eth_dev_allocated("net_null0"),
					     RTE_ETH_EVENT_INTR_LSC, NULL);
		CHECK(heard == start);
		CHECK(rte_eth_dev_stop(NULL_PORT) == 0);
	}
	CHECK(rte_eth_dev_callback_unregister(NULL_PORT, RTE_ETH_EVENT_INTR_LSC, hear, &heard) ==
	      0);
}

static void
clean_up(void)
{
	unlink(fifo);
	rmdir(folder);
}

int
main(int argc, char **argv)
{
	struct seen seen[QUEUES] = { { .leave = BURST }, { .leave = BURST } };
	const void *empty = placeholder();
	char pcap[sizeof(fifo) + 64];
	char *args[] = { argv[0],    "--lcores=0",       "--no-huge",
			 "--no-pci", "--no-shconf",      "--no-telemetry",
			 "-m128",    "--vdev=net_null0", pcap };

	int reader;

	(void)argc;
	CHECK(mkdtemp(folder) != NULL);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	atexit(clean_up);
	CHECK(mkfifo(fifo, 0600) == 0);
	reader = open_fifo(O_RDONLY);
	snprintf(pcap, sizeof(pcap), "--vdev=net_pcap0,tx_pcap=%s", fifo);
	CHECK(rte_eal_init(RTE_DIM(args), args) >= 0);
	pool = rte_pktmbuf_pool_create("pool", 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	CHECK(pool != NULL);
	CHECK(placeholder() == empty); /* probing starts nothing */
	CHECK(rte_eth_dev_is_valid_port(NULL_PORT) && rte_eth_dev_is_valid_port(PCAP_PORT));
	counted_by_trying(seen);
	events_stay(empty);
	callbacks_stay(seen, empty);
	fast_path(empty, reader);
	rte_eal_cleanup();
	puts("all as docs/plugin.md says");
	return 0;
}
