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

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "host/background.h"

#define FOLLOW_NS LULL_NS_PER_S /* between looks for objects that were loaded since */
#define WATCH_NS_MIN (2 * LULL_NS_PER_MS)
#define WATCH_NS_MAX LULL_NS_PER_S
#define WATCH_QUIET_SHARE 16
#define WATCH_NS_EVER (3600 * LULL_NS_PER_S)
#define LATE_COUNT 64 /* a power of two */
#define LATE_AT_ONCE 8

static struct plugin_queue queues[PLUGIN_PORTS_MAX][PLUGIN_QUEUES_MAX];

static struct {
	pthread_mutex_t lock;                   /* of attaching */
	uint32_t attached[PLUGIN_PORTS_MAX];    /* queues that have the callback: 0..n-1 */
	const void *receives[PLUGIN_PORTS_MAX]; /* a running port; NULL: it does not. Atomic */
	const void *placeholder;                /* what a stopped port receives with */
	uint32_t kick;  /* futex word: changes when the next look shall not wait */
	cpu_set_t cpus; /* where the watch may run */
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

/* Whoever polls the port asks it again, with the next poll of each queue. */
static void
attach_doubt(uint16_t port_id)
{
	for (uint32_t i = 0; i < PLUGIN_QUEUES_MAX; i++) {
		struct plugin_queue *queue = &queues[port_id][i];

		__atomic_store_n(&queue->known, false, __ATOMIC_RELAXED);
		__atomic_store_n(&queue->poller, NULL, __ATOMIC_RELEASE);
	}
}

/* DPDK's thread for interrupts: its link has changed. Nothing is asked here. */
static int
attach_link_event(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *more)
{
	(void)event;
	(void)arg;
	(void)more;
	if (port_id < PLUGIN_PORTS_MAX)
		attach_doubt(port_id);
	return 0;
}

/* The port may be another one by now. A callback that is there already is not added again. */
static void
attach_started(uint16_t port_id)
{
	pthread_mutex_lock(&attach.lock);
	attach_doubt(port_id);
	attach_more(port_id);
	rte_eth_dev_callback_register(port_id, RTE_ETH_EVENT_INTR_LSC, attach_link_event, NULL);
	pthread_mutex_unlock(&attach.lock);
	plugin_audit_restart(port_id);
}

/* What the port receives with; NULL: it does not run. */
static const void *
attach_receives(uint16_t port_id)
{
	const void *receive = (const void *)(uintptr_t)__atomic_load_n(
		&rte_eth_fp_ops[port_id].rx_pkt_burst, __ATOMIC_ACQUIRE);

	return receive == attach.placeholder ? NULL : receive;
}

/*
 * Queues that are added between two looks are found by whoever polls the others; a port with none
 * at all (in a secondary process: not configured yet) is tried again and again.
 */
static bool
attach_look(void)
{
	bool changed = false;
	uint16_t port_id;

	for (port_id = 0; port_id < PLUGIN_PORTS_MAX; port_id++) {
		const void *receives = attach_receives(port_id);
		const void *before = attach.receives[port_id];

		if (receives != NULL && (receives != before || attach.attached[port_id] == 0))
			attach_started(port_id);
		changed = changed || receives != before;
		__atomic_store_n(&attach.receives[port_id], receives, __ATOMIC_RELAXED);
	}
	return changed;
}

/* Those that poll look too, so that ports that come later are not missed for a second. */
void
plugin_attach_notice(void)
{
	for (uint16_t port_id = 0; port_id < PLUGIN_PORTS_MAX; port_id++) {
		if (attach_receives(port_id) ==
		    __atomic_load_n(&attach.receives[port_id], __ATOMIC_RELAXED))
			continue;
		plugin_attach_kick();
		return;
	}
}

void
plugin_attach_kick(void)
{
	__atomic_fetch_add(&attach.kick, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &attach.kick, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
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

/* Sleeps of its own show what sleeping is like on this machine, for those that never do. */
static void
attach_sample(void)
{
	const struct lull_rest rest = { .idle_state = LULL_IDLE_SLEEP, .limit_ns = WATCH_NS_MIN };
	struct lull_wake wake;
	uint64_t real_ns;

	lull_rest_run(&lull_rest_sleep_timer, NULL, &rest, &wake);
	real_ns = wake.end_ns - wake.begin_ns;
	if (wake.cpu_ns > 0)
		__atomic_store_n(&attach.cost_ns, wake.cpu_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&attach.late_ns[attach.late_index++ % LATE_COUNT],
			 real_ns > WATCH_NS_MIN ? real_ns - WATCH_NS_MIN : 0, __ATOMIC_RELAXED);
}

static void
attach_wait(uint32_t seen, uint64_t ns)
{
	const struct timespec limit = { .tv_sec = (time_t)(ns / LULL_NS_PER_S),
					.tv_nsec = (long)(ns % LULL_NS_PER_S) };

	syscall(SYS_futex, &attach.kick, FUTEX_WAIT_PRIVATE, seen, &limit, NULL, 0);
}

static bool
attach_any(void)
{
	uint32_t count = 0;

	for (uint16_t port_id = 0; port_id < PLUGIN_PORTS_MAX; port_id++)
		count += attach.attached[port_id];
	return count > 0;
}

/* For how long to look no more: a sixteenth of the time in which nothing has changed. */
static uint64_t
attach_next_ns(uint64_t quiet_ns)
{
	uint32_t modes = plugin_pollers_modes();

	/* Nobody rests, so a port that is not seen does no harm. */
	if (modes == 1u << PLUGIN_OFF && attach_any())
		return WATCH_NS_EVER;
	if ((modes & 1u << PLUGIN_SHADOW) != 0)
		for (uint32_t i = 0; i < LATE_AT_ONCE; i++)
			attach_sample();
	return LULL_CLAMP(quiet_ns / WATCH_QUIET_SHARE, WATCH_NS_MIN, WATCH_NS_MAX);
}

/* What calls a library, and the library itself, may have been loaded since. */
static void
attach_follow(uint64_t *next_ns)
{
	uint64_t now_ns = lull_clock_ns();

	plugin_vhost_look(now_ns);
	if (now_ns < *next_ns)
		return;
	*next_ns = now_ns + FOLLOW_NS;
	plugin_vhost_follow();
	plugin_unseen_follow();
}

static void *
attach_watch(void *arg)
{
	uint64_t follow_ns = 0, changed_ns = lull_clock_ns();
	uint32_t kicked = 0;

	(void)arg;
	lull_rest_thread_init();
	for (;;) {
		uint32_t seen = __atomic_load_n(&attach.kick, __ATOMIC_ACQUIRE);

		if (attach_look() || seen != kicked)
			changed_ns = lull_clock_ns();
		kicked = seen;
		attach_follow(&follow_ns);
		attach_step_aside();
		attach_wait(seen, attach_next_ns(lull_clock_ns() - changed_ns));
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
	pthread_t thread;
	int rc;

	attach.placeholder = (const void *)(uintptr_t)rte_eth_fp_ops[0].rx_pkt_burst;
	CPU_ZERO(&attach.cpus);
	pthread_getaffinity_np(pthread_self(), sizeof(attach.cpus), &attach.cpus);
	rc = lull_background_start(&thread, NULL, PLUGIN_THREAD_NAME, attach_watch);
	if (rc == 0)
		pthread_detach(thread);
	return rc;
}
