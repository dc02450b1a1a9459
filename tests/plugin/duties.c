/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs whose threads have more to do than to poll ports: EAL arguments, --, the name of the
 * way, its argument. One thread, "worker", polls port 0, which stays empty, and does the rest. Each
 * line on stdin leads to the next phase of the way; what a phase does stands above it. Beyond the
 * last phase the program ends with 0 and says how much it took.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_cryptodev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_eventdev.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>

#include <lull/work.h>

#define BURST 32
#define ITEMS 40
#define GUEST_QUEUE 1 /* what the guest sends */

static struct rte_mempool *pool;
static atomic_int phase;
static atomic_int guest = -1;
static uint64_t taken;

/* Of liblull where the program is linked with it, else of the plugin. */
static void (*busy)(void);
static int (*source_add)(const struct lull_queue_source *source);
static void (*source_remove)(const struct lull_queue_source *source);

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static void
port_open(void)
{
	struct rte_eth_conf conf = { 0 };

	if (rte_eth_dev_configure(0, 1, 1, &conf) != 0 ||
	    rte_eth_rx_queue_setup(0, 0, 512, 0, NULL, pool) != 0 ||
	    rte_eth_tx_queue_setup(0, 0, 512, 0, NULL) != 0 || rte_eth_dev_start(0) != 0)
		rte_exit(1, "port 0 does not start\n");
}

static void
poll_port(void)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t count = rte_eth_rx_burst(0, 0, pkts, BURST);

	if (count > 0)
		rte_pktmbuf_free_bulk(pkts, count);
}

static void
poll_phase(int number)
{
	while (phase == number)
		poll_port();
}

/* ---- guests ---- */

static int
guest_new(int vid)
{
	guest = vid;
	return 0;
}

/* The library frees the device when this returns: the worker must have seen that it goes. */
static atomic_uint iterations;

static void
guest_gone(int vid)
{
	unsigned int seen;

	(void)vid;
	guest = -1;
	seen = iterations;
	while (iterations - seen < 2 && phase == 0)
		usleep(100);
}

static const struct rte_vhost_device_ops guest_ops = {
	.new_device = guest_new,
	.destroy_device = guest_gone,
};

static void
guest_poll(void)
{
	struct rte_mbuf *pkts[BURST];
	int vid = guest;
	uint16_t count = 0;

	if (vid >= 0)
		count = rte_vhost_dequeue_burst(vid, GUEST_QUEUE, pool, pkts, BURST);
	if (count > 0)
		rte_pktmbuf_free_bulk(pkts, count);
	taken += count;
	iterations++;
}

/* 0: serves the guest that connects to a socket. */
static void
vhost(const char *path)
{
	if (rte_vhost_driver_register(path, 0) != 0 ||
	    rte_vhost_driver_callback_register(path, &guest_ops) != 0 ||
	    rte_vhost_driver_start(path) != 0)
		rte_exit(1, "no socket %s\n", path);
	puts("serving");
	fflush(stdout);
	while (phase == 0) {
		poll_port();
		guest_poll();
	}
}

/* ---- devices that the plugin does not see ---- */

/* 0: a crypto device runs; 1: it has stopped. */
static void
crypto(const char *argument)
{
	struct rte_cryptodev_config config = { .nb_queue_pairs = 1 };
	struct rte_cryptodev_qp_conf pair = { .nb_descriptors = 128 };

	(void)argument;
	if (rte_cryptodev_configure(0, &config) != 0 ||
	    rte_cryptodev_queue_pair_setup(0, 0, &pair, 0) != 0 || rte_cryptodev_start(0) != 0)
		rte_exit(1, "no crypto device\n");
	poll_phase(0);
	rte_cryptodev_stop(0);
	poll_phase(1);
}

/* 0: an event device runs; 1: it has stopped. */
static void
event(const char *argument)
{
	struct rte_event_dev_info info;
	struct rte_event_dev_config config;

	(void)argument;
	if (rte_event_dev_info_get(0, &info) != 0)
		rte_exit(1, "no event device\n");
	config = (struct rte_event_dev_config){
		.nb_event_queues = 1,
		.nb_event_ports = 1,
		.nb_events_limit = info.max_num_events,
		.nb_event_queue_flows = info.max_event_queue_flows,
		.nb_event_port_dequeue_depth = info.max_event_port_dequeue_depth,
		.nb_event_port_enqueue_depth = info.max_event_port_enqueue_depth,
		.dequeue_timeout_ns = info.min_dequeue_timeout_ns,
	};
	if (rte_event_dev_configure(0, &config) != 0 || rte_event_queue_setup(0, 0, NULL) != 0 ||
	    rte_event_port_setup(0, 0, NULL) != 0 || rte_event_port_link(0, 0, NULL, NULL, 0) < 0 ||
	    rte_event_dev_start(0) != 0)
		rte_exit(1, "the event device does not start\n");
	poll_phase(0);
	rte_event_dev_stop(0);
	poll_phase(1);
}

static void *
named_late(void *arg)
{
	(void)arg;
	usleep(400000);
	pthread_setname_np(pthread_self(), "vhost-events");
	while (phase == 0)
		usleep(1000);
	return NULL;
}

/* 0: the thread that serves guests' sockets has got its name late. */
static void
late_name(const char *argument)
{
	pthread_t thread;

	(void)argument;
	pthread_create(&thread, NULL, named_late, NULL);
	poll_phase(0);
	pthread_join(thread, NULL);
}

/* ---- programs that say it ---- */

/* 0: busy, as it says; 1: idle. */
static void
says_busy(const char *argument)
{
	(void)argument;
	while (phase == 0) {
		poll_port();
		busy();
	}
	poll_phase(1);
}

