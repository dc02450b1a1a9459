/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From being loaded to having a callback in front of every queue.
 *
 * DPDK tells nobody when a port starts. But rte_eth_dev_start() publishes the port's fast path last
 * and stopping takes it back first, so a thread that compares each port's receive function with the
 * placeholder it saw at load time knows which ports run. It touches no driver and no heap but the
 * one call that adds the callback.
 */
#include "plugin.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <rte_ethdev.h>

#define FOLLOW_NS LULL_NS_PER_S /* between looks for objects that were loaded since */
#define WATCH_NS (2 * LULL_NS_PER_MS)
#define LATE_COUNT 64 /* a power of two */

static struct plugin_queue queues[PLUGIN_PORTS_MAX][PLUGIN_QUEUES_MAX];

static struct {
	pthread_mutex_t lock;                /* of attaching */
	uint32_t attached[PLUGIN_PORTS_MAX]; /* queues that have the callback: 0..n-1 */
	bool runs[PLUGIN_PORTS_MAX];
	const void *placeholder; /* what a stopped port receives with */
	cpu_set_t cpus;          /* where the watch may run */
	uint32_t pollers_avoided;
	uint32_t late_index;
	uint64_t late_ns[LATE_COUNT];
	uint64_t cost_ns;
} attach = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * Queues are counted by trying: the call refuses the first one that is not there and reads only the
 * port's shared data. Callbacks outlive ports, so a queue that has one keeps it.
 */
static void
attach_more(uint16_t port_id)
{
	uint32_t *attached = &attach.attached[port_id];

	for (; *attached < PLUGIN_QUEUES_MAX; (*attached)++) {
		struct plugin_queue *queue = &queues[port_id][*attached];

		queue->port_id = port_id;
		queue->queue_id = (uint16_t)*attached;
		queue->visit = plugin_queue_visit_port;
		if (rte_eth_add_first_rx_callback(port_id, queue->queue_id, plugin_seen, queue) ==
		    NULL)
			return;
	}
}

void
plugin_attach_port(uint16_t port_id)
{
	if (pthread_mutex_trylock(&attach.lock) != 0)
		return; /* the next visit is 10 ms away */
	attach_more(port_id);
	pthread_mutex_unlock(&attach.lock);
}

/* The port may be another one by now: whoever polls it asks it again. */
static void
attach_started(uint16_t port_id)
{
	uint32_t i;

	pthread_mutex_lock(&attach.lock);
	for (i = 0; i < attach.attached[port_id]; i++) {
		struct plugin_queue *queue = &queues[port_id][i];

		__atomic_store_n(&queue->known, false, __ATOMIC_RELAXED);
		__atomic_store_n(&queue->poller, NULL, __ATOMIC_RELEASE);
	}
	attach_more(port_id);
	pthread_mutex_unlock(&attach.lock);
}

/*
 * Queues that are added between two looks are found by whoever polls the others; a port with none
 * at all (in a secondary process: not configured yet) is tried again and again.
 */
static void
attach_look(void)
{
	uint16_t port_id;

	for (port_id = 0; port_id < PLUGIN_PORTS_MAX; port_id++) {
		const void *receive = (const void *)(uintptr_t)__atomic_load_n(
			&rte_eth_fp_ops[port_id].rx_pkt_burst, __ATOMIC_ACQUIRE);
		bool runs = receive != NULL && receive != attach.placeholder;

		if (runs && (!attach.runs[port_id] || attach.attached[port_id] == 0))
			attach_started(port_id);
		attach.runs[port_id] = runs;
	}
}

/* Waking up on the CPU of a poller would cost it a few microseconds each time. */
static void
attach_step_aside(void)
{
	uint32_t count = plugin_poller_count(), i;
	cpu_set_t cpus = attach.cpus;

	if (count == attach.pollers_avoided)
		return;
	attach.pollers_avoided = count;
	for (i = 0; i < count; i++) {
		int cpu = plugin_poller(i)->pinned_cpu;

		if (cpu >= 0 && cpu < CPU_SETSIZE)
			CPU_CLR(cpu, &cpus);
	}
	if (CPU_COUNT(&cpus) > 0)
		pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
}

/* Its sleeps show what sleeping is like on this machine, for those that never do. */
static void
attach_pause(void)
{
	const struct lull_rest rest = { LULL_REST_SLEEP, WATCH_NS };
	struct lull_wake wake;
	uint64_t real_ns;

	lull_rest_run(&lull_rest_sleep_timer, NULL, &rest, &wake);
	real_ns = wake.end_ns - wake.begin_ns;
	if (wake.cpu_ns > 0)
		__atomic_store_n(&attach.cost_ns, wake.cpu_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&attach.late_ns[attach.late_index++ % LATE_COUNT],
			 real_ns > WATCH_NS ? real_ns - WATCH_NS : 0, __ATOMIC_RELAXED);
}

/* What calls the vhost library may have been loaded since. */
static void
attach_follow(uint64_t *next_ns)
{
	uint64_t now_ns = lull_clock_ns();

	if (now_ns < *next_ns)
		return;
	*next_ns = now_ns + FOLLOW_NS;
	plugin_vhost_follow();
}

static void *
attach_watch(void *arg)
{
	uint64_t follow_ns = 0;

	(void)arg;
	lull_rest_thread_init();
	for (;;) {
		attach_look();
		attach_follow(&follow_ns);
		attach_step_aside();
		attach_pause();
	}
	return NULL;
}

uint64_t
plugin_attach_late_ns(void)
{
	static __thread uint32_t next;

	return __atomic_load_n(&attach.late_ns[next++ % LATE_COUNT], __ATOMIC_RELAXED);
}

uint64_t
plugin_attach_cost_ns(void)
{
	return __atomic_load_n(&attach.cost_ns, __ATOMIC_RELAXED);
}

int
plugin_attach_start(void)
{
	sigset_t all, before;
	pthread_t thread;
	int rc;

	attach.placeholder = (const void *)(uintptr_t)rte_eth_fp_ops[0].rx_pkt_burst;
	CPU_ZERO(&attach.cpus);
	pthread_getaffinity_np(pthread_self(), sizeof(attach.cpus), &attach.cpus);
	/* The program's signals are the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, attach_watch, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0) {
		pthread_setname_np(thread, PLUGIN_THREAD_NAME);
		pthread_detach(thread);
	}
	return -rc;
}