static atomic_uint items;
static atomic_bool armed;
static int item_event;
static atomic_ullong item_ns;

static uint32_t
items_waiting(void *arg)
{
	(void)arg;
	return items;
}

static int
items_arm(void *arg)
{
	armed = true;
	return *(int *)arg;
}

static void
items_disarm(void *arg)
{
	eventfd_t count;

	armed = false;
	if (eventfd_read(*(int *)arg, &count) != 0)
		return; /* nobody wrote */
}

static void *
items_put(void *arg)
{
	(void)arg;
	while (phase == 1) {
		usleep(30000);
		if (items > 0)
			continue;
		item_ns = now_ns();
		items = 1;
		if (armed)
			eventfd_write(item_event, 1);
	}
	return NULL;
}

static int
smaller_first(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return one < other ? -1 : one > other;
}

/* 1: another thread brings an item now and then, and wakes the worker when it is armed. */
static void
items_take(void)
{
	uint64_t waits_ns[ITEMS];
	uint32_t count = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, items_put, NULL);
	while (phase == 1) {
		poll_port();
		if (items == 0)
			continue;
		if (count < ITEMS)
			waits_ns[count++] = now_ns() - item_ns;
		items = 0;
		if (count == ITEMS)
			puts("seen");
		fflush(stdout);
	}
	pthread_join(thread, NULL);
	qsort(waits_ns, count, sizeof(waits_ns[0]), smaller_first);
	printf("waited_us %ju\n", (uintmax_t)waits_ns[count / 2] / 1000);
}

/* 0: an item waits and is not taken; 2: the source is gone, though an item waits. */
static void
has_source(const char *argument)
{
	static const struct lull_queue_source source = {
		.name = "items",
		.arg = &item_event,
		.waiting = items_waiting,
		.arm = items_arm,
		.disarm = items_disarm,
	};

	(void)argument;
	item_event = eventfd(0, EFD_NONBLOCK);
	items = 1;
	if (source_add(&source) != 0)
		rte_exit(1, "the source is refused\n");
	poll_phase(0);
	items = 0;
	items_take();
	items = 1;
	source_remove(&source);
	poll_phase(2);
}

#define DUE_NS 50000000ULL
#define WORK_NS 20000000ULL

static uint64_t
due(void *arg)
{
	return *(uint64_t *)arg;
}

/* 0: a duty each 50 ms, and 20 ms of work between two polls. No poll may end long after it. */
static void
has_due(const char *argument)
{
	static uint64_t next_ns;
	static const struct lull_queue_source source = { .name = "due",
							 .arg = &next_ns,
							 .due_ns = due };
	uint64_t lates_ns[ITEMS], begin_ns;
	uint32_t count = 0;

	(void)argument;
	next_ns = now_ns() + DUE_NS;
	if (source_add(&source) != 0)
		rte_exit(1, "the source is refused\n");
	while (phase == 0) {
		begin_ns = now_ns();
		while (now_ns() - begin_ns < WORK_NS)
			;
		if (now_ns() >= next_ns)
			next_ns = now_ns() + DUE_NS;
		poll_port();
		begin_ns = now_ns();
		if (begin_ns >= next_ns && count < ITEMS)
			lates_ns[count++] = begin_ns - next_ns;
	}
	source_remove(&source);
	qsort(lates_ns, count, sizeof(lates_ns[0]), smaller_first);
	printf("late_us %ju of %u\n", count > 0 ? (uintmax_t)lates_ns[count / 2] / 1000 : 0, count);
}

/* ---- all of them ---- */

static const struct way {
	const char *name;
	void (*run)(const char *argument);
	int phases;
} ways[] = {
	{ "vhost", vhost, 1 },    { "crypto", crypto, 2 },     { "event", event, 2 },
	{ "busy", says_busy, 2 }, { "source", has_source, 3 }, { "late-name", late_name, 1 },
	{ "due", has_due, 1 },
};
static const struct way *way;
static const char *way_argument;

static void *
work(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "worker"); /* the plugin reads it at the first poll */
	port_open();
	way->run(way_argument);
	return NULL;
}

static void *
find(const char *function)
{
	void *found = dlsym(RTLD_DEFAULT, function);

	if (found == NULL)
		rte_exit(1, "nobody has %s\n", function);
	return found;
}

static void
find_calls(void)
{
	void *calls[] = { find("lull_busy"), find("lull_queue_source_add"),
			  find("lull_queue_source_remove") };

	memcpy(&busy, &calls[0], sizeof(busy));
	memcpy(&source_add, &calls[1], sizeof(source_add));
	memcpy(&source_remove, &calls[2], sizeof(source_remove));
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	pthread_t worker;
	char line[64];

	if (used < 0 || used + 1 >= argc)
		rte_exit(1, "EAL arguments -- way [argument]\n");
	pool = rte_pktmbuf_pool_create("pool", 4095, 128, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	for (way = ways; way < ways + RTE_DIM(ways); way++)
		if (strcmp(way->name, argv[used + 1]) == 0)
			break;
	if (pool == NULL || way == ways + RTE_DIM(ways))
		rte_exit(1, "no pool, or no way %s\n", argv[used + 1]);
	way_argument = used + 2 < argc ? argv[used + 2] : NULL;
	if (way->run == says_busy || way->run == has_source || way->run == has_due)
		find_calls();
	if (pthread_create(&worker, NULL, work, NULL) != 0)
		rte_exit(1, "no thread\n");
	while (phase < way->phases && fgets(line, sizeof(line), stdin) != NULL)
		phase++;
	pthread_join(worker, NULL);
	printf("taken %ju\n", (uintmax_t)taken);
	fflush(stdout);
	rte_eal_cleanup();
	return 0;
}
